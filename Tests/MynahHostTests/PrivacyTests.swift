import Mynah
import MynahCore
import MynahHCI
import MynahLifecycle
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

@Suite(.timeLimit(.minutes(15))) struct PrivacyTests {
    static func options(_ policy: AddressPolicy) -> HostRadio.Options {
        var options = HostRadio.Options()
        options.address = policy
        return options
    }

    @Test func `a central with private addresses is known by its identity once it is bonded`() async throws {
        let rig = try await SecureRig(phoneOptions: Self.options(.resolvablePrivate()))
        let peer = try await rig.connect()
        // The device hears of it a moment later.
        try await until("the device knows the phone") { rig.deviceSink.lastPeer != nil }
        let first = try #require(rig.deviceSink.lastPeer?.address)
        #expect(first.isResolvable && first != rig.phoneAddress)
        try await rig.phone.pair(peer)
        try await rig.deviceSink.wait(for: "paired")
        #expect(rig.deviceSink.lastPeer?.address == rig.phoneAddress)
        try await rig.disconnect(peer)
        let again = try await rig.connect()
        #expect(rig.deviceSink.lastPeer?.address == rig.phoneAddress)
        #expect(rig.deviceSink.lastPeer?.isPaired == true)
        try await rig.phone.pair(again)
        #expect(try await rig.refusal(of: rig.encrypted, again) == nil)
        await rig.stop()
    }

    @Test func `a device's address changes with time, and who is bonded finds it by its identity`()
        async throws
    {
        let clock = ManualClock()
        var options = Self.options(.resolvablePrivate())
        // The clock jumps during commands.
        options.commandTimeout = .seconds(100_000)
        let rig = try await SecureRig(deviceOptions: options, clock: clock)
        let first = try #require(await rig.device.ownAddress)
        #expect(first.isResolvable)
        try await rig.phone.scan(ScanOptions())
        try await until("the phone hears the first address") { rig.phoneSink.heard.contains(first) }
        #expect(!rig.phoneSink.heard.contains(rig.address))
        let peer = try await rig.phone.connect(first, timeout: .seconds(20)).id
        try await rig.phone.pair(peer)
        try await rig.disconnect(peer)

        // One less than 15 minutes, and then that one.
        clock.advance(by: .seconds(899))
        #expect(await rig.device.ownAddress == first)
        try await until("the device has a second private address") {
            clock.advance(by: .seconds(1))
            return await rig.device.ownAddress != first
        }
        let second = try #require(await rig.device.ownAddress)
        #expect(second.isResolvable)
        #expect(await PrivateAddress.resolves(second, with: rig.device.bonds.identityResolvingKey))
        try await until("the phone resolves the second address") {
            await rig.phone.addressOnAir(of: rig.address) == second
        }
        // The new address is reported with what is on the air.
        try await until("the device reports its second address") {
            rig.deviceSink.reports.last?.address == second
        }
        #expect(rig.deviceSink.reports.count == 1 && rig.deviceSink.reports[0].isOn)
        #expect(await rig.device.session.advertiser.announced == rig.deviceSink.reports[0])
        #expect(rig.phoneSink.heard.contains(rig.address) && !rig.phoneSink.heard.contains(second))
        #expect(rig.phoneSink.resolved.withLock { $0 }.contains(second))
        let again = try await rig.connect()
        try await rig.phone.pair(again)
        #expect(try await rig.refusal(of: rig.encrypted, again) == nil)
        try await until("the device has a third private address") {
            clock.advance(by: .seconds(60))
            return await rig.device.ownAddress != second
        }
        await rig.stop()
    }

    /// A device that is bonded, whose address has changed since, and which is not on the air now.
    static func hiddenDevice() async throws -> (SecureRig, ManualClock, first: DeviceAddress) {
        let clock = ManualClock()
        var options = Self.options(.resolvablePrivate())
        options.commandTimeout = .seconds(100_000)
        let rig = try await SecureRig(deviceOptions: options, clock: clock)
        let first = try #require(await rig.device.ownAddress)
        let peer = try await rig.phone.connect(first, timeout: .seconds(20)).id
        try await rig.phone.pair(peer)
        try await rig.deviceSink.wait(for: "paired")
        try await rig.disconnect(peer)
        await rig.device.stopAdvertising()
        try await until("the device has a second private address") {
            clock.advance(by: .seconds(60))
            return await rig.device.ownAddress != first
        }
        return (rig, clock, first)
    }

    static var quick: Advertisement {
        var advertisement = Advertisement()
        advertisement.interval = .milliseconds(20)
        return advertisement
    }

    @Test(arguments: [false, true])
    func `a pending connection finds a bonded device at a new private address`(
        byOldAddress: Bool
    ) async throws {
        let (rig, clock, first) = try await Self.hiddenDevice()
        let wanted = byOldAddress ? first : rig.address
        async let waiting = rig.phone.connect(wanted, timeout: .seconds(30))
        try await until("the phone listens for the bonded device") {
            await rig.phone.session.scanner.scanning != nil
        }
        // It changes once more, while it is waited for.
        let second = await rig.device.ownAddress
        var silent = Self.quick
        silent.isConnectable = false
        _ = try await rig.device.advertise(silent)
        try await until("the phone resolves the second address") {
            await rig.phone.addressOnAir(of: rig.address) == second
        }
        await rig.device.stopAdvertising()
        try await until("the device has a third private address") {
            clock.advance(by: .seconds(60))
            return await rig.device.ownAddress != second
        }
        _ = try await rig.device.advertise(Self.quick)
        let peer = try await waiting
        #expect(peer.address == rig.address && peer.isPaired)
        try await rig.phone.pair(peer.id)
        #expect(try await rig.refusal(of: rig.encrypted, peer.id) == nil)
        try await until("the phone no longer listens for the bonded device") {
            await rig.phone.session.scanner.scanning == nil
        }
        #expect(rig.phoneSink.heard.isEmpty)
        await rig.stop()
    }

    @Test func `a scan goes on as it was asked for while a bonded device is waited for`() async throws {
        let (rig, _, _) = try await Self.hiddenDevice()
        let options = ScanOptions(isActive: false)
        try await rig.phone.scan(options)
        async let waiting = rig.phone.connect(rig.address, timeout: .seconds(30))
        try await until("the phone follows the bonded device") {
            await rig.phone.session.scanner.isFollowing
        }
        #expect(await rig.phone.session.scanner.scanning == options)
        await rig.phone.stopScan()
        #expect(await rig.phone.session.scanner.scanning != nil)
        try await rig.phone.scan(options)
        _ = try await rig.device.advertise(Self.quick)
        _ = try await waiting
        #expect(await rig.phone.session.scanner.scanning == options)
        await rig.stop()
    }

    @Test func `a peripheral that was paired with is the same one by its identity`() async throws {
        let clock = ManualClock()
        var options = Self.options(.resolvablePrivate())
        options.commandTimeout = .seconds(100_000)
        let rig = try await SecureRig(deviceOptions: options, clock: clock)
        await rig.phone.stop()
        let manager = CentralManager(radio: rig.phone)
        try await manager.start()
        let first = try #require(await rig.device.ownAddress)
        let strap = await manager.peripheral(at: first)
        try await manager.connect(strap, timeout: nil)
        try await strap.pair()
        try await until("the manager knows the strap by its identity address") {
            await manager.peripheral(at: rig.address) === strap
        }
        await manager.cancelPeripheralConnection(strap)
        try await rig.deviceSink.wait(for: "disconnected")
        try await until("the device has another private address") {
            clock.advance(by: .seconds(60))
            return await rig.device.ownAddress != first
        }
        try await manager.connect(strap, timeout: .seconds(30))
        #expect(await strap.isConnected)
        await manager.stop()
        await rig.device.stop()
    }

    @Test func `a pending connection finds a bonded device whose private address changes meanwhile`()
        async throws
    {
        let clock = ManualClock()
        var options = Self.options(.resolvablePrivate())
        options.commandTimeout = .seconds(100_000)
        let rig = try await SecureRig(deviceOptions: options, clock: clock)
        await rig.phone.stop()
        let manager = CentralManager(radio: rig.phone)
        try await manager.start()
        let strap = await manager.peripheral(at: try #require(await rig.device.ownAddress))
        try await manager.connect(strap, timeout: nil)
        try await strap.pair()
        await manager.cancelPeripheralConnection(strap)
        try await rig.deviceSink.wait(for: "disconnected")
        await rig.device.stopAdvertising()
        try await manager.connect(strap)
        for _ in 0..<2 {
            let before = await rig.device.ownAddress
            try await until("the device has another private address") {
                clock.advance(by: .seconds(60))
                return await rig.device.ownAddress != before
            }
        }
        #expect(await strap.state == .connecting)
        _ = try await rig.device.advertise(Self.quick)
        try await until("the strap is connected") { await strap.isConnected }
        await manager.stop()
        await rig.device.stop()
    }

    @Test func `an address that the controller does not take now is tried again`() async throws {
        let controller = ScriptedController()
        let clock = ManualClock()
        let radio = HostRadio(
            transport: controller, options: Self.options(.resolvablePrivate(every: .seconds(60))),
            clock: clock)
        _ = try await radio.start(DeviceIdentity(name: "Mynah"), sink: HostSink())
        _ = try await radio.advertise(Advertisement())
        #expect(controller.state.withLock { $0.parameters(of: .leSetAdvertisingParameters)[0][5] } == 1)
        let opcode = HCIOpcode.leSetRandomAddress.rawValue
        controller.state.withLock { $0.refused[opcode] = 0x0C }
        let first = await radio.ownAddress
        clock.advance(by: .seconds(60))
        try await controller.wait("advertising is on, off and on again") {
            $0.parameters(of: .leSetAdvertisingEnable) == [[1], [0], [1]]
        }
        #expect(await radio.ownAddress == first)
        controller.state.withLock { $0.refused = [:] }
        try await HostRig.wait(for: .addressRotation, of: radio, clock)
        clock.advance(by: .seconds(10))
        try await controller.wait("the third random address is set") {
            $0.parameters(of: .leSetRandomAddress).count == 3
        }
        try await until("the radio has another address") { await radio.ownAddress != first }
        await radio.stop()
    }

    @Test func `each policy has its address, and one that cannot be is an error that says so`() async throws {
        func start(_ policy: AddressPolicy, isPublic: Bool = true) async throws -> (
            DeviceAddress?, DeviceAddress?
        ) {
            let controller = ScriptedController()
            controller.state.withLock { $0.hasPublicAddress = isPublic }
            let radio = HostRadio(transport: controller, options: Self.options(policy))
            _ = try await radio.start(DeviceIdentity(name: "Mynah"), sink: HostSink())
            return await (radio.ownAddress, radio.session.address.identity)
        }
        let ours = try #require(DeviceAddress("06:05:04:03:02:01", kind: .public))
        let fixed = try #require(DeviceAddress("C1:02:03:04:05:06", kind: .random))
        let other = try #require(DeviceAddress("41:02:03:04:05:06", kind: .random))
        #expect(try await start(.automatic) == (ours, ours))
        #expect(try await start(.public) == (ours, ours))
        #expect(try await start(.fixed(fixed)) == (fixed, fixed))
        let (made, identity) = try await start(.automatic, isPublic: false)
        #expect(made == identity && made?.isIdentity == true && made?.kind == .random)
        let (hidden, known) = try await start(.resolvablePrivate())
        #expect(hidden?.isResolvable == true && known == ours)
        await #expect(throws: RadioError.self) { try await start(.public, isPublic: false) }
        await #expect(throws: RadioError.self) { try await start(.fixed(other)) }
    }

    @Test func `an address of its own stays where bonds are kept`() async throws {
        let temporary = try TemporaryDirectory()
        var addresses: [DeviceAddress?] = []
        for _ in 0..<2 {
            let controller = ScriptedController()
            controller.state.withLock { $0.hasPublicAddress = false }
            let radio = HostRadio(
                transport: controller, options: .keeping(temporary.path + "/bonds.json"))
            _ = try await radio.start(DeviceIdentity(name: "Mynah"), sink: HostSink())
            addresses.append(await radio.ownAddress)
            await radio.stop()
        }
        #expect(addresses[0] == addresses[1] && addresses[0]?.isIdentity == true)
    }
}
