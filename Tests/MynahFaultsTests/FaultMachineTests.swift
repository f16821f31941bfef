import MynahCore
import MynahSupport
import Testing

@testable import MynahFaults

/// The actions that follow from operations, events and times, without a radio.
@Suite struct FaultMachineTests {
    private static let first = Peer(id: Peer.ID(1), address: DeviceAddress(value: 0xA1, kind: .random))
    private static let second = Peer(id: Peer.ID(2), address: DeviceAddress(value: 0xA2, kind: .random))
    private static let key = AttributeKey()

    /// A machine of a radio that runs.
    private static func machine(_ faults: Fault...) throws -> FaultMachine {
        var machine = FaultMachine(faults, seed: 1, support: .ownHost, asksBelow: false) { _, _ in true }
        try machine.start(RadioCapabilities(name: "R"))
        _ = machine.start(at: .zero)
        return machine
    }

    private static func connect(
        _ peer: Peer, _ machine: inout FaultMachine, at now: Duration = .zero
    ) -> [String] {
        _ = machine.note(.connected(peer))
        return text(machine.follow(.connected(peer), at: now))
    }

    private static func text(_ actions: [FaultAction]) -> [String] {
        actions.map { action in
            switch action {
            case .report(let firing): "applied \(firing.fault)"
            case .pass: "event"
            case .wait(let due, let step): "at \(due.text): \(text(step))"
            case .work(.disconnect(let id, let reason)): "disconnect \(id.rawValue) \(Hex.encode([reason]))"
            case .work(let job): "\(job)"
            case .loseBond(let id, let way): "lose \(id.map { "\($0.rawValue)" } ?? "all") \(way.rawValue)"
            case .arm(let isArmed): "arm \(isArmed)"
            case .show: "show"
            }
        }
    }

    private static func text(_ step: FaultStep) -> String {
        switch step {
        case .applyDue: "apply"
        case .carryOut(_, let name, _, _): "carry out \(name)"
        case .end(let name, let number): "end \(name) \(number)"
        case .give: "give"
        case .release(.refuse(let error), _, _): "refuse \(error)"
        case .release: "release"
        case .stopKeeping: "stop keeping"
        case .flush: "flush"
        }
    }

    @Test func `a lasting effect ends with the link of the central that it applied to`() throws {
        var change = AdvertisementChange()
        change.isConnectable = false
        var machine = try Self.machine(
            Fault(
                name: "busy", trigger: .on(.connect), selection: FaultSelection(times: 1),
                effect: .advertise(change, for: nil), endsWithLink: true))
        let wanted = Advertisement(localName: "x")
        machine.advertising.wanted = wanted
        #expect(Self.connect(Self.first, &machine) == ["applied busy", "advertiseAgain"])
        #expect(Self.connect(Self.second, &machine) == [])
        #expect(!machine.changed(wanted).isConnectable)
        func disconnect(_ peer: Peer) -> [String] {
            _ = machine.note(.disconnected(peer.id))
            return Self.text(machine.follow(.disconnected(peer.id), at: .zero))
        }
        #expect(disconnect(Self.second) == [])
        #expect(!machine.changed(wanted).isConnectable)
        #expect(disconnect(Self.first) == ["advertiseAgain"])
        #expect(machine.changed(wanted).isConnectable)
    }

    @Test func `a link ends as its fault says, and no later one of the same central`() throws {
        var machine = try Self.machine(
            .on(.connect, .init(central: .order(2)), .disconnect(reason: 0x15)),
            .on(.connect, delay: .seconds(2), .disconnect(reason: 0x13), name: "g"))
        let begun = Self.connect(Self.first, &machine)
        #expect(begun == ["applied g", "at 2 s: carry out g"])
        let both = Self.connect(Self.second, &machine, at: .seconds(1))
        #expect(both == ["applied f", "applied g", "at 3 s: carry out f"])
        let links = [Self.first, Self.second].map { machine.number(of: $0.id) }
        _ = machine.note(.disconnected(Self.first.id))
        _ = machine.note(.connected(Self.first))
        let ends = zip([Self.first, Self.second], links).flatMap { peer, link in
            machine.carryOut(
                .disconnect(reason: 0x13), by: "g", of: peer.id, link: link, at: .seconds(3))
        }
        #expect(Self.text(ends) == ["disconnect 2 13"])
    }

    @Test func `an effect ends after its time unless it was restarted, and with its fault`() throws {
        var machine = try Self.machine(.on(.connect, .vanish(for: .seconds(10))))
        let begun = Self.connect(Self.first, &machine)
        #expect(begun == ["applied f", "vanish", "at 10 s: end f 1"])
        let restarted = Self.connect(Self.second, &machine, at: .seconds(5))
        #expect(restarted == ["applied f", "at 15 s: end f 2"])
        let ends = [machine.end("f", number: 1), machine.end("f", number: 2)].map { Self.text($0) }
        #expect(ends == [[], ["reappear"]])
        _ = Self.connect(Self.first, &machine)
        let removed = machine.remove("f")?.actions
        #expect(removed.map { Self.text($0) } == ["reappear", "arm false"])
    }

    @Test func `a fault after a time applies then, and the first is waited for`() throws {
        var machine = try Self.machine()
        let later = Fault(name: "a", trigger: .after(.seconds(9)), effect: .loseBond(.reject))
        let sooner = Fault(name: "b", trigger: .after(.seconds(4)), effect: .vanish(for: nil))
        let one = try machine.add(later, at: .zero)
        #expect(Self.text(one) == ["arm true", "at 9 s: apply"])
        let other = try machine.add(sooner, at: .seconds(1))
        #expect(Self.text(other) == ["arm true", "at 5 s: apply"])
        let first = machine.applyDue(.seconds(5), at: .seconds(5))
        #expect(Self.text(first) == ["applied b", "vanish", "at 9 s: apply"])
        let second = machine.applyDue(.seconds(9), at: .seconds(9))
        #expect(Self.text(second) == ["applied a", "lose all reject"])
    }

    @Test(arguments: [
        (Fault?.none, [String](), [String]()),
        (.on(.notify, .drop), ["applied f"], []),
        (.on(.notify, .duplicate), ["applied f"], ["01 at 0 s", "01 at 0 s"]),
        (.on(.notify, .value([9])), ["applied f"], ["09 at 0 s"]),
        (.on(.notify, delay: .seconds(2)), ["applied f", "at 2 s: flush"], ["01 at 2 s"]),
        (.on(.notify, .reorder), ["applied f", "at 1250 ms: stop keeping"], []),
        (.on(.notify, .disconnect(reason: 0x13)), ["applied f", "disconnect 1 13"], []),
    ])
    func `a value waits as its fault has it`(fault: Fault?, actions: [String], waiting: [String]) throws {
        var machine = try Self.machine()
        if let fault { _ = try machine.add(fault, at: .zero) }
        #expect(machine.concernsValues(of: Self.key) == (fault != nil))
        var held = HeldValues()
        let value = HeldValues.Value(
            attribute: Self.key, bytes: [1], delivery: .asSubscribed, centrals: nil, due: .zero)
        guard case .unchanged = machine.send(value, &held) else {
            Issue.record("nobody has subscribed")
            return
        }
        _ = Self.connect(Self.first, &machine)
        _ = machine.note(.subscribed(Self.key, Self.first.id, .notification))
        guard case .held(let count, _, let isFaulty, let done) = machine.send(value, &held) else {
            #expect(fault == nil, "it goes to the radio as it is")
            return
        }
        #expect(count == 1 && isFaulty)
        #expect(Self.text(done) == actions)
        #expect(held.values.map { "\(Hex.encode($0.bytes)) at \($0.due.text)" } == waiting)
    }

    @Test func `a device that is gone misses what its radio reports, and advertises when it works`() throws {
        var machine = try Self.machine(.on(.connect, .vanish(for: nil)))
        _ = Self.connect(Self.first, &machine)
        let vanishes = [machine.advertising.vanish(), machine.advertising.vanish()]
        #expect(vanishes == [true, false])
        let reported = [machine.note(.stateChanged(.resetting)), machine.note(.disconnected(Self.first.id))]
        #expect(reported == [false, true])
        let missed = machine.advertising.isBack()
        #expect(missed.count == 1)
        _ = machine.end("f")
        let works = machine.note(.stateChanged(.poweredOn))
        #expect(works)
        let follows = (0..<2).map { _ in Self.text(machine.follow(.stateChanged(.poweredOn), at: .zero)) }
        #expect(follows == [["advertiseAgain"], []])
    }

    @Test func `a request below the sink is held up with its verdict`() throws {
        var machine = try Self.machine(
            .on(.subscribe, of: Self.key, delay: .seconds(1), .refuseSubscription))
        _ = Self.connect(Self.first, &machine)
        let refused = machine.verdict(on: .subscribe(Self.key), of: Self.first.id, at: .zero)
        #expect(refused.verdict == .hold)
        let expected = ["applied f", "event", "at 1 s: refuse 0x03 (write not permitted)"]
        #expect(Self.text(refused.actions) == expected)
        let other = machine.verdict(on: .mtu, of: Self.first.id, at: .zero)
        #expect(other.verdict == .proceed && other.actions.isEmpty)
    }
}
