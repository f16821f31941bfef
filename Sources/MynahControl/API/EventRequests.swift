import MynahEmulator
import MynahProfiles
import MynahSupport

/// Requests about past and future events.
struct EventRequests: RunRequests {
    let run: any ControlledRun
    let journal: Journal
    let holders: PhoneHolders
    let clock: RunClock
    /// The longest real time for a request that advances virtual time.
    let requestLimit: Duration

    /// The time after which a stream without events sends a comment, which shows whether the client is still
    /// connected.
    static let keepAliveTime = Duration.seconds(15)

    func listEvents(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
        var query = try EventsQuery(call.request.query.map { ($0.name, $0.value) })
        query.match = query.match.map(resolved)
        let accepted = call.request.headers.list("Accept").joined(separator: ",")
        if accepted.contains("application/json") { return .json(try await query.page(of: journal).json) }
        return try stream(query, after: call.request.headers["Last-Event-ID"])
    }

    private func stream(
        _ query: EventsQuery, after lastEventID: String?
    ) throws(ControlProblem) -> HTTPResponse {
        let epoch = journal.epoch
        let frames = EventStreamFrames(epoch: epoch, match: query.match)
        let start: UInt64
        if let lastEventID {
            start = frames.position(after: lastEventID, kept: journal.kept)
        } else {
            start = try query.start(in: journal)
        }
        // Clients need the comments even while virtual time does not advance, so these use real time.
        let clock = clock.virtual == nil ? clock : .real
        return .events { [self, journal, hold = query.hold] writer in
            // A phone may be added when the first bytes have come.
            if let hold { holders.begin(hold) }
            defer { if let hold { release(hold) } }
            let reader = JournalReader(journal, from: start, of: epoch, noticesChanges: true)
            await withTaskGroup { group in
                group.addTask { await Self.write(frames, of: reader, to: writer) }
                group.addTask { [wake = reader.waker] in
                    while (try? await clock.sleep(for: Self.keepAliveTime)) != nil { wake() }
                }
                await group.next()
                group.cancelAll()
            }
        }
    }

    /// Handles the end of a stream with this name in `hold`; removes the phones with this holder if no other
    /// stream with the name is open.
    private func release(_ holder: String) {
        guard holders.end(holder) else { return }
        // The task of the stream was cancelled with its client.
        Task(executorPreference: clock.taskExecutor) { [run, clock] in
            await clock.carryOut {
                for phone in run.phones where phone.settings.holder == holder {
                    await run.removePhone(phone)
                }
                run.clockMoved()
            }
        }
    }

    private static func write(
        _ frames: EventStreamFrames, of reader: JournalReader, to writer: HTTPStreamWriter
    ) async {
        var (frames, reader) = (frames, reader)
        // This sends the head of the response before there is an event.
        guard await writer.write(EventStreamFrames.keepAlive) else { return }
        while let slice = await reader.next() {
            let isIdle = slice.entries.isEmpty && slice.lost == 0
            frames.epoch = reader.epoch
            var bytes = frames.frames(of: slice)
            if reader.takeChange() {
                bytes += EventStreamFrames.change
            } else if isIdle {
                bytes = EventStreamFrames.keepAlive
            }
            if !bytes.isEmpty, await !writer.write(bytes) { return }
        }
    }

    func mark(_ call: APICall) throws(ControlProblem) -> HTTPResponse {
        guard let name = try call.body().text("name"), !name.isEmpty else {
            throw ControlProblem(400, "\"name\" is missing: give the name of the mark")
        }
        guard PrintableText.isVisible(name) else {
            throw ControlProblem(400, "\"name\" has no visible character; give the mark another name")
        }
        return .json(.object([.init("seq", .integer(Int(clamping: journal.mark(name))))]))
    }

    func wait(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
        var wait = try EventWait(parsing: call.request.body, on: clock)
        wait.match = resolved(wait.match)
        let found = try await wait.answer(from: journal, clock: clock) { [clock, requestLimit] in
            clock.manual?.isOverdue == true
                ? "in \(requestLimit.text) of real time; wait again to go on" : nil
        }
        return .json(found.json)
    }

    func verify(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
        var verification = try Verification(parsing: call.request.body)
        try verification.mapMatches { match throws(ControlProblem) in resolved(match) }
        return .json(try await verification.answer(from: journal).json)
    }

    /// Returns the match with the name in events of its device, which may also be given by its profile's
    /// file.
    ///
    /// The name of an unknown device is kept, because the device may be added later.
    private func resolved(_ match: EventMatch) -> EventMatch {
        guard let name = match.device, let device = try? device(named: name) else { return match }
        return match.naming(device.label)
    }

    func reset(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
        let body = try call.body()
        let names = Self.resetParts
        var (wanted, unwanted): (Set<String>, Set<String>) = ([], [])
        for name in names {
            guard let isWanted = try body.bool(name) else { continue }
            if isWanted { wanted.insert(name) } else { unwanted.insert(name) }
        }
        // If no member is `true`, all parts are reset except those with `false`.
        if wanted.isEmpty { wanted = Set(names).subtracting(unwanted) }
        let seed = try body.seed("seed")
        if wanted.count == names.count, clock.manual != nil {
            try await run.beginAnew(seed: seed)
            return .json(.object([]))
        }
        guard seed == nil else { throw noNewHistory }
        var parts: ResetParts = []
        if wanted.count == names.count { parts = .all }
        if wanted.contains("values") { parts.formUnion([.values, .advertising]) }
        if wanted.contains("variables") { parts.formUnion(.variables) }
        if wanted.contains("faults") { parts.formUnion(.faults) }
        if wanted.contains("bonds") { parts.formUnion(.bonds) }
        if wanted.contains("connections") { parts.formUnion(.connections) }
        for device in run.devices { try await reset(device, parts) }
        if wanted.contains("bonds") { for phone in run.phones { await phone.forgetBonds() } }
        if wanted.contains("journal") {
            await run.awaitEvents()
            journal.clear()
        }
        return .json(.object([]))
    }

    /// The names of the members that select the parts of a reset.
    static let resetParts = ["values", "variables", "faults", "bonds", "connections", "journal"]

    /// The problem that a reset cannot have a new seed, because of the clock or because it names parts.
    private var noNewHistory: ControlProblem {
        clock.manual == nil
            ? ControlProblem(
                409,
                "\"seed\" begins a new history, which needs --clock manual, and the clock is \(clock.name)")
            : ControlProblem(400, "\"seed\" begins a new history: leave out the parts of the reset")
    }

    private func reset(_ device: ControlledDevice, _ parts: ResetParts) async throws(ControlProblem) {
        do throws(ControlProblem) {
            try await refusing { () async throws(ControlRefusal) in
                try await device.emulator.reset(parts, of: device.label)
            }
        } catch {
            // A device that was just removed does not have to be reset.
            let isPlayed = run.devices.contains {
                $0.label == device.label && $0.emulator === device.emulator
            }
            let isThere = await device.emulator.labels.contains(device.label)
            if isPlayed, isThere, await device.emulator.isRunning { throw error }
        }
    }

    // MARK: Reports

    func metrics() -> HTTPResponse {
        var text = """
            # HELP mynah_devices Devices that are played.
            # TYPE mynah_devices gauge
            mynah_devices \(run.devices.count)
            # HELP mynah_events_total Events that the journal has taken.
            # TYPE mynah_events_total counter

            """
        for (name, count) in journal.counts {
            text += "mynah_events_total{event=\"\(name.rawValue)\"} \(count)\n"
        }
        return .text(text, contentType: "text/plain; version=0.0.4; charset=utf-8")
    }

    func report(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
        let report = await MarkReport(of: journal)
        switch call.request.query("format") {
        case nil, "json"?: return .json(report.json)
        case "junit"?: return .text(report.junit, contentType: "application/xml; charset=utf-8")
        case let other?: throw .unknown("format", other, among: ["json", "junit"])
        }
    }
}
