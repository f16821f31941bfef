import MynahCore
import MynahFaults
import MynahSupport
import Testing

@testable import MynahProfiles

@Suite struct FaultTests {
    /// A device that can have every fault; the fault is on line 3, from column 10 on.
    static func profile(_ fault: String) -> String {
        """
        mynah: 1
        name: Test
        faults: [\(fault)]
        app: {}
        variables: {power: 150, mode: boot}
        advertising: {serviceUUIDs: [180D]}
        services:
          - uuid: 180D
            characteristics:
              - {uuid: 2A37, properties: [read, notify], value: {hex: 01}, descriptors: [{uuid: 2901}]}
              - {uuid: 2A39, properties: [write]}
          - uuid: 1810
            characteristics:
              - {uuid: 2A19, properties: [read]}
              - {uuid: 2A19, properties: [writeWithoutResponse]}

        """
    }

    /// Faults of every key, as they are written again.
    static let valid = [
        "{name: a, on: read, of: 180D/2A37, nth: 1..2, delay: 3 s}",
        "{name: a, on: read, of: 180D/2A37/2901, nth: every 4, error: 0x80}",
        "{name: a, on: write, of: 180D/2A39, nth: 3, error: 0x0E, off: true}",
        "{name: a, on: notify, of: 180D/2A37, times: 5, chance: 0.05, do: drop}",
        "{name: a, on: notify, central: C0:11:22:33:44:55, do: duplicate}",
        "{name: a, on: notify, central: 2, do: reorder}",
        "{name: a, on: read, when: background, do: noAnswer}",
        "{name: a, on: read, when: power > 200, do: noAnswer}",
        "{name: a, on: read, when: power != 0.5, do: noAnswer}",
        "{name: a, on: read, when: mode == \"boot loader\", do: noAnswer}",
        "{name: a, on: read, truncate: 0}", "{name: a, on: notify, corrupt: xor FF01@2}",
        "{name: a, on: read, delay: 1 ms, value: {hex: 0102}}", "{name: a, on: mtu, mtu: 23}",
        "{name: a, on: pair, do: disconnect, reason: 0x05}",
        "{name: a, on: subscribe, of: 180D/2A37, do: refuseSubscription}",
        "{name: a, on: connect, do: refuseConnection}",
        "{name: a, on: connect, do: loseBond, how: disconnect}",
        "{name: a, after: 5 s, do: changeServices, remove: 1810}",
        "{name: a, on: discover, do: changeServices, remove: 1810/2A19~2}",
        "{name: a, after: 20 s, do: advertise, with: {localName: DFU, serviceUUIDs: [180A], "
            + "manufacturerData: {0x0059: 01}, serviceData: {1810: 64}, appearance: 64, "
            + "connectable: false, interval: 1 s}, "
            + "for: 10 s}",
        "{name: a, on: advertise, do: vanish, for: 2 min}",
        "{name: a, on: connect, do: advertise, with: {connectable: false}, until: disconnected}",
        "{name: a, on: read, when: power > 200 and mode == \"boot and go\", do: noAnswer}",
    ]

    /// Faults of keys, words or shapes that a profile does not have.
    static let misshapen = [
        "gone", "{on: read, truncate: 1}", "{name: a, on: read}", "{name: a, truncate: 1}",
        "{name: a, on: read, after: 1 s, truncate: 1}", "{name: a, on: raed, truncate: 1}",
        "{name: a, after: 5, do: vanish}", "{name: a, on: read, truncate: 1, value: {hex: 01}}",
        "{name: a, on: read, do: dorp}", "{name: a, on: read, trunkate: 1}",
        "{name: a, on: read, nth: 0, truncate: 1}", "{name: a, on: read, nth: often, truncate: 1}",
        "{name: a, on: read, times: 0, truncate: 1}", "{name: a, on: read, chance: 2, truncate: 1}",
        "{name: a, on: read, central: me, truncate: 1}", "{name: a, on: read, when: asleep, truncate: 1}",
        "{name: a, on: read, delay: 3}", "{name: a, on: read, error: 0x100}",
        "{name: a, on: read, error: unlikelyEror}", "{name: a, on: read, truncate: 513}",
        "{name: a, on: read, corrupt: FF}", "{name: a, on: read, value: 01}", "{name: a, on: mtu, mtu: 22}",
        "{name: a, on: connect, do: disconnect, reason: 0}", "{name: a, on: connect, do: loseBond, how: no}",
        "{name: a, after: 1 s, do: advertise, with: {name: DFU}}",
        "{name: a, on: read, off: maybe, truncate: 1}", "{name: a, on: read, of: \"@3\", truncate: 1}",
    ]

    private static func load(_ fault: String) throws -> ProfileFault {
        let loaded = try ProfileLoader.load(text: profile(fault), file: "test.yaml")
        return try #require(loaded.faults.first)
    }

    @Test("a fault is written again as it was read", arguments: valid)
    func roundTrip(_ text: String) throws {
        let profile = try ProfileLoader.load(text: Self.profile(text), file: "test.yaml")
        let fault = try #require(profile.faults.first)
        #expect(profile.warnings == [])
        #expect("{name: a, \(fault.text(in: profile.attributeTree))}" == text)
        // The control API takes it as JSON.
        let json = fault.json(in: profile.attributeTree)
        let again = try ProfileLoader.fault(json, name: "fault", in: FaultScope(profile, isWhole: true))
        #expect(again.json(in: profile.attributeTree) == json)
    }

    @Test("the value of a fault can be the fields of its attribute")
    func typedValues() throws {
        let fault = try Self.load("{name: a, on: notify, of: 2A37, value: {fields: {heartRate: 300}}}")
        // Bit 0 of the flags: the heart rate has 16 bits (Heart Rate Service 1.0, 3.1.1.1.1).
        #expect(fault.fault.effect == .value([0x01, 0x2C, 0x01]))
    }

    @Test("all mistakes of a fault are reported, and a word that is not known hides none")
    func allMistakes() {
        let text = Self.profile("{nam: a, on: raed, when: powr > 1, trunkate: 1}")
        #expect(
            problems(text) == [
                "3:11: error: unknown key \"nam\" in a fault; did you mean \"name\"?",
                "3:23: error: unknown trigger \"raed\"; did you mean \"read\"?",
                "3:35: error: unknown variable \"powr\"; known are mode and power; did you mean \"power\"?",
                "3:45: error: unknown key \"trunkate\" in a fault; did you mean \"truncate\"?",
            ])
    }

    @Test("every key, trigger and effect of a fault is among the examples")
    func isComplete() throws {
        let faults = try Self.valid.map(Self.load)
        let keys = Set(faults.flatMap(\.marks.keys))
        #expect(keys == Set(FaultSection.table.keys))
        #expect(Set(faults.map(\.fault.kind)) == Set(FaultEffect.Kind.allCases))
        #expect(Set(faults.map(\.fault.trigger.kind)).isSuperset(of: [.read, .write, .notify, .after]))
        let written = FaultEffectSection.effects.map(\.name).filter { $0 != "do" } + ["delay"]
        let words = DoneEffect.allCases.map(\.rawValue) + written
        #expect(words.sorted() == FaultEffect.Kind.allCases.map(\.rawValue).sorted())
    }

    @Test("a fault's attribute and what it removes get the device's keys")
    func keys() throws {
        let of = try Self.load(Self.valid[1])
        #expect(of.attribute == .init(service: 0, characteristic: 0, descriptor: 0))
        #expect(of.properties == .read)
        let removing = try Self.load("{name: a, after: 5 s, do: changeServices, remove: 1810/2A19~2}")
        let (one, other) = (AttributeKey(), AttributeKey())
        let resolved = removing.resolved { $0 == .init(service: 1, characteristic: 1) ? one : other }
        #expect(resolved.effect == .changeServices(removing: one))
        #expect(of.resolved { _ in other }.attribute == other)
    }

    @Test("a key that is left out has a default")
    func defaults() throws {
        let fault = try Self.load("{name: a, on: connect, do: disconnect}").fault
        #expect(fault == Fault(name: "a", trigger: .on(.connect), effect: .disconnect(reason: 0x13)))
        #expect(try Self.load("{name: a, on: connect, do: loseBond}").fault.effect == .loseBond(.reject))
        let corrupt = try Self.load("{name: a, on: read, corrupt: xor 80}").fault
        #expect(corrupt.effect == .corrupt(.init(xor: [0x80], at: 0)))
        let named = try Self.load("{name: a, on: read, error: unlikelyError, chance: 5 %}").fault
        #expect(named.effect == .error(.unlikelyError) && named.selection.chance == 0.05)
        let short = try Self.load("{name: a, on: notify, of: heart-rate-measurement, do: drop}")
        #expect(short.attribute == .init(service: 0, characteristic: 0))
    }

    private static let wrong: [(fault: String, problem: String)] = [
        (
            "{on: read, truncate: 1}",
            "10: error: a fault needs a name, which its events and a test call it by"
        ),
        ("{name: \"\", on: read, truncate: 1}", "17: error: the name of a fault must have 1 to 64 bytes"),
        ("{name: a, truncate: 1}", "10: error: a fault needs on or after, as in on: read or after: 20 s"),
        ("{name: a, on: read, after: 1 s, truncate: 1}", "30: error: a fault has on or after, not both"),
        (
            "{name: a, on: raed, truncate: 1}",
            "24: error: unknown trigger \"raed\"; did you mean \"read\"?"
        ),
        (
            "{name: a, on: read}",
            "10: error: a fault needs an effect: error, truncate, corrupt, value, mtu, do or delay"
        ),
        (
            "{name: a, on: read, trunkate: 1}",
            "30: error: unknown key \"trunkate\" in a fault; did you mean \"truncate\"?"
        ),
        ("{name: a, on: notify, do: dorp}", "36: error: unknown effect \"dorp\"; did you mean \"drop\"?"),
        (
            "{name: a, on: read, do: error}",
            "34: error: error takes a parameter, so it is a key of its own; write error for do"
        ),
        (
            "{name: a, on: read, truncate: 1, error: 0x80}",
            "30: error: a fault has one effect, and this one has error and truncate; make it 2 faults"
        ),
        (
            "{name: a, on: notify, error: 0x80}",
            "39: error: error does nothing on notify; it applies to read, write, subscribe, discover and mtu"
        ),
        (
            "{name: a, on: read, nth: 0, truncate: 1}",
            "35: error: nth counts from 1 to 1000000000, not 0"
        ),
        (
            "{name: a, on: read, nth: 3..2, truncate: 1}",
            "35: error: nth: 3..2 contains no number; write 2..3"
        ),
        (
            "{name: a, on: read, nth: often, truncate: 1}",
            "35: error: nth must be a number, as 3, 1..2 or every 4, not \"often\""
        ),
        (
            "{name: a, on: read, nth: every 0, truncate: 1}",
            "35: error: nth: every must be between 1 and 1000000000, not 0"
        ),
        (
            "{name: a, after: 1 s, nth: 2, do: vanish}",
            "37: error: nth counts operations, and a fault after a time has none"
        ),
        (
            "{name: a, on: read, times: 0, truncate: 1}",
            "37: error: times must be between 1 and 1000000000, not 0"
        ),
        (
            "{name: a, on: read, chance: 101 %, truncate: 1}",
            "38: error: chance must be between 0 and 1, or 0 % and 100 %, not 101 %"
        ),
        (
            "{name: a, on: read, central: Pixel, truncate: 1}",
            "39: error: central must be an address, as in C0:11:22:33:44:55, or the number of a connection "
                + "from 1 on, not \"Pixel\""
        ),
        (
            "{name: a, on: connect, central: 1, do: refuseConnection}",
            "42: error: refuseConnection concerns every central; remove central"
        ),
        (
            "{name: a, on: read, when: powr > 3, truncate: 1}",
            "36: error: unknown variable \"powr\"; known are mode and power; did you mean \"power\"?"
        ),
        (
            "{name: a, on: read, when: power, truncate: 1}",
            "36: error: when compares a variable, as in power > 0"
        ),
        (
            "{name: a, on: read, when: mode == boot, truncate: 1}",
            "36: error: when compares mode with a number, or with a text in quotation marks, as in "
                + "mode == \"boot\", not with \"boot\""
        ),
        (
            "{name: a, on: read, when: mode < \"boot\", truncate: 1}",
            "36: error: a text has no order; compare it with == or !="
        ),
        (
            "{name: a, on: read, of: 2A37, value: {fields: {hartRate: 1}}}",
            "57: error: unknown key \"hartRate\" in fields; did you mean \"heartRate\"?"
        ),
        (
            "{name: a, on: read, of: 2A37, value: {fields: {heartRate: 70000}}}",
            "68: error: heartRate must be between 0 and 65535 bpm, which uint16 holds, not 70000"
        ),
        (
            "{name: a, on: read, of: 2A37, value: {fields: {heartRate: {from: power}}}}",
            "68: error: heartRate must be a value that does not change"
        ),
        (
            "{name: a, on: read, value: {fields: {heartRate: 1}}}",
            "46: error: fields are those of an attribute: add of, or write hex"
        ),
        (
            "{name: a, on: read, of: 2A37/2901, value: {fields: {heartRate: 1}}}",
            "61: error: the fields of the attribute are not known: write hex"
        ),
        (
            "{name: a, on: read, when: backgroud, truncate: 1}",
            "36: error: unknown app state \"backgroud\"; did you mean \"background\"?"
        ),
        (
            "{name: a, on: read, delay: 1 s, do: noAnswer}",
            "37: error: noAnswer cannot have a delay"
        ),
        (
            "{name: a, on: read, of: 2A38, truncate: 1}",
            "34: error: the device has no 2A38; did you mean \"2A37\"?"
        ),
        (
            "{name: a, on: read, of: heart-rate-mesurement, truncate: 1}",
            "34: error: \"heart-rate-mesurement\" is neither a UUID nor a name; did you mean "
                + "\"heart-rate-measurement\"?"
        ),
        (
            "{name: a, on: read, of: 2A19, truncate: 1}",
            "34: error: the device has 2 attributes called 2A19: name one of 1810/2A19~1, 1810/2A19~2"
        ),
        (
            "{name: a, on: read, of: 1810/2A19~3, truncate: 1}",
            "34: error: the device has no 1810/2A19~3; it has 1810/2A19~1, 1810/2A19~2"
        ),
        (
            "{name: a, on: read, of: \"2A00\", truncate: 1}",
            "34: error: \"2A00\" belongs to the radio, which has no faults for it"
        ),
        (
            "{name: a, on: read, of: 1801/2A05, truncate: 1}",
            "34: error: \"1801/2A05\" belongs to the radio, which has no faults for it"
        ),
        (
            "{name: a, on: write, of: 2A37/2902, error: 0x80}",
            "35: error: \"2A37/2902\" belongs to the radio, which has no faults for it"
        ),
        (
            "{name: a, on: read, of: \"@3\", truncate: 1}",
            "34: error: a profile has no handles; name the attribute, as in of: 180D/2A37"
        ),
        (
            "{name: a, on: read, of: 2A39, truncate: 1}",
            "30: error: on: read has no effect on \"2A39\": the characteristic has no read property"
        ),
        (
            "{name: a, on: write, of: 2A37, error: 0x80}",
            "31: error: on: write has no effect on \"2A37\": the characteristic has no write property"
        ),
        (
            "{name: a, on: write, of: 1810/2A19~2, error: 0x80}",
            "31: error: error has no effect on \"1810/2A19~2\": a write without response gets no answer"
        ),
        (
            "{name: a, on: notify, of: 2A37/2901, do: drop}",
            "32: error: on: notify has no effect on \"2A37/2901\": the descriptor has neither notify nor "
                + "indicate"
        ),
        (
            "{name: a, on: connect, of: 2A37, do: vanish}",
            "37: error: connect has no attribute; remove of"
        ),
        (
            "{name: a, on: read, error: insufficientAuthorisation}",
            "37: error: unknown ATT error \"insufficientAuthorisation\"; did you mean "
                + "\"insufficientAuthorization\"?"
        ),
        (
            "{name: a, on: read, error: 80}",
            "37: warning: 0x50 is a reserved error code; application errors are 0x80 to 0x9F; did you mean "
                + "0x80?"
        ),
        (
            "{name: a, on: read, corrupt: FF@2}",
            "39: error: corrupt must be bytes and the offset of the first, as in xor FF@2 or xor 01 80@0, "
                + "not \"FF@2\""
        ),
        (
            "{name: a, on: read, corrupt: xor FF@512}",
            "39: error: the offset of corrupt must be between 0 and 511, not 512"
        ),
        ("{name: a, on: read, corrupt: xor 00}", "39: error: corrupt needs a byte that is not 00"),
        (
            "{name: a, on: read, value: {hex: \(String(repeating: "00", count: 513))}}",
            "37: error: the value has 513 bytes, more than the maximum of 512"
        ),
        (
            "{name: a, on: read, value: {generate: heart-rate}}",
            "37: error: the value of a fault does not change: write hex, text, base64 or fields"
        ),
        (
            "{name: a, on: read, reason: 0x13, truncate: 1}",
            "30: error: reason has no effect without do: disconnect"
        ),
        (
            "{name: a, on: connect, do: loseBond, for: 1 s}",
            "47: error: for has no effect without do: advertise or vanish"
        ),
        (
            "{name: a, on: connect, do: changeServices}",
            "37: error: changeServices needs remove, a service or a characteristic"
        ),
        (
            "{name: a, after: 1 s, do: changeServices, remove: 2A37/2901}",
            "60: error: remove takes a service or a characteristic, and \"2A37/2901\" is neither"
        ),
        (
            "{name: a, after: 1 s, do: changeServices, remove: 180A}",
            "60: error: the device has no 180A; did you mean \"180D\"?"
        ),
        (
            "{name: a, after: 1 s, do: advertise}",
            "36: error: advertise needs with, as in with: {localName: DFU}"
        ),
        (
            "{name: a, after: 1 s, do: advertise, with: {}}",
            "36: error: advertise needs at least one field in with"
        ),
        (
            "{name: a, after: 1 s, do: advertise, with: {locaName: a}}",
            "54: error: unknown key \"locaName\" in with; did you mean \"localName\"?"
        ),
        (
            "{name: a, on: read, truncate: 1}, {name: a, on: read, truncate: 2}",
            "51: error: the fault \"a\" is defined twice; rename one"
        ),
    ]

    @Test("a fault that is wrong has a located error that says what to do", arguments: wrong)
    func mistakes(_ fault: String, _ expected: String) {
        #expect(problems(Self.profile(fault)) == ["3:\(expected)"])
    }

    @Test("a fault of an unknown key, word or shape is an error", arguments: misshapen)
    func shapes(_ fault: String) {
        #expect(problems(Self.profile(fault)).contains { $0.contains("error: ") })
    }

    @Test("a state of the app means nothing to an accessory, and advertising nothing to a silent device")
    func scope() {
        #expect(
            problems(head("faults: [{name: a, on: connect, when: background, do: vanish}]\n")) == [
                """
                3:39: error: when: background is never true: no app plays the device; add app, or remove when
                """
            ])
        #expect(
            problems(head("faults: [{name: a, after: 1 s, do: advertise, with: {localName: b}}]\n")) == [
                "3:53: error: advertise has no effect: the device does not advertise"
            ])
    }

    @Test("an advertisement that does not fit is refused where it is")
    func advertisedLength() {
        let name = String(repeating: "n", count: 40)
        let text = Self.profile("{name: a, after: 1 s, do: advertise, with: {localName: \(name)}}")
            .replacing("app: {}\n", with: "")
        #expect(problems(text).map { $0.prefix(12) } == ["3:54: error:"])
    }

    @Test("an attribute that was not read itself makes no error of a fault")
    func brokenService() {
        let text = Self.profile("{name: a, on: write, of: 2A39, error: 0x80}")
            .replacing("{uuid: 2A39, properties: [write]}", with: "{uuid: 2A3, properties: [write]}")
        #expect(problems(text).count == 1)
    }

    @Test("a radio's shortcoming names the fault, and is where it has to change")
    func shortcomings() throws {
        var radio = RadioCapabilities(name: "Radio")
        radio.answerDeadline = .seconds(5)
        let rows = [
            (
                "{name: a, on: pair, do: disconnect, reason: 0x05}",
                "error: the fault \"a\": Radio cannot end "
                    + "a link with reason 0x05; it can use 0x13", 34
            ),
            (
                "{name: a, on: read, delay: 5 s}",
                "error: the fault \"a\": Radio can hold up an answer for "
                    + "4500 ms at most", 37
            ),
            (
                "{name: a, on: read, delay: 5 s, truncate: 1}",
                "error: the fault \"a\": Radio can hold up an "
                    + "answer for 4500 ms at most", 37
            ),
            (
                "{name: a, on: read, do: noAnswer}",
                "error: the fault \"a\": Radio cannot carry out noAnswer", 34
            ),
        ]
        for (fault, message, column) in rows {
            let loaded = try ProfileLoader.load(text: Self.profile(fault), file: "test.yaml")
            let issues = loaded.issues(with: radio, faults: .bluez, isChosen: true)
            #expect(issues.map { "\($0.severity.rawValue): \($0.message)" } == [message])
            #expect(issues.first?.mark == SourceMark(line: 3, column: column))
            #expect(loaded.issues(with: radio, faults: .bluez, isChosen: false).map(\.severity) == [.warning])
            #expect(loaded.issues(with: RadioCapabilities(name: "Own"), isChosen: true) == [])
        }
    }
}
