import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// Two of our hosts that pair over the air of one process.
@Suite(.timeLimit(.minutes(15))) struct PairingRadioTests {
    @Test(arguments: [
        (IOCapability.noInputNoOutput, IOCapability.noInputNoOutput, true, ["device agrees"], false),
        (.noInputNoOutput, .noInputNoOutput, false, ["device agrees"], false),
        (.displayOnly, .keyboardOnly, true, ["device shows", "phone types"], true),
        (.displayOnly, .keyboardOnly, false, ["device shows", "phone types"], true),
        (.keyboardOnly, .displayOnly, true, ["device types", "phone shows"], true),
        (.keyboardOnly, .displayOnly, false, ["device types", "phone shows"], true),
        (.keyboardOnly, .keyboardOnly, true, ["device types", "phone types"], true),
        (.displayYesNo, .displayYesNo, true, ["device compares", "phone compares"], true),
    ])
    func `each method pairs, and opens what it is good for`(
        device: IOCapability, phone: IOCapability, isSecure: Bool, asked: [String], isAuthenticated: Bool
    ) async throws {
        var options = HostRadio.Options()
        options.hasSecureConnections = isSecure
        let rig = try await SecureRig(device: device, phone: phone, deviceOptions: options)
        if device == phone { rig.user.state.withLock { $0.ownNumber = 123_456 } }
        let peer = try await rig.connect()
        for characteristic in [rig.encrypted, rig.authenticated, rig.secure] {
            #expect(try await rig.refusal(of: characteristic, peer) == 0x05)
        }
        try await rig.phone.pair(peer)
        try await rig.deviceSink.wait(for: "paired")
        #expect(rig.phoneSink.all.contains("paired"))
        #expect(rig.user.asked.sorted() == asked)
        #expect(rig.user.state.withLock { Set($0.compared).count } <= 1)
        #expect(try await rig.refusal(of: rig.encrypted, peer) == nil)
        #expect(try await rig.refusal(of: rig.authenticated, peer) == (isAuthenticated ? nil : 0x05))
        #expect(try await rig.refusal(of: rig.secure, peer) == (isAuthenticated && isSecure ? nil : 0x05))
        let security = try #require(await rig.device.onlySecurity)
        #expect(security.isEncrypted && security.isBonded && security.keySize == 16)
        #expect(security.isSecureConnections == isSecure && security.isAuthenticated == isAuthenticated)
        #expect(rig.deviceSink.lastPeer?.isPaired == true)
        #expect(rig.deviceSink.lastPeer?.address == rig.phoneAddress)

        // Again, by the bond.
        try await rig.disconnect(peer)
        let again = try await rig.connect()
        #expect(rig.deviceSink.lastPeer?.isPaired == true && rig.phoneSink.lastPeer?.isPaired == true)
        #expect(try await rig.refusal(of: rig.encrypted, again) == 0x0F)
        try await rig.phone.pair(again)
        #expect(try await rig.refusal(of: rig.encrypted, again) == nil)
        #expect(try await rig.refusal(of: rig.secure, again) == (isAuthenticated && isSecure ? nil : 0x05))
        #expect(rig.user.asked.sorted() == asked)
        #expect(rig.deviceSink.all.count { $0 == "paired" } == 1)
        // A secured link is not secured again.
        try await rig.phone.pair(again)
        await rig.stop()
    }

    @Test func `a wrong passkey is an error that says so, and nothing is kept`() async throws {
        // On a clock that does not move, however busy the machine is.
        let rig = try await SecureRig(device: .displayOnly, phone: .keyboardOnly, clock: ManualClock())
        rig.user.state.withLock { $0.slip = 1 }
        let peer = try await rig.connect()
        let error = await #expect(throws: RadioError.self) { try await rig.phone.pair(peer) }
        #expect(error?.code == .pairingFailed)
        try await rig.deviceSink.wait(for: "warning pairingFailed")
        #expect(await rig.device.bonds.bonds.isEmpty)
        #expect(await rig.phone.bonds.bonds.isEmpty)
        #expect(try await rig.refusal(of: rig.encrypted, peer) == 0x05)
        // At once again is too soon.
        let second = await #expect(throws: RadioError.self) { try await rig.phone.pair(peer) }
        #expect(second?.message.contains("Repeated Attempts") == true)
        await rig.stop()
    }

    @Test func `a user that declines, or reports different numbers, does not pair`() async throws {
        for capability in [IOCapability.noInputNoOutput, .displayYesNo] {
            let rig = try await SecureRig(device: capability, phone: capability)
            rig.user.state.withLock { ($0.consents, $0.agrees) = (false, false) }
            let peer = try await rig.connect()
            await #expect(throws: RadioError.self) { try await rig.phone.pair(peer) }
            #expect(await rig.device.bonds.bonds.isEmpty)
            #expect(!rig.deviceSink.all.contains("paired"))
            await rig.stop()
        }
    }

    @Test func `a device asks for security, and the phone pairs, and later encrypts`() async throws {
        let rig = try await SecureRig()
        let first = try await rig.connect()
        // The device hears of it a moment later.
        try await until("the device knows the phone") { rig.deviceSink.lastPeer != nil }
        let central = try #require(rig.deviceSink.lastPeer?.id)
        try await rig.device.pair(central)
        #expect(rig.phoneSink.all.contains("paired"))
        try await rig.disconnect(first)
        let again = try await rig.connect()
        try await rig.device.pair(try #require(rig.deviceSink.lastPeer?.id))
        #expect(try await rig.refusal(of: rig.encrypted, again) == nil)
        #expect(rig.deviceSink.all.count { $0 == "paired" } == 1)
        await rig.stop()
    }

    @Test func `a bond that one side has forgotten is an error, until both have`() async throws {
        let rig = try await SecureRig()
        let peer = try await rig.connect()
        try await rig.phone.pair(peer)
        try await rig.deviceSink.wait(for: "paired")
        try await rig.disconnect(peer)
        await rig.device.forgetBond(with: rig.phoneAddress)
        let again = try await rig.connect()
        #expect(try await rig.refusal(of: rig.encrypted, again) == 0x05)
        let error = await #expect(throws: RadioError.self) { try await rig.phone.pair(again) }
        #expect(error?.message == "\(rig.address) no longer has the bond")
        await rig.phone.forgetBond(with: rig.address)
        try await rig.phone.pair(again)
        #expect(try await rig.refusal(of: rig.encrypted, again) == nil)
        await rig.stop()
    }

    @Test func `a link that ends amid pairing ends it, and a late answer answers nothing`() async throws {
        let rig = try await SecureRig()
        rig.user.state.withLock { $0.holds = true }
        let peer = try await rig.connect()
        let pairing = Task { try await rig.phone.pair(peer) }
        try await until("the user of the device is asked") { rig.user.asked == ["device agrees"] }
        await rig.phone.disconnect(peer)
        let error = await #expect(throws: RadioError.self) { try await pairing.value }
        #expect(error?.code == .disconnected)
        try await rig.deviceSink.wait(for: "disconnected")
        let again = try await rig.connect()
        let replies = rig.user.state.withLock { state in
            defer { (state.held, state.holds) = ([], false) }
            return state.held
        }
        for reply in replies { reply.answer(.agreed) }
        try await rig.phone.pair(again)
        #expect(try await rig.refusal(of: rig.encrypted, again) == nil)
        await rig.stop()
    }

    @Test func `a device that does not pair says so`() async throws {
        var options = HostRadio.Options()
        options.isPairable = false
        let rig = try await SecureRig(deviceOptions: options)
        let peer = try await rig.connect()
        let error = await #expect(throws: RadioError.self) { try await rig.phone.pair(peer) }
        #expect(error?.message.hasSuffix("the peripheral refused: Pairing Not Supported") == true)
        await rig.stop()
    }
}
