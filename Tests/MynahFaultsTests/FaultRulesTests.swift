import MynahCore
import MynahFaults
import MynahSupport
import Testing

/// Which faults apply to which operations.
@Suite struct FaultRulesTests {
    private static let heartRate = AttributeKey()
    private static let battery = AttributeKey()
    private static let first = FaultRules.Central(
        Peer.ID(7), address: DeviceAddress(value: 0xAABB, kind: .random), order: 1)
    private static let second = FaultRules.Central(
        Peer.ID(9), address: DeviceAddress(value: 0xCCDD, kind: .public), order: 2)

    private static func fault(
        _ name: String = "f", on operation: FaultTrigger.Operation = .read, of attribute: AttributeKey? = nil,
        _ selection: FaultSelection = FaultSelection(), delay: Duration = .zero,
        _ effect: FaultEffect? = .error(ATTError(code: 0x80)), isOff: Bool = false
    ) -> Fault {
        Fault(
            name: name, trigger: .on(operation), of: attribute, selection: selection, delay: delay,
            effect: effect, isOff: isOff)
    }

    private static func read(_ attribute: AttributeKey = heartRate) -> FaultRules.Operation {
        FaultRules.Operation(.read, of: [attribute])
    }

    /// The numbers of the reads, from 1, to which the faults apply.
    private static func applied(
        _ rules: inout FaultRules, reads count: Int, of central: FaultRules.Central? = nil,
        holds: FaultRules.Holds = { _, _ in true }
    ) -> [Int] {
        (1...count).filter { _ in !rules.decide(read(), of: central, holds: holds).isNothing }
    }

    @Test("nth and times select operations by their numbers")
    func ordinals() {
        let rows: [(FaultSelection, [Int])] = [
            (.init(), [1, 2, 3, 4, 5, 6, 7, 8, 9]), (.init(nth: .range(3...3)), [3]),
            (.init(nth: .range(1...2)), [1, 2]), (.init(nth: .every(4)), [4, 8]),
            (.init(times: 2), [1, 2]), (.init(nth: .every(2), times: 3), [2, 4, 6]),
            (.init(nth: .range(5...6), times: 1), [5]), (.init(chance: 0), []),
            (.init(nth: .range(20...30)), []), (.init(nth: .every(0)), []),
        ]
        for (selection, expected) in rows {
            var rules = FaultRules([Self.fault(selection)], seed: 1)
            #expect(Self.applied(&rules, reads: 9) == expected, "\(selection)")
        }
    }

    private static func fault(_ selection: FaultSelection) -> Fault { fault("f", selection) }

    @Test("a fault applies to its operation and its attribute alone")
    func attributes() {
        var rules = FaultRules([Self.fault(of: Self.heartRate)], seed: 1)
        let rows: [(FaultRules.Operation, Bool)] = [
            (Self.read(), true), (Self.read(Self.battery), false),
            (.init(.write, of: [Self.heartRate]), false),
            (.init(.read, of: [Self.battery, Self.heartRate]), true), (.init(.connect), false),
        ]
        for (operation, isHit) in rows {
            #expect(rules.decide(operation, holds: { _, _ in true }).isNothing != isHit, "\(operation)")
        }
        #expect(rules["f"]?.count == 2)
        var every = FaultRules([Self.fault()], seed: 1)
        #expect(!every.decide(Self.read(Self.battery), holds: { _, _ in true }).isNothing)
        #expect(rules.concerns(.read, of: Self.heartRate) && rules.concerns(.read))
        #expect(!rules.concerns(.read, of: Self.battery) && !rules.concerns(.write))
    }

    @Test("operations are counted over all centrals, and with central those of one")
    func centrals() throws {
        var all = FaultRules([Self.fault(.init(nth: .range(2...2)))], seed: 1)
        #expect(Self.applied(&all, reads: 1, of: Self.first) == [])
        #expect(Self.applied(&all, reads: 1, of: Self.second) == [1])
        let address = try #require(Self.second.address)
        let other = DeviceAddress(value: address.value, kind: .random)
        for central in [FaultCentral.order(2), .address(address), .address(other)] {
            var one = FaultRules([Self.fault(.init(nth: .range(2...2), central: central))], seed: 1)
            #expect(Self.applied(&one, reads: 3, of: Self.first) == [])
            #expect(Self.applied(&one, reads: 3) == [])
            #expect(Self.applied(&one, reads: 3, of: Self.second) == [2])
        }
    }

    @Test("a value to several subscribers is counted once, and with central once for each")
    func subscribers() {
        let operation = FaultRules.Operation(.notify, of: [Self.heartRate])
        let faults = [
            Self.fault("every second value", on: .notify, .init(nth: .every(2)), .drop),
            Self.fault("to the second", on: .notify, .init(central: .order(2)), .duplicate),
        ]
        var rules = FaultRules(faults, seed: 1)
        let both: [FaultRules.Central?] = [Self.first, Self.second]
        let values = (1...4).map { _ in
            rules.decide(operation, of: both, holds: { _, _ in true }).map(\.effect)
        }
        #expect(values == [[nil, .duplicate], [.drop, .drop], [nil, .duplicate], [.drop, .drop]])
        #expect(rules.entries.map(\.count) == [4, 4])
        #expect(rules.entries.map(\.timesApplied) == [2, 2])
        // Without subscribers that the radio names there is one decision.
        #expect(rules.decide(operation, of: [nil], holds: { _, _ in true }).map(\.effect) == [nil])
    }

    @Test("delays add, and the first other effect wins in the order of the faults")
    func several() {
        var rules = FaultRules(
            [
                Self.fault("a", delay: .seconds(1), nil),
                Self.fault("b", .init(nth: .every(2)), .truncate(1)),
                Self.fault("c", delay: .seconds(2), .error(ATTError(code: 0x81))),
                Self.fault("d", .init(times: 1), .noAnswer),
            ], seed: 1)
        var odd = rules.decide(Self.read(), holds: { _, _ in true })
        #expect(odd.delay == .seconds(3) && odd.effect == .error(ATTError(code: 0x81)))
        #expect(odd.cause == "c" && odd.applied == ["a", "c"])
        let even = rules.decide(Self.read(), holds: { _, _ in true })
        #expect(even.delay == .seconds(3) && even.effect == .truncate(1))
        #expect(even.cause == "b" && even.applied == ["a", "b", "c"])
        // An effect that came second did not apply, and is not used up.
        #expect(rules["d"]?.timesApplied == 0)
        _ = rules.remove("c")
        odd = rules.decide(Self.read(), holds: { _, _ in true })
        #expect(odd.effect == .noAnswer && odd.applied == ["a", "d"])
    }

    @Test("a condition is asked for at each operation that nth selects")
    func conditions() {
        let condition = FaultCondition.variable("power", .above, .number(.whole(100)))
        var rules = FaultRules([Self.fault(.init(nth: .every(2), when: condition))], seed: 1)
        var (asked, power) = (0, 50)
        let holds: FaultRules.Holds = { condition, _ in
            asked += 1
            return condition == .variable("power", .above, .number(.whole(100))) && power > 100
        }
        #expect(Self.applied(&rules, reads: 4, holds: holds) == [])
        power = 150
        #expect(Self.applied(&rules, reads: 4, holds: holds) == [2, 4])
        #expect(asked == 4)
    }

    @Test("a fault applies with its chance, by random numbers that are its own")
    func chances() {
        let flaky = Self.fault("flaky", .init(chance: 0.25))
        var alone = FaultRules([flaky], seed: 42)
        let expected = Self.applied(&alone, reads: 4000)
        #expect((900...1100).contains(expected.count))
        // Another fault with a chance, before it, changes nothing; neither does a second run.
        let other = Self.fault("other", on: .write, .init(chance: 0.5))
        var beside = FaultRules([other, flaky], seed: 42)
        for _ in 1...10 { _ = beside.decide(.init(.write), holds: { _, _ in true }) }
        #expect(Self.applied(&beside, reads: 4000) == expected)
        var renamed = FaultRules([Self.fault("renamed", .init(chance: 0.25))], seed: 42)
        #expect(Self.applied(&renamed, reads: 4000) != expected)
        var reseeded = FaultRules([flaky], seed: 43)
        #expect(Self.applied(&reseeded, reads: 4000) != expected)
        // A fault with a seed of its own has the same numbers by any name, on any radio.
        var named = Self.fault("flaky~2", .init(chance: 0.25))
        named.seed = Fault.seed(of: "flaky", 42)
        var seeded = FaultRules([named], seed: 7)
        #expect(Self.applied(&seeded, reads: 4000) == expected)
        alone.add(flaky, at: .zero)
        #expect(Self.applied(&alone, reads: 4000) == expected)
    }

    @Test("counters begin at zero when a fault is turned on, or added again")
    func counters() {
        var rules = FaultRules([Self.fault(.init(nth: .range(2...2)))], seed: 1)
        #expect(Self.applied(&rules, reads: 3) == [2])
        #expect(rules.turn("f", isOn: true, at: .zero) == false)
        #expect(rules["f"]?.count == 3)
        #expect(rules.turn("f", isOn: false, at: .zero) == true)
        #expect(Self.applied(&rules, reads: 3) == [])
        #expect(rules["f"]?.count == 3 && !rules.concerns(.read))
        #expect(rules.turn("f", isOn: true, at: .zero) == true)
        #expect(Self.applied(&rules, reads: 3) == [2])
        rules.add(Self.fault(.init(nth: .range(2...2))), at: .zero)
        #expect(Self.applied(&rules, reads: 3) == [2])
        #expect(rules.turn("g", isOn: true, at: .zero) == nil)
    }

    @Test("a fault that begins off is off when it is added again")
    func offAtTheStart() {
        var rules = FaultRules([Self.fault(isOff: true)], seed: 1)
        #expect(Self.applied(&rules, reads: 2) == [])
        #expect(rules.turn("f", isOn: true, at: .zero) == true)
        #expect(Self.applied(&rules, reads: 2) == [1, 2])
        rules.add(Self.fault(isOff: true), at: .zero)
        #expect(Self.applied(&rules, reads: 2) == [] && rules["f"]?.isOn == false)
    }

    @Test("a fault can be added, replaced and removed")
    func changes() {
        var rules = FaultRules([Self.fault("a"), Self.fault("b")], seed: 1)
        rules.add(Self.fault("c", isOff: true), at: .zero)
        rules.add(Self.fault("a", .init(nth: .range(2...2))), at: .zero)
        #expect(rules.entries.map(\.fault.name) == ["a", "b", "c"])
        #expect(rules.decide(Self.read(), holds: { _, _ in true }).cause == "b")
        #expect(rules.decide(Self.read(), holds: { _, _ in true }).cause == "a")
        #expect(rules.remove("b")?.name == "b" && rules.remove("b") == nil)
        #expect(rules.decide(Self.read(), holds: { _, _ in true }).isNothing)
    }

    @Test func `faults that change leave the counts of what they are for as they should be`() {
        var random = SeededRandom(seed: 7)
        var rules = FaultRules(seed: 1)
        let keys = [Self.heartRate, Self.battery, nil]
        let operations: [FaultTrigger.Operation] = [.read, .write, .advertise]
        func expectCounts() {
            let armed = rules.entries.filter(\.isArmed).map(\.fault)
            #expect(rules.isArmed == !armed.isEmpty)
            for (operation, key) in operations.flatMap({ operation in keys.map { (operation, $0) } }) {
                let isConcerned = armed.contains { fault in
                    fault.trigger == .on(operation)
                        && (key == nil || fault.attribute == nil || fault.attribute == key)
                }
                #expect(rules.concerns(operation, of: key) == isConcerned)
            }
        }
        for _ in 0..<300 {
            let name = "f\(random.next() % 5)"
            switch random.next() % 4 {
            case 0: rules.remove(name)
            case 1: _ = rules.turn(name, isOn: random.next() % 2 == 0, at: .zero)
            default:
                rules.add(
                    Self.fault(
                        name, on: operations[Int(random.next() % 3)], of: keys[Int(random.next() % 3)],
                        FaultSelection(chance: Double(random.next() % 2)), isOff: random.next() % 3 == 0),
                    at: .zero)
            }
            expectCounts()
            #expect(rules.entries.allSatisfy { rules[$0.fault.name]?.fault == $0.fault })
        }
        rules.rekey([Self.heartRate: Self.battery])
        expectCounts()
    }

    @Test("a fault after a time applies once, counted from when it was turned on")
    func times() {
        let later = Fault(
            name: "later", trigger: .after(.seconds(20)),
            selection: FaultSelection(when: .appState("foreground")), effect: .vanish(for: nil))
        let sooner = Fault(
            name: "sooner", trigger: .after(.seconds(5)), effect: .loseBond(.reject), isOff: true)
        var rules = FaultRules([later, sooner], seed: 1, at: .seconds(100))
        #expect(rules.nextDue == .seconds(120))
        #expect(rules.turn("sooner", isOn: true, at: .seconds(110)) == true)
        #expect(rules.nextDue == .seconds(115))
        #expect(rules.takeDue(at: .seconds(114), holds: { _, _ in true }).isEmpty)
        #expect(rules.takeDue(at: .seconds(120), holds: { _, _ in true }).map(\.name) == ["later", "sooner"])
        #expect(rules.nextDue == nil && rules.takeDue(at: .seconds(999), holds: { _, _ in true }).isEmpty)
        // Turned off in time, it does not apply; the next time counts anew.
        for fault in [later, sooner] { rules.add(fault, at: .seconds(200)) }
        #expect(rules.nextDue == .seconds(220))
        #expect(rules.turn("later", isOn: false, at: .seconds(210)) == true)
        #expect(rules.nextDue == nil && rules.takeDue(at: .seconds(999), holds: { _, _ in true }).isEmpty)
        #expect(rules.turn("later", isOn: true, at: .seconds(1000)) == true)
        #expect(rules.takeDue(at: .seconds(1020), holds: { _, _ in false }).isEmpty)
        #expect(rules.nextDue == nil)
    }
}
