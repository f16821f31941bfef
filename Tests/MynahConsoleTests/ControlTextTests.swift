import MynahConsole
import MynahLifecycle
import MynahSupport
import Testing

/// The answers of the control API as text.
@Suite(.timeLimit(.minutes(5))) struct ControlTextTests {
    private static func parse(_ text: String) throws -> JSON { try JSON(parsing: Array(text.utf8)) }

    @Test(
        arguments: [
            (#"{"devices": []}"#, []), ("{}", []), ("[]", []),
            (#"{"devices": [{"device": "Lock"}]}"#, ["Lock"]),
            (
                #"""
                {"devices": [
                  {"device": "Lock", "state": "poweredOn", "address": "C0:11:22:33:44:55", "app": null,
                   "advertising": {"on": true}, "centrals": [{}, {}]},
                  {"device": "Heart rate", "state": "poweredOff", "app": {"state": "suspended"},
                   "advertising": {"on": false}, "centrals": []},
                  {"device": "Old", "app": {"state": "quit", "authorization": "allowedAlways"}},
                  {"device": "New", "app": {"state": "terminated", "authorization": "denied"}}]}
                """#,
                [
                    "Lock        poweredOn  C0:11:22:33:44:55  advertising  2 connected",
                    "Heart rate  poweredOff  app suspended",
                    "Old         app quit",
                    "New         app terminated  authorization denied",
                ]
            ),
            (#"{"devices": [{"device": "a\u001b[2J", "state": "x"}]}"#, ["a\u{FFFD}[2J  x"]),
        ] as [(String, [String])])
    func `each device has a line`(text: String, lines: [String]) throws {
        #expect(ControlText.devices(try Self.parse(text)) == lines)
    }

    @Test func `a device has lines for what it advertises, its centrals and its attributes`() throws {
        let device = try Self.parse(
            #"""
            {"device": "Lock", "state": "poweredOn", "advertising": {"on": true, "data": "020106",
             "scanResponse": "0309"}, "centrals": [{"central": "AA:BB", "mtu": 185, "encrypted": true,
             "bonded": true, "subscriptions": ["180D/2A37"]}, {"central": "central-3", "bonded": false}],
             "attributes": [{"path": "180D/2A37", "handle": 18, "properties": ["read", "notify"],
             "value": "0048", "fields": {"heartRate": 72}}, {"path": "180D/2A38", "properties": ["read"]},
             {"path": "FFF0/FFF1", "properties": [], "value": "01", "fields": {"power": 1}},
             {"path": "180F~2/2A19~1", "properties": [], "value": "64", "fields": {"level": 100}},
             {"path": "180F~2/2A19~2", "properties": [], "value": "6464"}]}
            """#)
        #expect(
            ControlText.device(device) == [
                "Lock  poweredOn  advertising  2 connected",
                "  data           020106",
                "  scan response  0309",
                "  central  AA:BB  MTU 185  encrypted  bonded  subscribed to 180D/2A37",
                "  central  central-3",
                "  @18   180D/2A37  0048  72 bpm  read, notify",
                "        180D/2A38  no value while the app does not run  read",
                "        FFF0/FFF1  01  power 1  ",
                "        180F~2/2A19~1  64  100 %  ",
                "        180F~2/2A19~2  6464 \"dd\"  ",
            ])
    }

    @Test(
        arguments: [
            (#"{"detail": "there is no device \"x\""}"#, ["error: there is no device \"x\""]),
            (#"{"title": "Not Found"}"#, [#"error: {"title":"Not Found"}"#]),
            (
                #"""
                {"detail": "no event matched", "nearest": [{"seq": 3, "time": "2026-01-01T12:00:00.000000Z",
                 "event": "unknown.event", "value": "01", "differs": ["value", "central"]}],
                 "seen": {"read": 3, "write": 1}}
                """#,
                [
                    "error: no event matched",
                    """
                      nearest: {"seq":3,"time":"2026-01-01T12:00:00.000000Z","event":"unknown.event",\
                    "value":"01","differs":["value","central"]}  (differs in value, central)
                    """,
                    "  seen: 3 read, 1 write",
                ]
            ),
            (#"{"detail": "x", "nearest": [], "seen": {}}"#, ["error: x"]),
            (
                #"{"detail": "x", "nearest": [{"event": "new", "differs": []}]}"#,
                ["error: x", #"  nearest: {"event":"new","differs":[]}  (matches)"#]
            ),
            (#"{"detail": "a\u0007b"}"#, ["error: a\u{FFFD}b"]),
        ] as [(String, [String])])
    func `an error has its detail, what came nearest and what was seen`(text: String, lines: [String]) throws
    {
        #expect(ControlText.error(try Self.parse(text)) == lines)
    }

    @Test func `each issue of a profile is printed once, as check prints it`() throws {
        let problem = try Self.parse(
            #"""
            {"detail": "the profile cannot be played: bad key", "issues": [
             {"severity": "error", "message": "bad key", "line": 3, "column": 5},
             {"severity": "error", "message": "bad key", "path": "services[0].uid"},
             {"severity": "warning", "message": "no\u0007name"}]}
            """#)
        #expect(
            ControlText.issues(problem, of: "a.yaml") == [
                "a.yaml:3:5: error: bad key", "a.yaml: services[0].uid: error: bad key",
                "a.yaml: warning: no?name",
            ])
        #expect(ControlText.issues(try Self.parse(#"{"detail": "x"}"#), of: "a.yaml") == [])
    }

    @Test func `a nearest event of this version has the line that a run prints`() throws {
        let problem = try Self.parse(
            #"""
            {"detail": "x", "nearest": [{"seq": 3, "time": "2026-01-01T12:00:00.000000Z", "event": "read",
             "device": "Lock", "characteristic": "2A39", "differs": ["value"]}]}
            """#)
        let near = try #require(ControlText.error(problem).last)
        #expect(near.hasPrefix("  nearest: ") && near.hasSuffix("  (differs in value)"))
        #expect(near.contains("read") && !near.contains("{"))
    }

    @Test(arguments: [
        (1, "1 earlier event is not kept any more"), (20, "20 earlier events are not kept any more"),
    ])
    func `events that are not kept any more are counted, in a list and in a stream`(
        count: Int, text: String
    ) throws {
        #expect(ControlText.event(try Self.parse(#"{"event": "lost", "count": \#(count)}"#)) == text)
        let list = try Self.parse(#"{"events": [{"event": "x"}], "next": 2, "lost": \#(count)}"#)
        #expect(ControlText.events(list) == [text, #"{"event":"x"}"#])
    }

    @Test func `answers of one value are one line`() throws {
        func sent(_ text: String) throws -> String {
            ControlText.sent(try Self.parse(text), of: "2A39")
        }
        #expect(try sent(#"{"value": "01", "sent": 1}"#) == "01  sent to 1 central")
        #expect(try sent(#"{"value": "01", "sent": 2}"#) == "01  sent to 2 centrals")
        #expect(try sent(#"{"value": "01"}"#) == "01")
        #expect(ControlText.count(try Self.parse(#"{"count": 1}"#)) == "1 event")
        #expect(ControlText.count(try Self.parse(#"{"count": 0}"#)) == "0 events")
        #expect(ControlText.seq(try Self.parse(#"{"seq": 12}"#)) == "12")
        let value = try Self.parse(#"{"value": "0048", "fields": {"heartRate": 72}}"#)
        #expect(ControlText.value(value, of: "180D/2A37") == "0048  72 bpm")
        #expect(ControlText.value(value, of: "@18") == "0048  heart rate 72")
        #expect(ControlText.value(try Self.parse(#"{"value": "0048"}"#), of: "2A37") == "0048")
        // Anything may answer at the address that ctl is given.
        let foreign = try Self.parse(#"{"value": "\u001b[31m"}"#)
        #expect(!ControlText.value(foreign, of: "2A37").contains("\u{1B}"))
        #expect(ControlText.name(try Self.parse(#"{"device": "Lock~2"}"#)) == "Lock~2")
    }

    @Test func `a shell completes the names of devices, and the attributes of the one that is named`() throws
    {
        let answer = try Self.parse(
            #"""
            {"devices": [{"device": "A", "attributes": [{"path": "180D/2A37"}]},
             {"device": "B", "attributes": [{"path": "180F/2A19"}, {"path": "180F/2A19/2901"}]}]}
            """#)
        #expect(ControlText.deviceNames(answer) == ["A", "B"])
        let phones = try Self.parse(
            #"{"devices": [{"phone": "Bob"}, {}, {"phone": "A"}, {"phone": "Bob"}]}"#)
        #expect(ControlText.phoneNames(phones) == ["Bob", "A"])
        #expect(
            ControlText.attributeNames(answer, of: ["ctl", "get", "B"]) == ["180F/2A19", "180F/2A19/2901"])
        #expect(ControlText.attributeNames(answer, of: ["ctl", "get", "C"]).count == 3)
    }

    @Test func `a shell completes the numbers of the requests that wait for an answer`() throws {
        let answer = try Self.parse(
            #"""
            {"events": [{"event": "request.asked", "id": 1}, {"event": "request.asked", "id": 2},
             {"event": "request.asked", "id": 2}, {"event": "read", "id": 1}, {"event": "read"},
             {"event": "request.asked", "id": 3}, {"event": "request.unanswered", "id": 3}]}
            """#)
        #expect(ControlText.askedRequests(answer) == ["2"])
        #expect(ControlText.askedRequests(.null) == [])
    }

    @Test func `the words of an app's transitions are fixed`() {
        #expect(
            AppTransition.allCases.map(\.rawValue) == [
                "foreground", "background", "suspended", "terminated", "quit", "memoryPressure", "crash",
            ])
    }
}
