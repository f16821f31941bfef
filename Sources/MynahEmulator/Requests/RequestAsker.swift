import Mynah
import MynahCore
import MynahProfiles
import MynahSupport

/// Passes a device's requests to a test, and waits for the test's answers.
///
/// Belongs to the device's player, and runs on the phone's executor.
final class RequestAsker {
    private typealias Asked = AskedRequests<RunClock.Instant>

    private let memory: DeviceMemory
    private let pipeline: RequestPipeline
    private let phone: Phone
    private let link: PlayerLink
    private var asked = Asked()
    /// The time limit for a test's answer; initially the shortest limit of all radios.
    private var limit = Duration.seconds(4)
    private var hasWarned = false
    /// `true` if the device is being removed; requests are then no longer passed to a test.
    private var isOver = false
    /// The task that wakes when the next request reaches its time limit.
    private var sleeping: Task<Void, Never>?

    init(of memory: DeviceMemory, _ pipeline: RequestPipeline, on phone: Phone, _ link: PlayerLink) {
        self.memory = memory
        self.pipeline = pipeline
        self.phone = phone
        self.link = link
    }

    /// Sets the time limit from the radio's capabilities, before the first request.
    ///
    /// Warns if no test can answer.
    func prepare() async {
        guard memory.table.isAsking else { return }
        if let capabilities = await phone.capabilities { limit = capabilities.askLimit }
        guard memory.device.requestNumbers == nil, !hasWarned else { return }
        hasWarned = true
        memory.events.warn(
            "nobodyAnswers",
            """
            \(memory.device.label) has requests that a test answers (ask), and without --control no test \
            can: each gets 0x0E
            """)
    }

    // MARK: Requests

    /// The source of numbers for new requests, or `nil` if no test can answer.
    private var numbers: RequestNumbers? { isOver ? nil : memory.device.requestNumbers }

    /// Whether a request of this central waits for an answer.
    func hasRequest(of central: Central) -> Bool { asked.hasRequest(of: central.id) }

    /// Passes a read to a test and returns the pending answer; returns `nil` if the device answers the read
    /// itself.
    func ask(_ read: ReadRequest, _ central: Central) -> RadioAnswer? {
        guard memory.table.entries[read.attribute]?.asked.contains(.read) == true else { return nil }
        guard let numbers else {
            memory.reportRead(read, central, [], .failure(.unlikelyError))
            return .answer(.failure(.unlikelyError))
        }
        if let value = asked.value(continuedBy: read) {
            let outcome = Self.outcome(of: read, value)
            memory.reportRead(read, central, (try? outcome.get()) ?? [], outcome)
            return .answer(outcome)
        }
        let id = numbers.next()
        memory.report(.requestAsked, on: read.attribute, central) {
            $0.id = id
            $0.access = .read
            $0.offset = read.offset > 0 ? read.offset : nil
        }
        return wait(for: .read(read), of: read.attribute, id, central)
    }

    /// Passes a write to a test and returns the pending answer; returns `nil` if the device answers the
    /// write itself.
    ///
    /// A write that the device would refuse is not passed to a test.
    func ask(_ write: WriteRequest, _ central: Central) -> RadioAnswer? {
        let parts = write.parts.filter { memory.table.entries[$0.attribute]?.asked.contains(.write) == true }
        guard write.wantsResponse, !parts.isEmpty, (try? memory.table.effect(of: write)) != nil else {
            return nil
        }
        guard let numbers else {
            memory.reportWrite(write, central, .failure(.unlikelyError))
            return .answer(.failure(.unlikelyError))
        }
        let id = numbers.next()
        for part in parts {
            memory.report(.requestAsked, on: part.attribute, central) {
                $0.set(part, asked: id)
                $0.access = .write
            }
        }
        return wait(for: .write(write), of: parts[0].attribute, id, central)
    }

    private func wait(
        for access: Asked.Access, of attribute: AttributeKey, _ id: Int, _ central: Central
    ) -> RadioAnswer {
        let reply = PendingReply()
        let due = memory.clock.now.advanced(by: limit)
        asked.add(
            .init(id: id, access: access, attribute: attribute, central: central, due: due, reply: reply))
        // All requests have the same limit, so a new one never reaches its limit before an earlier one.
        if sleeping == nil { sleep() }
        return .later(reply.pending)
    }

    private static func outcome(of read: ReadRequest, _ value: [UInt8]) -> PendingReply.Outcome {
        guard (0...value.count).contains(read.offset) else { return .failure(.invalidOffset) }
        return .success(Array(value[read.offset...]))
    }

    // MARK: Answers

    /// Answers a request, if the radio can send the answer.
    ///
    /// Returns `false` if no request with this number waits.
    func answer(
        _ id: Int, _ answer: RequestAnswer, _ capabilities: RadioCapabilities?
    ) throws(ControlRefusal) -> Bool {
        guard let request = asked[id] else { return false }
        let outcome: PendingReply.Outcome
        switch (request.access, answer) {
        case (.read(let read), .value(let written)):
            let value = try written.bytes(
                in: memory.table.layout(of: read.attribute), of: "request \(id)")
            try check(value, for: read)
            outcome = Self.outcome(of: read, value)
            asked.keep(value, for: read)
        case (.write(let write), .accept): outcome = pipeline.answer(write, request.central)
        case (.read, .error(let error)):
            try check(.readError(error), capabilities)
            outcome = .failure(error)
        case (.write, .error(let error)):
            try check(.writeError(error), capabilities)
            outcome = .failure(error)
        case (.read, .accept): throw .invalid("request \(id) is a read: answer it with a value or an error")
        case (.write, .value):
            throw .invalid("request \(id) is a write: accept it without a value, or refuse it with an error")
        }
        asked.end(id)
        memory.device.requestNumbers?.note(.answered, of: id)
        sleep()
        request.reply.answer(outcome)
        switch request.access {
        case .read(let read):
            memory.reportRead(
                read, request.central, (try? outcome.get()) ?? [], outcome, asked: id)
        case .write(let write): memory.reportWrite(write, request.central, outcome, asked: id)
        }
        guard answer == .accept, case .failure(let error) = outcome else { return true }
        throw .conflict(
            "request \(id) was accepted, and the device answered it with \(error)")
    }

    private func check(_ value: [UInt8], for read: ReadRequest) throws(ControlRefusal) {
        let longest = memory.table.entries[read.attribute]?.maximumLength ?? GATT.maximumValueLength
        guard value.count > longest else { return }
        throw .invalid("the value has \(value.count) bytes and the characteristic takes \(longest) at most")
    }

    private func check(_ need: RadioNeed, _ capabilities: RadioCapabilities?) throws(ControlRefusal) {
        let needs = [RadioRequirement(need, of: "the characteristic", at: ())]
        if let shortcoming = capabilities?.shortcomings(needs).first { throw .conflict(shortcoming.message) }
    }

    // MARK: Ends

    /// Ends the requests of a central whose link has ended.
    func forgetLink(of central: Central) {
        fail(asked.endAll(of: central.id), .disconnected)
    }

    /// Ends all requests for the given reason.
    func endAll(_ end: RequestEnd) {
        fail(asked.endAll(), end)
    }

    /// Ends all requests of a device that is being removed; later requests get the error 0x0E at once.
    func endForGood() {
        isOver = true
        endAll(.ended)
    }

    private func fail(_ requests: [Asked.Request], _ end: RequestEnd) {
        for request in requests {
            // Recorded before the reply, so that an answer that comes now is refused with the right reason.
            memory.device.requestNumbers?.note(end, of: request.id)
            request.reply.answer(.failure(.unlikelyError))
            let by: RefusedRequest.Access = if case .read = request.access { .read } else { .write }
            memory.report(.requestUnanswered, on: request.attribute, request.central) {
                $0.id = request.id
                $0.access = by
                $0.error = .unlikelyError
                $0.reason = end.rawValue
            }
        }
        sleep()
    }

    // MARK: Time

    /// Sleeps until the next request reaches its time limit.
    private func sleep() {
        sleeping?.cancel()
        sleeping = asked.nextDue.map { due in
            link.emulator.enqueue(at: due, on: memory.clock) { [index = link.index] emulator in
                emulator.player(index)?.asks.wake()
            }
        }
    }

    private func wake() {
        fail(asked.endOverdue(at: memory.clock.now), .timeout)
    }
}
