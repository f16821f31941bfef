import MynahControl
import MynahEmulator
import MynahProfiles
import MynahSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct VerificationTests {
    private static let journal = Events.journal(
        [
            Events.write("01"), Events.event(.read), Events.write("02"), Events.write("01"),
            Events.event(.paired),
        ])

    /// The result of a body on a journal: a count, or a problem.
    private func verify(
        _ body: String, _ journal: Journal = Self.journal
    ) async -> (answer: Verification.Answer?, problem: ControlProblem?) {
        var answer: Verification.Answer?
        let problem = await thrown { () async throws(ControlProblem) in
            answer = try await Verification(parsing: Array(body.utf8)).answer(from: journal)
        }
        return (answer, problem)
    }

    @Test(arguments: [
        (#"{"match": {"event": "write"}}"#, 3), (#"{"match": "write", "atLeast": 3}"#, 3),
        (#"{"match": "write", "exactly": 3}"#, 3), (#"{"match": "write value=03", "exactly": 0}"#, 0),
        (#"{"match": "write value=03", "never": true}"#, 0), (#"{"match": "write", "since": 4}"#, 1),
        (#"{"match": "write", "exactly": 0, "since": 5}"#, 0),
        (#"{"order": ["write value=01", "write value=02", "paired"]}"#, 3),
        (#"{"order": [{"event": "write"}, {"event": "write"}, {"event": "write"}]}"#, 3),
        (#"{"match": "read", "exactly": 1, "order": ["read", "write value=02"]}"#, 1),
        (#"{"order": ["read"], "since": 2}"#, 1),
    ])
    func `the events that have happened are counted`(body: String, count: Int) async {
        let result = await verify(body)
        #expect(result.problem == nil)
        #expect(result.answer?.json.text == "{\"count\":\(count)}")
    }

    @Test(arguments: [
        (#"{"match": "write value=03"}"#, 0, "write value=03 matched 0 events; expected at least 1"),
        (#"{"match": "write", "atLeast": 4}"#, 3, "write matched 3 events; expected at least 4"),
        (#"{"match": "read", "exactly": 2}"#, 1, "read matched 1 event; expected exactly 2"),
        (#"{"match": "write", "exactly": 2}"#, 3, "write matched 3 events; expected exactly 2"),
        (#"{"match": "write", "never": true}"#, 3, "write matched 3 events; expected none"),
        (#"{"match": "write", "since": 5}"#, 0, "write matched 0 events; expected at least 1"),
        (
            #"{"order": ["read", "write", "write", "write"]}"#, 3,
            "no event matched item 4 of the order, write, after event 4"
        ),
        (#"{"order": ["subscribed", "read"]}"#, 0, "no event matched item 1 of the order, subscribed"),
        (
            #"{"match": "write", "order": ["paired", "read"]}"#, 3,
            "no event matched item 2 of the order, read, after event 5"
        ),
    ])
    func `an unexpected count is a problem`(body: String, count: Int, detail: String) async {
        let problem = await verify(body).problem
        #expect(problem?.status == 422)
        #expect(problem?.detail == detail)
        #expect(problem?["count"] == .integer(count))
    }

    @Test(arguments: [
        ("{}", "\"match\" or \"order\" is missing"),
        (#"{"order": []}"#, "\"order\" must be a list of 1 to 1000"),
        (#"{"order": "write"}"#, "\"order\" must be a list of 1 to 1000 matches, not \"write\""),
        (#"{"order": ["read", "wirte"]}"#, "order, item 2: there is no event \"wirte\"; did you mean"),
        (#"{"order": ["read"], "exactly": 1}"#, "\"match\" is missing: exactly, atLeast and never count"),
        (
            #"{"match": "read", "exactly": 1, "atLeast": 1}"#,
            "only one of \"exactly\", \"atLeast\" and \"never\""
        ),
        (#"{"match": "read", "never": false}"#, "\"never\" may only be true; leave it out instead"),
        (#"{"match": "read", "never": 1}"#, "\"never\" must be true or false, not 1"),
        (
            #"{"match": "read", "exactly": -1}"#,
            "\"exactly\" must be a whole number, from 0 to \(Int.max), not -1"
        ),
        (#"{"match": "read", "exatcly": 1}"#, "unknown member \"exatcly\"; did you mean \"exactly\"?"),
        (
            #"{"match": "write charcteristic=2A39", "never": true}"#,
            "match: write has no field \"charcteristic\"; did you mean \"characteristic\"?"
        ),
        (
            #"{"match": {"event": "subscribed", "delivery": "wire"}, "exactly": 0}"#,
            "match: subscribed has no delivery \"wire\""
        ),
        (#"{"match": "read", "since": 7}"#, "there is no event 7 yet, the next event is 6"),
    ])
    func `a wrong body is refused with the reason`(body: String, reason: String) async {
        let problem = await verify(body).problem
        #expect(problem?.status == 400)
        #expect(problem?.detail.contains(reason) == true, "\(problem?.detail ?? "it was read")")
    }

    /// The numbers and the differences of the nearest events.
    private func nearest(_ body: String) async -> [String] {
        let nearest = await verify(body).problem?["nearest"]?.arrayValue ?? []
        return nearest.map { "\($0["seq"]?.integerValue ?? 0) \($0["differs"]?.text ?? "")" }
    }

    @Test func `the nearest events are those that should have matched, or should not have`() async {
        #expect(
            await nearest(#"{"match": "write value=03"}"#) == [
                #"4 ["value"]"#, #"3 ["value"]"#, #"1 ["value"]"#,
            ])
        #expect(
            await nearest(#"{"match": "write value=02", "atLeast": 2}"#) == [
                #"4 ["value"]"#, #"1 ["value"]"#,
            ])
        #expect(
            await nearest(#"{"match": "write value=01", "exactly": 1}"#) == ["4 []", "1 []", #"3 ["value"]"#])
        #expect(await nearest(#"{"match": "read", "never": true}"#) == ["2 []"])
        // It did happen, but before.
        #expect(await nearest(#"{"order": ["paired", "read"]}"#) == ["2 []"])
        #expect(await nearest(#"{"match": "subscribed"}"#) == [])
    }

    @Test func `the timeline has the last hundred events from the start on`() async {
        let journal = Events.journal((1...150).map { Events.numbered($0) }, capacity: 2000)
        let few = await verify(#"{"match": "write", "since": 51}"#, journal).problem
        #expect(few?["timeline"]?.arrayValue?.map { $0["seq"] } == (51...150).map { .integer($0) })
        #expect(few?["omitted"] == nil)
        for number in 151...1500 { journal.append(Events.numbered(number)) }
        let many = await verify(#"{"match": "write", "since": 51}"#, journal).problem
        #expect(many?["timeline"]?.arrayValue?.map { $0["seq"] } == (1401...1500).map { .integer($0) })
        #expect(many?["omitted"] == .integer(1350))
        #expect(many?["lost"] == nil)
    }

    @Test(
        arguments: [
            (#"{"match": "mtu.changed", "atLeast": 1, "since": 1}"#, #"{"count":3,"lost":2}"#),
            (#"{"order": ["mtu.changed"], "since": 1}"#, #"{"count":1,"lost":2}"#),
            (#"{"match": "mtu.changed", "exactly": 3, "since": 3}"#, #"{"count":3}"#),
            (#"{"match": "mtu.changed", "exactly": 3, "since": 1}"#, nil),
            (#"{"match": "write", "never": true}"#, nil),
        ] as [(String, String?)])
    func `events that are not kept any more can be in no exact count`(body: String, json: String?) async {
        let journal = Events.journal((1...5).map { Events.numbered($0) }, capacity: 3)
        let result = await verify(body, journal)
        #expect(result.answer?.json.text == json)
        guard json == nil else { return }
        #expect(result.problem?.status == 422)
        #expect(result.problem?.detail.hasPrefix("2 events are not kept any more") == true)
        #expect(result.problem?["lost"] == .integer(2))
    }

    @Test func `the matches can be replaced by ones with the names of events`() async throws {
        let body = #"{"match": "write device=stem", "order": ["read device=stem"]}"#
        var verification = try Verification(parsing: Array(body.utf8))
        try verification.mapMatches { $0.naming("lock") }
        #expect(try await verification.answer(from: Self.journal).count == 3)
    }
}
