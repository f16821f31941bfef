import MynahTestSupport
import Testing

/// Pairings of a phone's apps with devices.
@Suite(.timeLimit(.minutes(15))) struct PairingRunTests {
    /// A lock whose value only a pairing with a number lets a phone read.
    static func lock(_ security: String) -> String {
        """
        mynah: 1
        name: Lock
        security: {io: \(security)}
        advertising: {serviceUUIDs: [180F]}
        services:
          - uuid: 180F
            characteristics:
              - uuid: 2A19
                properties: [read, notify]
                permissions: {read: authenticated, notify: authenticated}
                value: {hex: 64}
        """
    }

    private static func phone(_ io: String) -> String {
        """
        mynah: 1
        name: Phone
        security: {io: \(io)}
        app: {}
        central:
          scan: {services: [180F]}
          peripherals:
            - name: Door
              match: {services: [180F]}
              subscribe: [2A19]
        """
    }

    /// Runs a phone and a lock until these events.
    private func run(phone: String, lock: String, until: [String]) async throws -> Program.Result {
        let temporary = try TemporaryDirectory()
        try temporary.write(Self.phone(phone), to: "phone.yaml")
        try temporary.write(Self.lock(lock), to: "lock.yaml")
        return try await VirtualStage.run(
            ["--events", "json", temporary.path + "/phone.yaml", temporary.path + "/lock.yaml"]
                + until.flatMap { ["--until", $0] })
    }

    @Test(arguments: [nil, "000000"] as [String?])
    func `a connect that cannot enter a passkey says that one may be needed`(passkey: String?) async throws {
        let directory = try TemporaryDirectory()
        try directory.write(Self.lock("displayOnly"), to: "lock.yaml")
        let result = try await VirtualStage.play { stage in
            _ = try await stage.run([directory.path + "/lock.yaml"])
            return await stage.play(
                ["connect", "Lock", "--command", "read 2A19"] + (passkey.map { ["--passkey", $0] } ?? []))
        }
        #expect(result.status == .exited(1))
        #expect(result.error.contains("; the device may need --passkey") == (passkey == nil), "\(result)")
        #expect(result.error.contains("Failed; check the passkey") == (passkey != nil), "\(result)")
    }

    @Test func `two numbers are compared, and the refused subscription is repeated`() async throws {
        let result = try await run(
            phone: "displayYesNo", lock: "displayYesNo",
            until: [
                "request.refused device=Lock characteristic=2A19 by=write error=0x05 because=permission",
                "pairing.passkey device=Lock step=compare", "pairing.passkey device=Phone step=compare",
                "notification.changed as=Door characteristic=2A19 on=true",
            ])
        #expect(result.status == .exited(0), "\(result.output)")
    }

    @Test func `the phone shows a number that is typed on the lock`() async throws {
        let result = try await run(
            phone: "keyboardDisplay", lock: "keyboardOnly",
            until: [
                "pairing.passkey device=Phone name=Lock step=display",
                "pairing.passkey device=Lock step=enter entered=false",
            ])
        #expect(result.status == .exited(0), "\(result.output)")
    }

    @Test func `a number that the lock shows is the phone's profile's, and a wrong one fails the pairing`()
        async throws
    {
        let result = try await run(
            phone: "keyboardOnly, passkey: 1", lock: "displayOnly",
            until: [
                "pairing.passkey device=Lock step=display",
                "pairing.passkey device=Phone name=Lock step=enter entered=true",
                "warning device=Lock code=pairingFailed",
                "notification.changed device=Phone as=Door error=0x05",
            ])
        #expect(result.status == .exited(0), "\(result.output)")
    }
}
