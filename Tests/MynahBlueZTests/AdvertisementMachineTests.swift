import MynahCore
import Testing

@testable import MynahBlueZ

@Suite struct AdvertisementMachineTests {
    private let first: BlueZAdvertising
    /// A live change of the first.
    private let second: BlueZAdvertising
    /// Not a live change: its scan response is empty.
    private let nameless: BlueZAdvertising

    init() throws {
        first = try BlueZAdvertising(.named("first"), keepsInterval: true)
        second = try BlueZAdvertising(.named("second"), keepsInterval: true)
        nameless = try BlueZAdvertising(Advertisement(), keepsInterval: true)
    }

    // MARK: Every event at every state

    /// A state of the machine.
    enum State: CaseIterable {
        case absent, unwanted, registering, registeringWithLink, registeringPoweredOff, registeringLost
        case onAir, changed, offAir, poweredOff, refused, released
    }

    enum Event: CaseIterable {
        case wantFirst, wantSecond, wantNameless, stop, linkBegan, linkEnded, reached, poweredOff, lost
        case released, registered, refused
    }

    /// The next step after each event, in the order of `Event.allCases`, a second after the last live change.
    private static let table: [State: String] = [
        .absent: "- - - - - - 1 - - - - -",
        .unwanted: "1 2 0 - - - - - - - - -",
        .registering: "- - - - - - - - - - - -",
        .registeringWithLink: "- - - - - - - - - - u -",
        .registeringPoweredOff: "- - - - - - - - - - - -",
        .registeringLost: "- - - - - - - - - - - -",
        .onAir: "- c u u u - - - - - - -",
        .changed: "c - u u u - - - - - - -",
        .offAir: "u u u u u u u - - - u u",
        .poweredOff: "- - - - - - u - - - - -",
        .refused: "1 2 0 - - 1 1 - - - - -",
        .released: "1 2 0 - - 1 1 - - - - -",
    ]

    @Test(arguments: State.allCases)
    func `every event at every state leads to the right step`(state: State) throws {
        let row = try #require(Self.table[state]).split(separator: " ")
        for (event, expected) in zip(Event.allCases, row) {
            var machine = machine(in: state)
            apply(event, to: &machine)
            #expect(name(machine.next(at: .seconds(2))) == expected, "after \(event)")
        }
        #expect(row.count == Event.allCases.count)
    }

    private func machine(in state: State) -> AdvertisementMachine {
        var machine = AdvertisementMachine()
        if state != .absent { machine.reached() }
        if state == .unwanted { return machine }
        machine.want(first)
        guard state != .absent else { return machine }
        #expect(machine.next(at: .zero) == .register(first))
        switch state {
        case .absent, .unwanted, .registering: return machine
        case .registeringWithLink:
            machine.linkBegan()
            return machine
        case .registeringPoweredOff:
            machine.poweredOff()
            return machine
        case .registeringLost:
            machine.lost()
            return machine
        case .onAir, .changed, .offAir, .poweredOff, .refused, .released: break
        }
        #expect(machine.registered() == nil)
        switch state {
        case .changed:
            machine.want(second)
            #expect(machine.next(at: .seconds(1)) == .change(from: first, to: second))
        case .offAir: machine.linkBegan()
        case .poweredOff: machine.poweredOff()
        case .refused:
            machine.linkBegan()
            #expect(machine.next(at: .zero) == .unregister)
            #expect(machine.next(at: .zero) == .register(first))
            #expect(machine.refused() == .postponed)
        case .released:
            let heldOne = machine.released()
            #expect(heldOne)
        default: break
        }
        return machine
    }

    private func apply(_ event: Event, to machine: inout AdvertisementMachine) {
        switch event {
        case .wantFirst: machine.want(first)
        case .wantSecond: machine.want(second)
        case .wantNameless: machine.want(nameless)
        case .stop: machine.stop()
        case .linkBegan: machine.linkBegan()
        case .linkEnded: machine.linkEnded()
        case .reached: machine.reached()
        case .poweredOff: machine.poweredOff()
        case .lost: machine.lost()
        case .released: _ = machine.released()
        case .registered: _ = machine.registered()
        case .refused: _ = machine.refused()
        }
    }

    private func name(_ step: AdvertisementMachine.Step) -> Substring {
        switch step {
        case .rest: "-"
        case .register(let advertising):
            advertising == first ? "1" : advertising == second ? "2" : "0"
        case .unregister: "u"
        case .change: "c"
        case .wait: "w"
        }
    }

    /// The consequence of an answer to a registration, after each event during it.
    @Test(arguments: [
        (State.registering, AdvertisementMachine.Refusal.postponed, "-"),
        (.registeringWithLink, .postponed, "-"),
        (.registeringPoweredOff, .overtaken, "1"), (.registeringLost, .overtaken, "1"),
    ])
    func `a refusal after an earlier success counts if the adapter stayed`(
        state: State, refusal: AdvertisementMachine.Refusal, next: String
    ) {
        var machine = machine(in: .offAir)
        #expect(machine.next(at: .zero) == .unregister)
        #expect(machine.next(at: .zero) == .register(first))
        switch state {
        case .registeringWithLink: machine.linkBegan()
        case .registeringPoweredOff: machine.poweredOff()
        case .registeringLost: machine.lost()
        default: break
        }
        if refusal == .overtaken { machine.reached() }
        #expect(machine.refused() == refusal)
        #expect(name(machine.next(at: .zero)) == next)
    }

    @Test(arguments: [
        State.registering, .registeringWithLink, .registeringPoweredOff, .registeringLost,
    ])
    func `an advertisement that never worked is given up`(state: State) {
        var machine = machine(in: state)
        #expect(machine.refused() == .givenUp)
        #expect(machine.wanted == nil)
        machine.reached()
        #expect(machine.next(at: .zero) == .rest)
    }

    // MARK: Sequences

    @Test func `an unregistration waits until bluetoothd has carried a change out`() {
        var machine = machine(in: .changed)
        machine.stop()
        #expect(machine.next(at: .milliseconds(1100)) == .wait(.milliseconds(200)))
        #expect(machine.next(at: .milliseconds(1300)) == .unregister)
        #expect(machine.next(at: .milliseconds(1300)) == .rest)
    }

    @Test func `without a change before it an unregistration is sent at once`() {
        var machine = machine(in: .onAir)
        machine.stop()
        #expect(machine.next(at: .zero) == .unregister)
    }

    @Test func `when a central connects the advertisement is registered again`() {
        var machine = machine(in: .onAir)
        machine.linkBegan()
        #expect(machine.held == first)
        #expect(machine.next(at: .zero) == .unregister)
        #expect(machine.next(at: .zero) == .register(first))
        #expect(machine.registered() == nil)
        #expect(machine.next(at: .zero) == .rest)
    }

    @Test func `a refused advertisement is registered when a link ends, and its return is reported`() {
        var machine = machine(in: .refused)
        machine.linkEnded()
        #expect(machine.next(at: .zero) == .register(first))
        #expect(machine.registered() == first)
        #expect(machine.held == first)
    }

    @Test func `an advertisement that bluetoothd released is not forced on it`() {
        var machine = machine(in: .released)
        let heldOne = machine.released()
        #expect(!heldOne)
        machine.want(second)
        #expect(machine.next(at: .zero) == .register(second))
        #expect(machine.registered() == second)
    }

    @Test func `the answer to a registration that was lost does not count`() {
        var machine = machine(in: .registeringLost)
        #expect(machine.registered() == nil)
        #expect(machine.held == nil)
        machine.reached()
        #expect(machine.next(at: .zero) == .register(first))
    }

    @Test func `after a power cycle the advertisement is registered again`() {
        var machine = machine(in: .poweredOff)
        #expect(machine.next(at: .zero) == .rest)
        machine.reached()
        #expect(machine.next(at: .zero) == .unregister)
        #expect(machine.next(at: .zero) == .register(first))
    }
}
