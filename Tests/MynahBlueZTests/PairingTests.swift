import MynahBlueZ
import MynahBlueZStandIn
import MynahCore
import MynahDBus
import MynahTestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct PairingTests {
    private func connected(_ capability: IOCapability) async throws -> (Rig, VirtualCentral) {
        let rig = try await Rig(identity: DeviceIdentity(name: "Mynah", ioCapability: capability))
        try await rig.radio.advertise(.named("Mynah"))
        let phone = await rig.standIn.central()
        try await phone.connect()
        try await rig.sink.wait(for: "connected")
        return (rig, phone)
    }

    @Test(arguments: [
        (IOCapability.noInputNoOutput, "pairing agree"), (.displayOnly, "pairing display(123456)"),
        (.displayYesNo, "pairing compare(123456)"), (.keyboardDisplay, "pairing compare(123456)"),
    ])
    func `a device pairs as it can, and agrees unless told otherwise`(
        capability: IOCapability, step: String
    ) async throws {
        let (rig, phone) = try await connected(capability)
        try await phone.pair(passkey: 123_456)
        try await rig.sink.wait(for: "paired")
        #expect(rig.sink.words("pairing") == [step])
        #expect(rig.sink.words("paired").count == 1)
        #expect(await rig.violations() == [])
    }

    @Test func `a number that the phone shows is typed`() async throws {
        let (rig, phone) = try await connected(.keyboardOnly)
        rig.sink.answer { event in
            guard case .pairing(_, .enter) = event else { return .none }
            return .pairing(.passkey(123_456))
        }
        try await phone.pair(passkey: 123_456)
        #expect(rig.sink.words("pairing") == ["pairing enter"])
        #expect(await rig.violations() == [])
    }

    @Test func `with two radios each pairs on its own adapter`() async throws {
        let rig = try await Rig(
            StandInConfiguration(
                .bookworm, adapters: [.init(), .init("hci1", address: "00:AA:01:00:00:43")]))
        try await rig.radio.advertise(.named("Mynah"))
        var options = BlueZRadio.Options()
        options.bus = .address(rig.bus.address)
        options.adapter = "hci1"
        let other = BlueZRadio(options: options)
        let otherSink = TestSink()
        // From now on it is the agent of both.
        _ = try await other.start(DeviceIdentity(name: "other"), sink: otherSink)
        let phone = await rig.standIn.central()
        try await phone.connect()
        try await phone.pair()
        try await rig.sink.wait(for: "paired")
        #expect(rig.sink.words("pairing") == ["pairing agree"])
        #expect(otherSink.words == ["state poweredOn"])
        await other.stop()
        #expect(await rig.violations() == [])
    }

    @Test(arguments: [nil, .declined, .agreed, .passkey(1_000_000)] as [PairingAnswer?])
    func `no number, or one of seven digits, is no pairing`(answer: PairingAnswer?) async throws {
        let (rig, phone) = try await connected(.keyboardOnly)
        rig.sink.answer { event in
            guard case .pairing = event, let answer else { return .none }
            return .pairing(answer)
        }
        #expect(await attError { () async throws(ATTFailure) in try await phone.pair(passkey: 1) } == 0x05)
        #expect(rig.sink.words("paired") == [])
        #expect(await rig.violations() == [])
    }

    @Test(arguments: [IOCapability.noInputNoOutput, .displayYesNo])
    func `a device can refuse, later too`(capability: IOCapability) async throws {
        let (rig, phone) = try await connected(capability)
        rig.sink.answer { event in
            guard case .pairing = event else { return .none }
            let reply = PendingPairingReply()
            reply.answer(.declined)
            return .pairingLater(reply.pending)
        }
        #expect(await attError { () async throws(ATTFailure) in try await phone.pair() } == 0x05)
        #expect(rig.sink.words("paired") == [])
        #expect(await rig.violations() == [])
    }

    @Test func `a bond that was made with this device is deleted with its link`() async throws {
        let (rig, phone) = try await connected(.noInputNoOutput)
        let address = try #require(DeviceAddress("F0:F1:F2:F3:F4:F5", kind: .random))
        #expect(await rig.radio.bondedAddresses == [])
        try await phone.pair()
        try await rig.sink.wait(for: "paired")
        #expect(await rig.radio.bondedAddresses == [address])
        #expect(try await rig.radio.forgetBond(with: address))
        try await rig.sink.wait(for: "disconnected")
        try await until("the device is gone") { await rig.radio.bondedAddresses == [] }
        #expect(try await !rig.radio.forgetBond(with: address))
        await #expect(throws: RadioError.self) {
            try await rig.radio.disconnect(Peer.ID(1), reason: 0x15)
        }
        #expect(await rig.violations() == [])
    }
}
