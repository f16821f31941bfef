import MynahCore
import MynahSupport
import Testing

@testable import MynahProfiles
@testable import MynahValues

@Suite struct ReactionTests {
    private static let start = """
        variables: {power: 150, mode: eco}
        advertising: {localName: Pump}
        services:
          - uuid: 6E400001-B5A3-F393-E0A9-E50E24DCCA9E
            characteristics:
              - uuid: 2A58
                properties: [notify]
                value: {layout: [{level: uint16}], fields: {level: {from: power}}}
              - uuid: 6E400002-B5A3-F393-E0A9-E50E24DCCA9E
                properties: [write, writeWithoutResponse, notify]
                value: {layout: [{opcode: uint8}, {level: uint16, when: opcode == 1}]}

        """

    /// The profile with this below its last characteristic.
    private static func text(_ on: String) -> String {
        head(start + on.split(separator: "\n").map { "        " + $0 + "\n" }.joined())
    }

    private static func reactions(_ on: String) throws -> Profile.Reactions {
        try #require(try profile(text(on)).services.first?.characteristics.last).reactions
    }

    private static func message(_ on: String) -> String {
        issues(text(on)).map(\.message).joined(separator: "; ")
    }

    private static let variables = Variables(["power": .number(150), "mode": .text("eco")])
    private static let layout = ValueLayout([
        LayoutField("opcode", .integer(octets: 1, isSigned: false)),
        LayoutField(
            "level", .integer(octets: 2, isSigned: false), when: .init("opcode", .equal, 1)),
    ])

    private static func rule(_ rules: [Reaction], for value: [UInt8]) -> Int? {
        let fields = layout.decode(value)
        return rules.firstIndex { $0.match.matches(value, fields, variables) }
    }

    @Test func `the first rule that matches the whole new value wins`() throws {
        let rules = try Self.reactions(
            """
            on:
              write:
                - {match: {opcode: 1, level: {">": 200}}, error: 0x80}
                - {match: {opcode: 1, level: power}, advertise: on}
                - {match: {opcode: 1}, set: {power: level}}
                - {match: {hex: 02 ..}, advertise: off}
                - {match: {}, disconnect: true}
            """
        ).write
        #expect(Self.rule(rules, for: [1, 201, 0]) == 0)
        #expect(Self.rule(rules, for: [1, 150, 0]) == 1)
        #expect(Self.rule(rules, for: [1, 200, 0]) == 2)
        #expect(Self.rule(rules, for: [2]) == 3)
        #expect(Self.rule(rules, for: [2, 0, 0, 0, 9]) == 3)
        // It does not fit the layout, so it has no fields.
        #expect(Self.rule(rules, for: [1, 2]) == 4)
        #expect(Self.rule(rules, for: []) == 4)
        #expect(rules.map(\.storesValue) == [false, true, true, true, true])
    }

    @Test func `a rule is for the variables that its when says`() throws {
        let rules = try Self.reactions(
            """
            on:
              write:
                - {match: {opcode: 2}, when: power == 150 and mode == "a and b", error: 0x80}
                - {when: power > 200, error: 0x81}
                - {match: {opcode: 2}, set: {power: 1}}
              subscribe: [{when: mode != "eco", disconnect: true}, {notify: now}]
            """
        )
        func rule(_ power: Double, _ mode: String) -> Int? {
            let variables = Variables(["power": .number(power), "mode": .text(mode)])
            let found = rules.write.first(for: [2], Self.layout.decode([2]), variables)
            return found.flatMap { rules.write.firstIndex(of: $0) }
        }
        #expect(rule(150, "a and b") == 0)
        #expect(rule(150, "eco") == 2)
        #expect(rule(151, "a and b") == 2)
        #expect(rule(201, "a and b") == 1)
        #expect(rules.subscribe.first(Self.variables) == rules.subscribe[1])
        #expect(rules.subscribe.first(Variables(["mode": .text("x")])) == rules.subscribe[0])
    }

    @Test func `a comparison that every number passes is taken, and so is each limit`() throws {
        let rules = try Self.reactions(
            """
            on:
              write:
                - {match: {opcode: 255, level: {">=": 65535}}, error: 0x80}
                - {match: {opcode: {"<": 256}}, advertise: on}
            """
        ).write
        #expect(rules.count == 2)
    }

    @Test func `a rule compares whole numbers digit by digit`() {
        let fields = [NamedField("count", .integer(9_007_199_254_740_993))]
        let variables = Variables([
            "below": .whole(9_007_199_254_740_992), "equal": .whole(9_007_199_254_740_993),
        ])
        func holds(_ operand: ValueMatch.Condition.Operand) -> Bool {
            var match = ValueMatch()
            match.conditions = [.init(field: "count", comparison: .above, operand: operand)]
            return match.matches([], fields, variables)
        }
        #expect(holds(.variable("below")) && holds(.number(.whole(9_007_199_254_740_992))))
        #expect(!holds(.variable("equal")) && !holds(.number(.whole(9_007_199_254_740_993))))
        #expect(holds(.number(ExactNumber(-0.5))) && !holds(.number(ExactNumber(1e300))))
    }

    @Test func `a rule sets variables to a number, a text, a field or a variable`() throws {
        let rule = try #require(
            try Self.reactions("on: {write: [{set: {power: level, mode: 'fast'}}]}").write.first)
        let written = [NamedField("opcode", .integer(1)), NamedField("level", .integer(300))]
        let changed = rule.applied(to: Self.variables, written)
        #expect(changed.json.text == #"{"mode":"fast","power":300}"#)
        // A write that lacks the field changes nothing.
        #expect(rule.applied(to: Self.variables, []).json.text == #"{"mode":"fast","power":150}"#)
        let copied = try #require(
            try Self.reactions("on: {write: [{set: {mode: power, power: 2.5}}]}").write.first)
        #expect(copied.applied(to: Self.variables, []).json.text == #"{"mode":150,"power":2.5}"#)
    }

    @Test func `an answer is bytes or fields from variables and from what was written`() throws {
        let rules = try Self.reactions(
            """
            on:
              write:
                - answer: {hex: 80 01 01}
                - answer:
                    - {to: 2A58, value: {fields: {level: {from: power}}}, after: 20 ms}
                    - value:
                        layout: [{a: uint8}, {b: uint16}]
                        fields: {a: {from: opcode}, b: {from: power}}
                - answer: {fields: {opcode: {from: opcode}}}
            """
        ).write
        let written = [NamedField("opcode", .integer(7))]
        func bytes(_ rule: Int, _ answer: Int = 0) throws -> [UInt8] {
            try rules[rule].answers[answer].value.bytes(Self.variables, written)
        }
        #expect(try bytes(0) == [0x80, 1, 1])
        #expect(rules[0].answers[0].target == .init(service: 0, characteristic: 1))
        #expect(try bytes(1) == [150, 0])
        #expect(rules[1].answers[0].target == .init(service: 0, characteristic: 0))
        #expect(rules[1].answers[0].delay == .milliseconds(20))
        #expect(try bytes(1, 1) == [7, 150, 0])
        #expect(try bytes(2) == [7])
        // A variable that does not fit its field is an error, not other bytes.
        #expect(throws: LayoutProblem.self) {
            try rules[1].answers[0].value.bytes(Variables(["power": .number(70_000)]), written)
        }
    }

    @Test func `a subscription sends the current value`() throws {
        let rules = try Self.reactions("on: {subscribe: [{notify: now}]}")
        #expect(rules.subscribe.map(\.notified) == [[.init(service: 0, characteristic: 1)]])
        #expect(rules.write.isEmpty && !rules.isEmpty)
    }

    @Test(arguments: [
        ("on: {wirte: []}", "unknown key \"wirte\" in on; did you mean \"write\"?"),
        ("on: {write: [{mach: {}}]}", "did you mean \"match\"?"),
        (
            "on: {write: [{match: {opcod: 1}, error: 0x80}]}",
            "unknown field \"opcod\"; did you mean \"opcode\"?"
        ),
        ("on: {write: [{match: {opcode: x}, error: 0x80}]}", "opcode must be a number"),
        ("on: {write: [{match: {opcode: {'=>': 1}}, error: 0x80}]}", "known are <, <=, > and >="),
        ("on: {write: [{match: {hex: 0}, error: 0x80}]}", "hex must be hexadecimal digits"),
        (
            "on: {write: [{match: {opcode: 300}, error: 0x80}]}",
            "opcode is never 300: it is 0 to 255 (uint8)"
        ),
        ("on: {write: [{match: {opcode: -1}, error: 0x80}]}", "opcode is never -1: it is 0 to 255 (uint8)"),
        (
            "on: {write: [{match: {opcode: 1, level: {'>': 65535}}, error: 0x80}]}",
            "level is never > 65535: it is 0 to 65535 (uint16)"
        ),
        (
            "on: {write: [{match: {opcode: {'<': 0}}, error: 0x80}]}",
            "opcode is never < 0: it is 0 to 255 (uint8)"
        ),
        (
            "on: {write: [{when: unlocked == 1, error: 0x80}]}",
            "unknown variable \"unlocked\"; known are mode and power"
        ),
        (
            "on: {write: [{when: powr == 1, error: 0x80}]}",
            "unknown variable \"powr\"; known are mode and power; did you mean \"power\"?"
        ),
        (
            "on: {write: [{when: level == 1, error: 0x80}]}",
            "\"level\" is a field of the value, and when compares variables: use match"
        ),
        (
            "on: {write: [{match: {power: 1}, error: 0x80}]}",
            "compare it beside match, as in when: power == 1"
        ),
        ("on: {write: [{when: power == 1 and mode, error: 0x80}]}", "and \"mode\" is no comparison"),
        ("on: {write: [{when: power, error: 0x80}]}", "when compares variables, as in"),
        ("on: {write: [{when: mode > \"a\", error: 0x80}]}", "a text has no order"),
        ("on: {write: [{when: mode == eco, error: 0x80}]}", "with a text in quotation marks"),
        ("on: {write: [{answer: {value: {hex: 00}, pieces: 20}}]}", "unknown pieces"),
        ("on: {write: [{answer: {value: {hex: 00, pieces: mtu}}}]}", "pieces is a key beside value"),
        ("on: {write: [{set: {pwer: 1}}]}", "unknown variable \"pwer\"; did you mean \"power\"?"),
        ("on: {write: [{set: {power: levl}}]}", "did you mean \"level\"?"),
        ("on: {write: [{answer: {generate: heart-rate}}]}", "an answer is hex, text, base64 or fields"),
        ("on: {write: [{answer: {to: 2A37, value: {hex: 00}}}]}", "the device has no 2A37"),
        ("on: {write: [{answer: {to: 2A58}}]}", "an answer needs a value"),
        (
            "on: {write: [{answer: {to: 2A58, value: {fields: {level: {from: q}}}}}]}",
            "unknown variable or field \"q\""
        ),
        ("on: {write: [{error: 0x80, answer: {hex: 00}}]}", "a rule has error or answer, not both"),
        ("on: {write: [{error: 256}]}", "an ATT error must be between"),
        (
            "on: {write: [{advertise: maybe}]}",
            "advertise must be on, off or what changes, as in {localName: Found}"
        ),
        ("on: {write: [{notify: 2A37}]}", "the device has no 2A37"),
        ("on: {subscribe: [{error: 0x80}]}", "a subscription has no value, and it cannot be refused here"),
    ])
    func `a rule that cannot be is an error with the nearest name`(on: String, message: String) {
        let found = Self.message(on)
        #expect(found.contains(message), "\(found)")
    }

    @Test(arguments: [
        ("variables: {1a: 1}", "the name of a variable has letters and digits"),
        ("variables: {a: [1]}", "the variable a must be one value"),
        ("variables: [a]", "variables must be a mapping"),
        (
            "variables: {a: -9223372036854775809}",
            """
            the variable a: the whole number -9223372036854775809 needs more than 64 bits; where a \
            number may be rounded, write -9.223372036854776e+18
            """
        ),
        (
            "variables: {a: 0x10000000000000000}",
            "the variable a: the whole number 0x10000000000000000 needs more than 64 bits"
        ),
        ("variables: {a: -1e400}", "the variable a: the number -1e400 is beyond ±1.7976931348623157e+308"),
        (
            "variables: {a: 1}\nscenarios: [{name: s, steps: [{set: {a: 18446744073709551616}}]}]",
            "the variable a: the whole number 18446744073709551616 needs more than 64 bits"
        ),
    ])
    func `variables have a name and a number or a text`(variables: String, message: String) {
        let issues = issues(head(variables + "\n"))
        #expect(issues.contains { $0.message.contains(message) }, "\(issues)")
    }

    @Test func `a name that is a variable and a field is an error`() {
        let text = Self.text("on: {write: [{set: {power: level}}]}")
            .replacing("variables: {power: 150,", with: "variables: {power: 150, level: 1,")
        let issues = issues(text)
        #expect(
            issues.contains { $0.message.contains("is a variable and a field of the value") }, "\(issues)")
    }

    @Test func `a value reads its variables, and a variable must fit at the start`() throws {
        let value = try #require(try profile(Self.text("")).services.first?.characteristics.first).value
        guard case .generated(let definition) = value,
            let reader = definition.makeGenerator(for: .init(seed: 1, interval: .seconds(1)))
                as? any VariableReader
        else {
            Issue.record("the value reads no variable")
            return
        }
        #expect(reader.names == ["power"])
        #expect(reader.value(at: 5) == [150, 0])
        #expect(try reader.value(at: 5, Variables(["power": .number(258)])) == [2, 1])
        #expect(throws: LayoutProblem.self) { try reader.value(at: 5, Variables(["power": .text("x")])) }
        let issues = issues(Self.text("").replacing("power: 150", with: "power: -1"))
        #expect(issues.contains { $0.message == "level is -1, and uint16 holds 0 to 65535" }, "\(issues)")
        let unknown = MynahProfilesTests.issues(
            Self.text("").replacing("{from: power}", with: "{from: powr}"))
        #expect(
            unknown.contains { $0.message == "unknown variable \"powr\"; did you mean \"power\"?" },
            "\(unknown)")
    }
}
