import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct EventMatchTests {
    static func event(_ name: DeviceEvent.Name, _ fields: [JSON.Member]) -> DeviceEvent {
        DeviceEvent(time: WallTime(microseconds: 0), name: name, fields: fields)
    }

    static let write = event(
        .write,
        [
            .init("device", .string("Lock")), .init("central", .string("F0:F1:F2:F3:F4:F5")),
            .init("service", .string("180D")), .init("characteristic", .string("2A39")),
            .init("value", .string("01AB02")), .init("withResponse", .bool(true)),
            .init("error", .string("0x0D")),
        ])
    static let read = event(
        .read,
        [
            .init("service", .string("6D796E61-0200-4C61-8000-6C6162000000")),
            .init("characteristic", .string("2A19")), .init("descriptor", .string("2901")),
            .init("path", .string("6D796E61-0200-4C61-8000-6C6162000000/2A19~2/2901")),
            .init("value", .string("")),
        ])
    static let ready = event(
        .ready,
        [
            .init("profile", .string("Bad")), .init("services", .array([.string("180D"), .string("180F")])),
            .init("mtu", .integer(247)), .init("intervalMilliseconds", .number(181.25)),
            .init("address", .null), .init("advertising", .object([])),
        ])

    @Test(arguments: [
        "write", " write ", "write device=Lock", "write service=180d",
        "write service=0000180D-0000-1000-8000-00805F9B34FB", "write service=heart-rate",
        "write characteristic=0x2A39", "write characteristic=heart-rate-control-point",
        "write central=f0:f1:f2:f3:f4:f5", "write error=0x0d", "write withResponse=true",
        "write value=01ab02", "write value=01 AB 02", "write value=01 .. 02", "write value=01 ..",
        "write value=..", "write value=01AB02 ..", "write of=2A39", "write of=180D/2A39",
        "write of=heart-rate/heart-rate-control-point", "write of=180D~1/2A39",
        "write of=2A39 value=01 .. error=0x0D",
    ])
    func `a match takes an event whose fields are as it says`(text: String) throws {
        #expect(try EventMatch(parsing: text).matches(Self.write))
    }

    @Test(arguments: [
        "read", "write device=lock", "write device=Loc", "write service=180F", "write value=01",
        "write value=",
        "write value=01 ..02 ..02", "write value=..AB02 03", "write value=01AB02 00 ..", "write central=F0",
        "write withResponse=false", "write handle=18", "write of=2A38", "write of=180F/2A39",
        "write of=2A39~2", "write of=180D", "write of=2A39/2901", "write error=0D",
    ])
    func `a match takes no event that differs, or lacks the field`(text: String) throws {
        #expect(try !EventMatch(parsing: text).matches(Self.write))
    }

    @Test(arguments: [
        ("of=2901", true), ("of=2A19/2901", true), ("of=2A19~2/2901", true), ("of=2A19~1/2901", false),
        ("of=6D796E61-0200-4C61-8000-6C6162000000/2901", true), ("of=2A19", false), ("value=", true),
        ("of=6d796e61-0200-4c61-8000-6c6162000000/2A19~2/2901", true), ("value=00", false),
        ("service=6d796e61-0200-4c61-8000-6c6162000000", true),
    ])
    func `a descriptor is named by its own steps`(field: String, isTaken: Bool) throws {
        #expect(try EventMatch(parsing: "read \(field)").matches(Self.read) == isTaken)
    }

    @Test(arguments: [
        ("services=180F", true), ("services=battery", true), ("services=1811", false), ("profile=Bad", true),
        ("profile=bad", false), ("mtu=247", true), ("mtu=247.0", true), ("mtu=248", false),
        ("mtu=large", false), ("intervalMilliseconds=181.25", true), ("address=null", true),
        ("address=none", false), ("advertising={}", false),
    ])
    func `fields of every kind compare`(field: String, isTaken: Bool) throws {
        #expect(try EventMatch(parsing: "ready \(field)").matches(Self.ready) == isTaken)
    }

    @Test func `a value may have spaces and signs`() throws {
        let match = try EventMatch(parsing: "warning  message=it is a=b and\tc code=x")
        let fields: [JSON.Member] = [
            .init("message", .string("it is")), .init("a", .string("b and\tc")), .init("code", .string("x")),
        ]
        #expect(match.matches(Self.event(.warning, fields)))
        #expect(match.text == "warning message=it is a=b and\tc code=x")
    }

    @Test(arguments: [
        ("", "it names no event"),
        ("writ", "there is no event \"writ\"; did you mean \"write\"?"),
        (
            "advertising.strated",
            "there is no event \"advertising.strated\"; did you mean \"advertising.started\"?"
        ),
        ("quux", "there is no event \"quux\""), ("write 2A39", "\"2A39\" is not FIELD=VALUE"),
        ("write =2A39", "is not FIELD=VALUE"), ("write device=", "there is no value after device="),
        ("write value=1", "is not hexadecimal"), ("write value=0x01", "is not hexadecimal"),
        ("write value=.1", "is not hexadecimal"), ("write of=@18", "handle"),
        ("write of=hart-rate-measurement", "did you mean \"heart-rate-measurement\"?"),
    ])
    func `an invalid match is refused with the reason`(text: String, reason: String) {
        do throws(EventMatch.Problem) {
            _ = try EventMatch(parsing: text)
            Issue.record("\(text) was read")
        } catch {
            #expect(error.message.contains(reason), "\(error.message)")
        }
    }

    @Test(arguments: [
        ("Lock", true), ("Strap", true), ("Scale, too", true), ("Lock, Strap, Scale, too", true),
        ("Loc", false),
        ("rap", false), ("lock", false),
    ])
    func `an event of a phone is of each of its apps`(name: String, isMatch: Bool) throws {
        let event = Self.event(.ready, [.init("device", .string("Lock, Strap, Scale, too"))])
        #expect(try EventMatch(parsing: "ready device=\(name)").matches(event) == isMatch)
    }

    @Test(arguments: [
        ("write device=Lock value=01AB02", []),
        ("write value=02 device=Lock central=F0", ["value", "central"]),
        ("write handle=18 of=180F/2A39", ["handle", "of"]),
        ("read value=01AB02 error=0x0E", ["event", "error"]),
    ])
    func `the members that differ are named in their order`(text: String, members: [String]) throws {
        #expect(try EventMatch(parsing: text).differing(from: Self.write) == members)
    }

    @Test(
        arguments: [
            ("write of=2A39 value=01 fields.level=1 error=0x0D device=Lock queued=true", nil),
            (
                "write charcteristic=2A39",
                #"write has no field "charcteristic"; did you mean "characteristic"?"#
            ),
            ("write value=01 mtu>23", #"write has no field "mtu"; its fields are central, "#),
            (
                "mtu.changed of=2A39",
                #"mtu.changed has no field "of"; its fields are central, device, mtu, queued"#
            ),
            ("paired fields.level=1", #"paired has no field "fields"; "#),
            ("app.terminated reason=system queued=false", nil),
            (
                "app.terminated reason=sytem",
                #"app.terminated has no reason "sytem"; did you mean "system"?"#
            ),
            ("write characteristic=heart-rate-control-point service=180D", nil),
            (
                "write characteristic=ZZZ",
                #""ZZZ" is neither a UUID nor the SIG's name of a characteristic"#
            ),
            (
                "subscribed delivery=wire",
                #"subscribed has no delivery "wire"; it is one of notification, indication"#
            ),
        ] as [(String, String?)])
    func `a field or a word that no such event has is named, with the nearest one`(
        text: String, problem: String?
    ) throws {
        let found = try EventMatch(parsing: text).problem?.message
        #expect(problem.map { found?.hasPrefix($0) == true } ?? (found == nil), "\(found ?? "none")")
    }

    @Test func `two comparisons of a field are one member that differs`() throws {
        let text = #"{"event": "ready", "mtu": {">": 300, "<": 200}, "profile": "Bad"}"#
        let match = try EventMatch(json: JSON(parsing: Array(text.utf8)))
        #expect(match.differing(from: Self.ready) == ["mtu"])
    }

    @Test func `a device is renamed to what events call it`() throws {
        let match = try EventMatch(parsing: "write device=lock-file value=..")
        #expect(match.device == "lock-file")
        #expect(match.naming("Lock").matches(Self.write))
        #expect(try EventMatch(parsing: "write").naming("Other").matches(Self.write))
    }
}

@Suite(.timeLimit(.minutes(5))) struct RunGoalTests {
    /// Gives a goal events and says whether each ended it.
    private func take(_ events: [DeviceEvent], _ goal: inout RunGoal) -> [Bool] {
        events.map { goal.observe($0) }
    }

    @Test func `a run ends when every event has come, in any order, and once`() throws {
        var goal = RunGoal([try EventMatch(parsing: "ready"), try EventMatch(parsing: "write of=2A39")])
        let events = [
            EventMatchTests.write, EventMatchTests.read, EventMatchTests.ready, EventMatchTests.ready,
        ]
        #expect(take(events, &goal) == [false, false, true, false])
        #expect(goal.end == .reached)
        let isOver = goal.timeIsUp()
        #expect(!isOver)
        #expect(goal.missed == [])
    }

    @Test func `one event may be what two wait for`() throws {
        var goal = RunGoal([try EventMatch(parsing: "write"), try EventMatch(parsing: "write value=..")])
        #expect(take([EventMatchTests.write], &goal) == [true])
    }

    @Test func `a time that is up says what did not come, and nothing that came later`() throws {
        var goal = RunGoal([try EventMatch(parsing: "ready"), try EventMatch(parsing: "write  value=01")])
        #expect(take([EventMatchTests.ready], &goal) == [false])
        let isOver = goal.timeIsUp()
        #expect(isOver)
        #expect(goal.missed == ["write value=01"])
        #expect(take([EventMatchTests.write], &goal) == [false])
        #expect(goal.end == .overdue)
    }

    @Test func `without events only the time ends it, and nothing is missed`() {
        var goal = RunGoal()
        #expect(take([EventMatchTests.ready], &goal) == [false])
        let isOver = goal.timeIsUp()
        #expect(isOver)
        #expect(goal.missed == [])
    }
}

@Suite(.timeLimit(.minutes(5))) struct DeviceNamesTests {
    static let names = DeviceNames([
        .init(label: "Lock app", file: "apps/lock.yaml", isApp: true),
        .init(label: "Lock app~2", file: "other/lock.yaml", isApp: true),
        .init(label: "Strap", file: "strap.v2.json", isApp: false),
        .init(label: "door", file: ".hidden", isApp: false),
        .init(label: "both", file: "both.yaml", isApp: false),
    ])

    @Test(arguments: [
        ("Lock app", "Lock app"), ("Lock app~2", "Lock app~2"), ("Strap", "Strap"), ("strap.v2", "Strap"),
        (".hidden", "door"), ("both", "both"),
    ])
    func `a device is named by its label or by its file's stem`(name: String, label: String) throws {
        #expect(try Self.names.device(named: name).label == label)
    }

    @Test(arguments: [
        ("lock", "\"lock\" fits \"Lock app\" (apps/lock.yaml) and \"Lock app~2\" (other/lock.yaml)"),
        ("lock ap", "there is no device \"lock ap\"; did you mean \"Lock app\"?"),
        ("strap.v1", "there is no device \"strap.v1\"; did you mean \"strap.v2\"?"),
        (
            "x",
            """
            there is no device "x"; the devices are "Lock app", "Lock app~2", "Strap", \
            "door", "both"
            """
        ),
    ])
    func `a name that fits none or two says which there are`(name: String, message: String) {
        do throws(DeviceNames.Problem) {
            _ = try Self.names.device(named: name)
            Issue.record("\(name) was found")
        } catch {
            #expect(error.message == message)
        }
    }

    @Test func `a peripheral of an app is no device`() throws {
        let watch = DeviceNames.Device(label: "Watch", file: "w.yaml", isApp: true, peripherals: ["Band"])
        let names = DeviceNames([watch])
        #expect(try names.meaning(of: "Band") == .peripheral("Band", of: watch))
        func problem(_ name: String) -> String? {
            #expect(throws: DeviceNames.Problem.self) { try names.device(named: name) }?.message
        }
        #expect(
            problem("Band") == """
                "Band" is a peripheral of "Watch", and no device of the run; mynah ctl forget "Watch" \
                --peripheral "Band" forgets it
                """)
        #expect(problem("Bnad") == "there is no device \"Bnad\"; the devices are \"Watch\"")
    }
}

@Suite struct EventMatchFieldsTests {
    private static let event = DeviceEvent(
        time: WallTime(microseconds: 0), name: .notified,
        fields: [
            .init("service", .string("180D")), .init("characteristic", .string("2A37")),
            .init("value", .string("0648")), .init("tick", .integer(7)),
        ])

    @Test(arguments: [
        ("notified fields.heartRate=72", true), ("notified fields.heartRate=73", false),
        ("notified fields.heartRate>71", true), ("notified fields.heartRate>72", false),
        ("notified fields.heartRate>=72 fields.heartRate<=72.0", true),
        ("notified fields.heartRate<72", false), ("notified fields.contact=true", true),
        ("notified fields.energyExpended>0", false), ("notified of=2A37 fields.heartRate<100 tick>6", true),
        ("notified tick>=8", false), ("notified tick>-1", true), ("notified value>1", false),
    ])
    func `the fields of a value are compared`(text: String, isTaken: Bool) throws {
        #expect(try EventMatch(parsing: text).matches(Self.event) == isTaken)
    }

    // A Double holds whole numbers up to 2^53.
    @Test(arguments: [("9007199254740993", true), ("9007199254740992", false), ("9007199254740993.0", true)])
    func `great whole numbers are compared digit by digit`(text: String, isTaken: Bool) throws {
        let event = DeviceEvent(
            time: WallTime(microseconds: 0), name: .notified,
            fields: [.init("tick", .integer(9_007_199_254_740_993))])
        #expect(try EventMatch(parsing: "notified tick=\(text)").matches(event) == isTaken)
    }

    @Test(arguments: [
        (">9007199254740992", true), (">9007199254740993", false), ("<9007199254740993", false),
        (">=9007199254740993", true), ("<=9007199254740992", false), (">9007199254740991.5", true),
        ("<18446744073709551615", true), ("<1e30", true),
    ])
    func `great whole numbers are ordered digit by digit`(text: String, isTaken: Bool) throws {
        let event = DeviceEvent(
            time: WallTime(microseconds: 0), name: .notified,
            fields: [.init("tick", .integer(9_007_199_254_740_993))])
        #expect(try EventMatch(parsing: "notified tick\(text)").matches(event) == isTaken)
        let largest = DeviceEvent(
            time: WallTime(microseconds: 0), name: .notified, fields: [.init("tick", .unsigned(.max))])
        #expect(try EventMatch(parsing: "notified tick>18446744073709551614").matches(largest))
    }

    @Test(arguments: [
        (JSON.integer(.min), "-9223372036854775808", "-9223372036854775809"),
        (JSON.integer(.max), "9223372036854775807", "9223372036854775808"),
        (JSON.unsigned(.max), "18446744073709551615", "18446744073709551616"),
    ])
    func `the greatest whole numbers equal no number beyond them`(value: JSON, own: String, beyond: String)
        throws
    {
        let event = DeviceEvent(
            time: WallTime(microseconds: 0), name: .notified, fields: [.init("tick", value)])
        #expect(try EventMatch(parsing: "notified tick=\(own)").matches(event))
        #expect(try !EventMatch(parsing: "notified tick=\(beyond)").matches(event))
    }

    @Test func `a word without a number after the sign belongs to the value before it`() throws {
        let warning = DeviceEvent(
            time: WallTime(microseconds: 0), name: .warning,
            fields: [.init("message", .string("from a->b to x>y"))])
        #expect(try EventMatch(parsing: "warning message=from a->b to x>y").matches(warning))
    }
}

@Suite struct EventMatchJSONTests {
    private static let event = DeviceEvent(
        time: WallTime(microseconds: 0), name: .peripheralDiscovered,
        fields: [
            .init("device", .string("App")), .init("as", .string("Door")), .init("rssi", .integer(-60)),
            .init("services", .array([.string("180D")])), .init("local", .bool(false)),
        ])
    private static let value = DeviceEvent(
        time: WallTime(microseconds: 0), name: .valueUpdated,
        fields: [
            .init("as", .string("Door")), .init("service", .string("180D")),
            .init("characteristic", .string("2A37")), .init("value", .string("0102")),
        ])

    @Test(arguments: [
        (#"{"event": "peripheral.discovered"}"#, true), (#"{"event": "write"}"#, false),
        (#"{"event": "peripheral.discovered", "as": "Door", "rssi": -60, "local": false}"#, true),
        (#"{"event": "peripheral.discovered", "rssi": {">": -61, "<=": -60}}"#, true),
        (#"{"event": "peripheral.discovered", "rssi": {"<": -60}}"#, false),
        (#"{"event": "peripheral.discovered", "rssi": {">=": -59.5}}"#, false),
        (#"{"event": "peripheral.discovered", "services": "heart-rate"}"#, true),
        (#"{"event": "value.updated", "as": "Door", "value": "01 .."}"#, true),
        (#"{"event": "value.updated", "value": "02 .."}"#, false),
        (#"{"event": "value.updated", "of": "180D/2A37"}"#, true),
        (#"{"event": "peripheral.discovered", "value": ".."}"#, false),
        (#"{"event": "peripheral.discovered", "central": null}"#, false),
        (#"{"event": "peripheral.discovered", "central": {">": 0}}"#, false),
    ])
    func `an object matches what its members say`(text: String, matches: Bool) throws {
        let match = try EventMatch(json: JSON(parsing: Array(text.utf8)))
        #expect([Self.event, Self.value].contains { match.matches($0) } == matches)
    }

    @Test(arguments: [
        ("[]", "a match is an object"), ("{}", "it names no event"), (#"{"event": 1}"#, "it names no event"),
        (#"{"event": "wirte"}"#, "did you mean \"write\"?"),
        (#"{"event": "write value=01"}"#, "there is no event"),
        (#"{"event": "write", "value": 1}"#, "value is text"),
        (#"{"event": "write", "value": "xy"}"#, "is not hexadecimal"),
        (#"{"event": "write", "of": "@3"}"#, "is a handle"),
        (#"{"event": "write", "rssi": {}}"#, "rssi has no comparison; write one, as in"),
        (#"{"event": "write", "rssi": {"=>": 1}}"#, "known are <, <=, >, >="),
        (#"{"event": "write", "rssi": {">": "1"}}"#, "is compared with a number"),
        (#"{"event": "write", "services": ["180D"]}"#, "services must not be a list"),
        (#"{"event": "write", "event": "read"}"#, "event is repeated"),
        (#"{"event": "write", "mtu": 24, "mtu": 23}"#, "mtu is repeated"),
    ])
    func `an invalid match is reported`(text: String, message: String) throws {
        let json = try JSON(parsing: Array(text.utf8))
        do throws(EventMatch.Problem) {
            _ = try EventMatch(json: json)
            Issue.record("\(text) was read")
        } catch {
            #expect(error.message.contains(message), "\(error.message)")
        }
    }
}
