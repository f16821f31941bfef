import MynahCore
import MynahSupport
import Testing

@testable import MynahProfiles

@Suite struct ScenarioTests {
    /// An accessory whose one scenario has these steps, from line 4, column 13 on.
    static func accessory(_ steps: String) -> String {
        """
        mynah: 1
        name: Test
        scenarios: [{name: a,
            steps: [\(steps)]}]
        variables: {power: 150, level: 1}
        faults: [{name: gone, on: read, do: noAnswer}]
        services:
          - uuid: 180D
            characteristics:
              - {uuid: 2A37, properties: [read, notify], value: {hex: 01}, descriptors: [{uuid: 2901}]}
              - {uuid: 2A39, properties: [write]}

        """
    }

    /// An app that is a central and no peripheral.
    static func app(_ steps: String, _ app: String = "app: {}") -> String {
        """
        mynah: 1
        name: Test
        scenarios: [{name: a,
            steps: [\(steps)]}]
        \(app)
        central:
          peripherals:
            - {name: Strap, read: [180D/2A38], subscribe: [2A37]}

        """
    }

    /// Steps of every key.
    static let validSteps = [
        "await: subscribed, of: heart-rate-measurement", "await: read, of: 2A37/2901, within: 1 min",
        "await: write, of: 180D/2A39, value: 01 .., withResponse: true", "await: write, value: ",
        "await: notified, fields: {heartRate: {\">\": 60, \"<=\": 180}, contact: true}",
        "await: notified, fields: {}",
        "await: fault.applied, fault: gone", "await: central.connected, central: AA:BB:CC:DD:EE:FF",
        "expect: write, of: 2A39, value: 01, within: 2 s", "expect: mtu.changed, mtu: {\">=\": 100}",
        "expect: warning, code: notificationsBehind", "after: 5 s", "set: {power: 0, level: power}",
        "set: {power: \"off\"}", "fault: gone", "fault: gone, off: true", "fault: gone, off: false",
        "end: pass",
        "end: fail",
    ]

    static func steps(_ text: String) throws -> [ScenarioStep] {
        let profile = try ProfileLoader.load(text: text, file: "test.yaml")
        #expect(profile.warnings == [])
        return try #require(profile.scenarios.first).steps
    }

    @Test("each step is read, and says what is written", arguments: validSteps)
    func valid(_ step: String) throws {
        let read = try Self.steps(Self.accessory("{\(step)}"))
        #expect(read.map(\.text) == [step.replacing("\"", with: "")])
    }

    @Test func `a step has the meaning that it is written with`() throws {
        func action(_ step: String) throws -> ScenarioStep.Action? {
            try Self.steps(Self.accessory("{\(step)}")).first?.action
        }
        func match(_ step: String) throws -> String? {
            switch try action(step) {
            case .await(let event, within: nil): event.match.text
            case .expect(let event, within: .seconds(5)): "5 s " + event.match.text
            default: nil
            }
        }
        #expect(try match("await: read") == #"{"event":"read"}"#)
        #expect(
            try match("expect: write, value: 01, of: 2A39")
                == #"5 s {"event":"write","value":"01","of":"2A39"}"#)
        #expect(
            try match("await: notified, fields: {heartRate: {\">\": 60}, contact: yes}")
                == #"{"event":"notified","fields":{"heartRate":{">":60},"contact":"yes"}}"#)
        #expect(try action("after: 5 s") == .after(.seconds(5)))
        #expect(try action("fault: gone") == .fault("gone", isOn: true))
        #expect(try action("fault: gone, off: true") == .fault("gone", isOn: false))
        #expect(try action("end: fail") == .end(isPass: false))
        #expect(
            try action("set: {power: 0, level: power}")
                == .set([
                    .init(variable: "power", operand: .constant(.number(0))),
                    .init(variable: "level", operand: .variable("power")),
                ]))
        guard case .await(_, within: .seconds(2))? = try action("await: read, within: 2 s") else {
            Issue.record("within is not read")
            return
        }
    }

    @Test func `an app's steps are read`() throws {
        let steps = "{app: background}, {await: value.updated, of: 180D/2A37}, {expect: value.read, of: 2A38}"
        #expect(try Self.steps(Self.app(steps)).first?.action == .app("background"))
        let modes = "app: {backgroundModes: [bluetooth-central]}"
        let kept = "{await: app.restored}, {await: app.woken, by: notified}, {await: alert.shown, app: Test}"
        let restorable = Self.app(kept, modes).replacing(
            "central:\n", with: "central:\n  restoreIdentifier: a\n")
        #expect(try Self.steps(restorable).count == 3)
    }

    // MARK: Problems

    /// A step of an accessory, the column of what is wrong, and the message.
    static let wrongSteps: [(step: String, column: Int, message: String)] = [
        ("awiat: read", 1, "unknown step \"awiat\"; did you mean \"await\"?"),
        ("", 0, "a step needs one of await, expect, after, set, fault, advertise, app and end"),
        ("await: raed", 8, "unknown event \"raed\"; did you mean \"read\"?"),
        ("await: read, expect: write", 14, "a step has one of await and expect, not both"),
        ("await: read, after: 5 s", 14, "a step has one of await and after, not both"),
        ("after: 5 s, end: pass", 13, "a step has one of after and end, not both"),
        ("after: 5 s, within: 2 s", 13, "only await and expect have within"),
        ("after: 5", 8, "after has no unit; write 5 us, 5 ms, 5 s, 5 min or 5 h"),
        ("after: 0 s", 8, "after must be at least 1 us, not 0 s"),
        ("await: read, valeu: 01", 14, "unknown field \"valeu\" of read; did you mean \"value\"?"),
        (
            "await: read, value: 0x", 21,
            "value must be hexadecimal digits, with .. for any byte, as in 02 .., not \"0x\""
        ),
        (
            "await: mtu.changed, mtu: {\"=>\": 1}", 27,
            "mtu has no comparison \"=>\"; known are <, <=, > and >="
        ),
        ("await: mtu.changed, mtu: {}", 26, "mtu needs a comparison, as in {\">=\": 60}"),
        ("await: mtu.changed, mtu: {\">\": a}", 32, "mtu is compared with a number, not with \"a\""),
        (
            "await: read, device: Test", 14,
            "a scenario sees the events of its own device only; remove device"
        ),
        ("await: read, of: 2A38", 18, "the device has no 2A38; did you mean \"2A37\"?"),
        ("await: read, of: \"@3\"", 18, "a profile has no handles; name the attribute, as in of: 180D/2A37"),
        ("await: read, of: 2A39", 18, "read of 2A39 never happens: it does not have the property read"),
        ("await: write, of: 2A37", 19, "write of 2A37 never happens: it does not have a write property"),
        (
            "await: subscribed, of: 2A39", 24,
            "subscribed of 2A39 never happens: it does not have notify or indicate"
        ),
        (
            "await: notified, of: 2A37/2901", 22,
            "notified of 2A37/2901 never happens: it does not have notify or indicate"
        ),
        ("expect: confirmed", 9, "confirmed never happens: no attribute has the property indicate"),
        ("await: request.asked", 8, "request.asked never happens: no attribute has ask"),
        ("await: warning, of: 2A99", 21, "the device has no 2A99; did you mean \"2A39\"?"),
        (
            "await: notified, of: 2A37, fields: {hartRate: 72}", 37,
            "unknown field \"hartRate\" of 2A37; did you mean \"heartRate\"?"
        ),
        (
            "await: notified, of: 2A37, fields: {heartRate: 70000}", 48,
            "heartRate is never 70000: it is 0 to 65535 (uint16)"
        ),
        (
            "await: notified, of: 2A37, fields: {heartRate: {'>=': 65536}}", 55,
            "heartRate is never >= 65536: it is 0 to 65535 (uint16)"
        ),
        ("await: mtu.changed, of: 2A37", 25, "mtu.changed is about no attribute; remove of"),
        ("await: app.suspended", 8, "app.suspended never happens: no app plays the device; add app"),
        ("await: peripheral.connected", 8, "peripheral.connected never happens: the profile has no central"),
        ("await: ready", 8, "ready never happens: a scenario begins after it"),
        ("await: scenario.ended", 8, "scenario.ended never happens: a device plays one scenario at a time"),
        ("fault: goen", 8, "unknown fault \"goen\"; did you mean \"gone\"?"),
        ("fault: gone, of: 2A37", 14, "unknown key \"of\" in a step with fault; did you mean \"off\"?"),
        ("await: fault.applied, fault: goen", 30, "unknown fault \"goen\"; did you mean \"gone\"?"),
        ("set: {pwoer: 0}", 7, "unknown variable \"pwoer\"; did you mean \"power\"?"),
        ("set: {power: levle}", 14, "unknown variable \"levle\"; did you mean \"level\"?"),
        ("set: {}", 6, "set needs a variable, as in set: {power: 0}"),
        ("app: background", 6, "the state of an app cannot change: no app plays the device; add app"),
        ("end: passed", 6, "unknown result \"passed\"; did you mean \"pass\"?"),
        ("end: pass}, {after: 1 s", 13, "this step is never played: the step before it ends the scenario"),
    ]

    @Test("a wrong step is an error with its place", arguments: wrongSteps)
    func problem(_ step: String, _ column: Int, _ message: String) {
        let found = problems(Self.accessory("{\(step)}"))
        #expect(found == ["4:\(13 + column): error: \(message)"])
    }

    /// A step of an app that is a central, the column of what is wrong, and the message.
    static let wrongStepsOfApps: [(step: String, column: Int, message: String)] = [
        ("app: backgruond", 6, "unknown app state \"backgruond\"; did you mean \"background\"?"),
        ("await: app.restored", 8, "app.restored never happens: the app has no restoreIdentifier"),
        ("await: app.woken", 8, "app.woken never happens: the app has no background mode"),
        ("await: value.written", 8, "value.written never happens: the app writes no value"),
        ("await: value.read, of: 2A37", 24, "value.read of 2A37 never happens: the app reads no 2A37"),
        (
            "await: value.updated, of: 180F/2A19", 27,
            "value.updated of 180F/2A19 never happens: the app subscribes to no 180F/2A19"
        ),
        (
            "await: value.updated, of: 180D~1/2A37", 27,
            "the events of a central do not say which of several attributes it is; remove ~"
        ),
        (
            "await: value.updated, of: 2A37, fields: {rate: 72}", 42,
            "unknown field \"rate\" of 2A37; known are contact, heartRate, energyExpended and rrIntervals"
        ),
        ("await: read", 8, "read never happens: no attribute has the property read"),
        ("fault: gone", 8, "there is no fault \"gone\"; the profile has no faults"),
    ]

    @Test("a step that an app cannot play is an error with its place", arguments: wrongStepsOfApps)
    func problemOfApp(_ step: String, _ column: Int, _ message: String) {
        let found = problems(Self.app("{\(step)}"))
        #expect(found == ["4:\(13 + column): error: \(message)"])
    }

    @Test(
        "a wrong scenario is an error with its place",
        arguments: [
            ("a", "3:13: error: a scenario must be a mapping of name and steps, not \"a\""),
            (
                "{steps: [{after: 1 s}]}",
                "3:13: error: a scenario needs a name, as in name: drop out after five seconds"
            ),
            (
                "{name: a}",
                "3:13: error: a scenario needs steps, as in steps: [{await: subscribed}, {after: 5 s}]"
            ),
            (
                "{name: a, steps: []}",
                "3:30: error: a scenario needs a step, as in steps: [{await: subscribed}, {after: 5 s}]"
            ),
            (
                "{name: a, steps: [after]}",
                "3:31: error: a step must be a mapping, as in {after: 5 s}, not \"after\""
            ),
            (
                "{name: \"\", steps: [{after: 1 s}]}",
                "3:20: error: the name of a scenario must have 1 to 64 bytes"
            ),
            (
                "{name: a, step: []}",
                "3:23: error: unknown key \"step\" in a scenario; did you mean \"steps\"?"
            ),
            (
                "{name: a, steps: [{after: 1 s}]}, {name: a, steps: [{after: 1 s}]}",
                "3:54: error: the scenario \"a\" is defined twice; rename one"
            ),
        ])
    func problemOfScenario(_ scenario: String, _ message: String) {
        #expect(problems(head("scenarios: [\(scenario)]\n")).contains(message))
    }

    @Test func `an attribute or a fault that is wrong itself is no second error`() {
        let wrong = """
            services: [{uuid: 180D, characteristics: [{uuid: 2A37, properties: [raed]}]}]
            faults: [{name: gone, on: raed, do: drop}]
            scenarios: [{name: a, steps: [{await: read, of: 2A37}, {await: write}, {fault: gone}]}]

            """
        #expect(problems(head(wrong)).count == 2)
    }

    @Test func `every event has one entry, and every step a meaning`() throws {
        #expect(Set(EventCatalog.names).count == EventCatalog.names.count)
        let keys = Set(Self.validSteps.map { String($0.prefix { $0 != ":" }) }).union(["app", "advertise"])
        #expect(keys == Set(StepSection.words))
    }
}
