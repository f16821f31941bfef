import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// Virtual controllers with the host's cipher.
@Suite(.timeLimit(.minutes(15))) struct ControllerCipherTests {
    static func configuration(_ number: UInt8) throws -> ControllerConfiguration {
        ControllerConfiguration(
            address: try VirtualRadioTests.address(number), cipher: ControllerConfiguration.aes)
    }

    @Test func `it is AES-128, as FIPS 197 shows it in C.1`() throws {
        let (key, block) = (Array(0..<16 as Range<UInt8>), Hex.decode("00112233445566778899AABBCCDDEEFF"))
        #expect(
            ControllerConfiguration.aes(key, try #require(block))
                == Hex.decode("69C4E0D86A7B0430D8CDB78070B4C55A"))
        #expect(ControllerConfiguration.aes([1], key) == nil && ControllerConfiguration.aes(key, []) == nil)
    }

    @Test func `a controller enciphers, as the specification's sample shows it`() async throws {
        let probe = HCIProbe(LiveAir().transport(try Self.configuration(1)))
        try await probe.open()
        // Core Specification, Vol 6, Part C, 1: the session key; least significant byte first on HCI.
        let key = "BF01FB9D4EF3BC36D874F5394138684C"
        let found = try await probe.command(.leEncrypt, key + "1302F1E0DFCEBDAC7968574635241302")
        #expect(Hex.encode(found) == "66C6C2278E3B8E053E7EA326521BAD99")
        probe.transport.close()
    }

    @Test func `a controller resolves an address that a host made, and tells who it is`() async throws {
        let air = LiveAir()
        var options = HostRadio.Options()
        options.address = .resolvablePrivate()
        let device = HostRadio(transport: air.transport(try Self.configuration(1)), options: options)
        _ = try await device.start(DeviceIdentity(name: "Mynah"), sink: HostSink())
        _ = try await device.advertise(PrivacyTests.quick)
        let probe = HCIProbe(air.transport(try Self.configuration(2)))
        try await probe.open()
        let identity = try VirtualRadioTests.address(1)
        let key = await device.bonds.identityResolvingKey
        let none = String(repeating: "00", count: 16)
        try await probe.command(
            .leAddDeviceToResolvingList, "00 0100000000C0" + Hex.encode(key.bytes) + none)
        try await probe.command(.leSetAddressResolutionEnable, "01")
        try await probe.command(.leSetScanParameters, "00 1000 1000 00 00")
        try await probe.command(.leSetScanEnable, "01 00")
        let heard = try await probe.event("an advertising report") { content -> DeviceAddress? in
            guard case .advertisingReports(let reports) = content else { return nil }
            return reports.first?.address
        }
        #expect(heard == identity)
        let onAir = try await probe.command(.leReadPeerResolvableAddress, "00 0100000000C0")
        #expect(DeviceAddress(littleEndian: onAir, kind: .random) == (await device.ownAddress))
        probe.transport.close()
        await device.stop()
    }
}
