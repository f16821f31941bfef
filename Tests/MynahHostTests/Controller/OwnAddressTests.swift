import MynahCore
import MynahHCI
import Testing

@testable import MynahHost

@Suite struct OwnAddressTests {
    static let home = DeviceAddress(value: 0x0102_0304_0506, kind: .public)
    static let fixed = DeviceAddress(value: 0xC102_0304_0506, kind: .random)

    static func source(_ policy: AddressPolicy, isPublic: Bool = true) -> OwnAddress.Source {
        var random = SecurityRandom()
        return OwnAddress.Source(
            policy: policy, publicAddress: isPublic ? home : nil, staticAddress: { fixed },
            resolvingKey: SecretKey(from: &random))
    }

    static func chosen(_ source: OwnAddress.Source) throws -> OwnAddress {
        var machine = OwnAddress()
        try machine.choose(source, at: .zero)
        return machine
    }

    @Test func `each policy has its address`() throws {
        var machine = try Self.chosen(Self.source(.automatic))
        #expect(machine.current == Self.home && machine.next(isQuiet: true) == nil && machine.due == nil)
        machine = try Self.chosen(Self.source(.automatic, isPublic: false))
        #expect(machine.current == nil && machine.identity == Self.fixed)
        #expect(machine.next(isQuiet: false) == Self.fixed)
        #expect(machine.next(isQuiet: false) == nil)
        let isChanged = machine.finished(.done, at: .zero)
        #expect(isChanged && machine.current == Self.fixed)
        machine = try Self.chosen(Self.source(.fixed(Self.fixed)))
        #expect(machine.next(isQuiet: false) == Self.fixed)
        machine = try Self.chosen(Self.source(.resolvablePrivate()))
        #expect(machine.identity == Self.home)
        #expect(machine.next(isQuiet: false)?.isResolvable == true)
    }

    @Test func `an address that the controller cannot have is an error`() {
        #expect(throws: RadioError.self) { try Self.chosen(Self.source(.public, isPublic: false)) }
        let notStatic = DeviceAddress(value: 0x4102_0304_0506, kind: .random)
        #expect(throws: RadioError.self) { try Self.chosen(Self.source(.fixed(notStatic))) }
    }

    /// A machine whose first private address is set, and which changes it every minute.
    private func rotating() throws -> OwnAddress {
        var machine = try Self.chosen(Self.source(.resolvablePrivate(every: .seconds(60))))
        _ = machine.next(isQuiet: true)
        _ = machine.finished(.done, at: .zero)
        #expect(machine.due == .seconds(60) && !machine.needsQuiet)
        return machine
    }

    @Test func `a change waits until the controller is quiet, and the next is due one interval later`() throws
    {
        var machine = try rotating()
        let first = machine.current
        machine.expire(at: .seconds(59))
        #expect(!machine.needsQuiet)
        machine.expire(at: .seconds(60))
        #expect(machine.needsQuiet && machine.due == nil)
        #expect(machine.next(isQuiet: false) == nil)
        let step = machine.next(isQuiet: true)
        let next = try #require(step)
        #expect(next != first && next.isResolvable && machine.current == first)
        let isChanged = machine.finished(.done, at: .seconds(61))
        #expect(isChanged && machine.current == next && !machine.needsQuiet)
        #expect(machine.due == .seconds(120))
    }

    @Test func `a change that the controller refuses is tried again soon`() throws {
        var machine = try rotating()
        let first = machine.current
        machine.expire(at: .seconds(60))
        _ = machine.next(isQuiet: true)
        let isChanged = machine.finished(.refused(.commandDisallowed), at: .seconds(61))
        #expect(!isChanged && machine.current == first && !machine.needsQuiet)
        #expect(machine.due == .seconds(71))
        machine.expire(at: .seconds(70))
        #expect(!machine.needsQuiet)
        machine.expire(at: .seconds(71))
        let step = machine.next(isQuiet: true)
        #expect(step != nil)
    }

    @Test func `a controller that is lost during a change leaves nothing to wait for`() throws {
        var machine = try rotating()
        machine.expire(at: .seconds(60))
        machine.ended()
        #expect(!machine.needsQuiet && machine.due == nil && machine.next(isQuiet: true) == nil)
        let isChanged = machine.finished(.done, at: .seconds(61))
        #expect(!isChanged)
    }
}
