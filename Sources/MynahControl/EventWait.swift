package import MynahEmulator
package import MynahProfiles
package import MynahSupport

/// The request `POST /v1/wait`: waits until events that match have happened.
///
/// The events since `since` are checked first, and then new ones, so a wait that begins after its event still
/// finds it. The body is `{match, count, within, since}`:
/// - `match`: the expected events, as an `EventMatch` in object form or text form.
/// - `count`: the number of events to wait for, at most 10,000; the default is 1.
/// - `within`: the time limit, such as `"500 ms"`; the default is `"2 s"`, and the longest is `"10 min"`, or
///   a day if only requests advance the time. With `"0 s"`, only past events are checked.
/// - `since`: the number of the first event to check. The default is the last mark, or without marks the
///   first event since the run started or the journal was cleared.
package struct EventWait: Hashable, Sendable {
    /// The members of the body.
    package static let members = ["match", "count", "within", "since"]
    /// Returns the longest `within` for a clock.
    package static func longest(on clock: RunClock) -> Duration {
        clock.manual == nil ? .seconds(600) : longestOfAll
    }

    /// The longest `within` on any clock.
    package static let longestOfAll = Duration.seconds(24 * 3600)

    /// The events that the request waits for; a device in the match must be given by its name in events.
    package var match: EventMatch
    /// The number of events to wait for.
    package var count: Int
    /// The time limit.
    package var within: Duration
    /// The number of the first event to check, or `nil` for the default.
    package var since: UInt64?

    package init(_ match: EventMatch, count: Int = 1, within: Duration = .seconds(2), since: UInt64? = nil) {
        self.match = match
        self.count = count
        self.within = within
        self.since = since
    }

    /// Parses the body; throws a problem with status 400 if it is not valid.
    package init(parsing bytes: [UInt8], on clock: RunClock = .real) throws(ControlProblem) {
        let body = try ControlBody(parsing: bytes, known: Self.members)
        guard let match = try body.match("match") else {
            throw ControlProblem(400, "\"match\" is missing, as in {\"match\": {\"event\": \"write\"}}")
        }
        self.init(match, since: try body.since())
        if let count = try body.number("count", in: 1...10_000) { self.count = count }
        guard let text = try body.text("within") else { return }
        do throws(DurationText.Problem) {
            within = try Self.duration(text, atMost: Self.longest(on: clock))
        } catch {
            throw ControlProblem(400, "\"within\" \(error.message)")
        }
    }

    /// Parses `within`; the message of an error continues a sentence that begins with the member's name.
    package static func duration(
        _ text: String, atMost longest: Duration = longestOfAll
    ) throws(DurationText.Problem) -> Duration {
        let duration = try DurationText.parse(text)
        guard duration <= longest else {
            let limit = longest == longestOfAll ? "a day is" : "\(longest.text) are"
            throw DurationText.Problem(message: "is \(duration.text); at most \(limit) allowed")
        }
        return duration
    }

    /// Waits for the events.
    ///
    /// Throws a problem with status 408, `nearest` and `seen` if the events do not happen in time, if the
    /// journal ends, or if the task is cancelled. Throws a problem with status 400 if `since` is after the
    /// next event. `reason` returns the reason for the cancellation as the end of a sentence, or `nil` if
    /// there is none.
    package func answer(
        from journal: Journal, clock: some Clock<Duration>, cancelledFor reason: () -> String? = { nil }
    ) async throws(ControlProblem) -> FoundEvents {
        let limit = clock.now.advanced(by: within)
        var search = EventSearch(for: match, count: count, from: try journal.start(since: since))
        await search.takeAll(of: journal)
        if !search.isComplete, within > .zero {
            search = await Self.follow(search, journal) {
                try? await clock.sleep(until: limit, tolerance: nil)
            }
            // Events that happened in time count, even if the machine was too busy to check them in time.
            await search.takeAll(of: journal)
        }
        guard search.isComplete, let last = search.found.last else {
            throw problem(search, journal, reason())
        }
        return FoundEvents(events: search.found, next: last.seq + 1, lost: search.lost)
    }

    /// Continues a search until it is complete, or until `limit` returns.
    private static func follow(
        _ search: EventSearch, _ journal: Journal, until limit: @escaping @Sendable () async -> Void
    ) async -> EventSearch {
        await withTaskGroup(of: EventSearch?.self) { group in
            group.addTask { await follow(search, journal) }
            group.addTask {
                await limit()
                return nil
            }
            var result = search
            for await outcome in group {
                if let outcome { result = outcome }
                group.cancelAll()
            }
            return result
        }
    }

    private static func follow(_ search: EventSearch, _ journal: Journal) async -> EventSearch {
        var search = search
        var reader = JournalReader(journal, from: search.position)
        while !search.isComplete, let slice = await reader.next() { search.search(slice) }
        return search
    }

    private func problem(
        _ search: EventSearch, _ journal: Journal, _ reason: String?
    ) -> ControlProblem {
        let came = search.found.isEmpty ? "no event" : "\(search.found.count) of \(count) events"
        let end =
            if Task.isCancelled {
                reason ?? "before the wait was cancelled"
            } else if journal.isEnded {
                "before the run ended"
            } else {
                "within \(within.text)"
            }
        return ControlProblem(
            408, "\(came) matched \(ControlProblem.shortened(match.text)) \(end)", search.members)
    }
}
