import MynahCore
import Testing

@testable import MynahBlueZ

@Suite struct AdvertisementMachineTests {
    private let first: BlueZAdvertising
    private let second: BlueZAdvertising

    init() throws {
        first = try BlueZAdvertising(.named("first"), keepsInterval: true)
        second = try BlueZAdvertising(.named("second"), keepsInterval: true)
    }

    /// One that has registered the first.
    private func registered() -> AdvertisementMachine {
        var machine = AdvertisementMachine()
        machine.reached()
        machine.want(first)
        #expect(machine.next(at: .zero) == .register(first))
        #expect(machine.registered() == false)
        #expect(machine.next(at: .zero) == .rest)
        return machine
    }

    @Test func `nothing is done before the daemon is there`() {
        var machine = AdvertisementMachine()
        machine.want(first)
        #expect(machine.next(at: .zero) == .rest)
        machine.reached()
        #expect(machine.next(at: .zero) == .register(first))
    }

    @Test func `a change is a signal, and what follows it at once has to wait`() {
        var machine = registered()
        machine.want(second)
        #expect(machine.next(at: .seconds(1)) == .change(from: first, to: second))
        machine.want(nil)
        #expect(machine.next(at: .milliseconds(1100)) == .wait(.milliseconds(200)))
        #expect(machine.next(at: .milliseconds(1300)) == .unregister)
        #expect(machine.next(at: .milliseconds(1300)) == .rest)
    }

    @Test func `without a change before it an unregistration goes out at once`() {
        var machine = registered()
        machine.want(nil)
        #expect(machine.next(at: .zero) == .unregister)
    }

    @Test func `when a central connects it is registered anew`() {
        var machine = registered()
        machine.stoppedOnAir()
        #expect(machine.next(at: .zero) == .unregister)
        #expect(machine.next(at: .zero) == .register(first))
        _ = machine.registered()
        #expect(machine.next(at: .zero) == .rest)
    }

    @Test func `a central that connects during a registration makes it start again`() {
        var machine = AdvertisementMachine()
        machine.reached()
        machine.want(first)
        _ = machine.next(at: .zero)
        machine.stoppedOnAir()
        _ = machine.registered()
        #expect(machine.next(at: .zero) == .unregister)
        #expect(machine.next(at: .zero) == .register(first))
    }

    @Test func `one that never worked is given up`() {
        var machine = AdvertisementMachine()
        machine.reached()
        machine.want(first)
        _ = machine.next(at: .zero)
        #expect(machine.refused() == .givenUp)
        #expect(machine.wanted == nil)
        #expect(machine.next(at: .zero) == .rest)
    }

    @Test func `one that worked before is tried again when a link ends, and says that it is back`() {
        var machine = registered()
        machine.stoppedOnAir()
        _ = machine.next(at: .zero)
        _ = machine.next(at: .zero)
        #expect(machine.refused() == .postponed)
        #expect(machine.next(at: .zero) == .rest)
        machine.tryAgain()
        #expect(machine.next(at: .zero) == .register(first))
        #expect(machine.registered() == true)
    }

    @Test func `a power cycle leaves a dead one behind, which is registered anew`() {
        var machine = registered()
        machine.poweredOff()
        #expect(machine.next(at: .zero) == .rest)
        machine.reached()
        #expect(machine.next(at: .zero) == .unregister)
        #expect(machine.next(at: .zero) == .register(first))
    }

    @Test func `a refusal that comes when the adapter is back on, of a time before, is tried again at once`()
    {
        var machine = registered()
        machine.stoppedOnAir()
        #expect(machine.next(at: .zero) == .unregister)
        #expect(machine.next(at: .zero) == .register(first))
        machine.poweredOff()
        machine.reached()
        #expect(machine.refused() == .overtaken)
        #expect(machine.next(at: .zero) == .register(first))
        #expect(machine.refused() == .postponed)
        #expect(machine.next(at: .zero) == .rest)
    }

    @Test func `a daemon that goes takes it along, and an answer that comes after that does not count`() {
        var machine = registered()
        machine.stoppedOnAir()
        _ = machine.next(at: .zero)
        _ = machine.next(at: .zero)
        machine.forget()
        #expect(machine.refused() == .overtaken)
        #expect(machine.registered() == false)
        #expect(machine.held == .nothing)
        machine.reached()
        #expect(machine.next(at: .zero) == .register(first))
    }

    @Test func `one that the daemon lets go is not forced on it`() {
        var machine = registered()
        machine.released()
        #expect(machine.next(at: .zero) == .rest)
        machine.want(second)
        #expect(machine.next(at: .zero) == .register(second))
        #expect(machine.registered() == true)
    }
}
