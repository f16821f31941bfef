import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

/// Values of an advertisement that do not fit, and changes that do not fit together.
@Suite(.timeLimit(.minutes(15))) struct AdvertisedValueTests {
    private let rig = DeviceRig()

    private static let device = """
        mynah: 1
        name: Test
        variables: {n: 5, t: "ab"}
        advertising:
          localName: ""
          every: 1 s
          manufacturerData:
            0x1234: {layout: [{n: uint8}], fields: {n: {from: n}}}
          serviceData:
            FCD2: {layout: [{t: utf8}], fields: {t: {from: t}}}
        services:
          - uuid: FFE0
            characteristics:
              - uuid: FFE1
                properties: [write]
                on:
                  write:
                    - {match: {hex: 01}, advertise: {solicitedServiceUUIDs: [1811, 1812, 1813, 1814, 1815]}}
                    - {match: {hex: 02}, advertise: {serviceUUIDs: [180D, 180F, 1809, 1810, 181A]}}
        """

    private var warnings: [String] {
        rig.log.all.filter { $0.name == .warning }.compactMap { $0.string("message") }
    }

    private func air() async throws -> String {
        let advertisement = try #require(await rig.radio.advertisement)
        return Hex.encode(try AccessoryAdvertising.compose(advertisement).data.bytes)
    }

    private func tick() async throws {
        try await rig.clock.waitForSleepers(1)
        rig.clock.advance(by: .seconds(1))
        try await rig.clock.waitForSleepers(1)
    }

    @Test func `a value that no longer fits keeps its last bytes, with one warning`() async throws {
        let emulator = try rig.emulator([Self.device])
        try await emulator.start()
        #expect(try await air() == "020106" + "04FF341205" + "0516D2FC6162")
        try await emulator.setVariable("n", to: .integer(7), in: "Test")
        try await tick()
        #expect(try await air() == "020106" + "04FF341207" + "0516D2FC6162")
        try await emulator.setVariable("n", to: .integer(300), in: "Test")
        for _ in 0..<3 { try await tick() }
        #expect(try await air() == "020106" + "04FF341207" + "0516D2FC6162")
        #expect(warnings.count == 1, "\(warnings)")
        #expect(warnings.first?.hasPrefix("test.yaml:8:5: manufacturerData keeps its last value: ") == true)

        let long = String(repeating: "x", count: 30)
        try await emulator.setVariable("t", to: .text(long), in: "Test")
        try await emulator.setVariable("n", to: .integer(8), in: "Test")
        for _ in 0..<2 { try await tick() }
        #expect(try await air() == "020106" + "04FF341208" + "0516D2FC6162")
        #expect(warnings.count == 2 && warnings.last?.contains("serviceData keeps its last value") == true)

        // A reset airs the profile's values at once.
        try await emulator.reset(of: "Test")
        #expect(try await air() == "020106" + "04FF341205" + "0516D2FC6162")
        await emulator.stop()
    }

    @Test func `changes that do not fit together are refused, and what fits stays`() async throws {
        let emulator = try rig.emulator([Self.device])
        try await emulator.start()
        await rig.radio.simulate(.connected(rig.peer))
        let key = try #require(
            await rig.radio.published.flatMap(\.services).flatMap(\.characteristics).first?.key)
        func write(_ byte: UInt8) async throws {
            let part = WriteRequest.Part(attribute: key, value: [byte])
            _ = try await rig.radio.request(
                .write(WriteRequest(central: rig.peer.id, parts: [part], wantsResponse: true)))
        }
        try await write(2)
        try await until("the services are advertised") {
            (try? await air().contains("0B03")) == true
        }
        let before = try await air()
        try await write(1)
        try await until("the other change is refused") { !warnings.isEmpty }
        #expect(warnings.count == 1, "\(warnings)")
        #expect(warnings[0].hasPrefix("test.yaml:18:45: a rule could not change the advertising: "))
        #expect(
            warnings[0].contains("are left") && warnings[0].contains("leave something else out"),
            "\(warnings)")
        #expect(try await air() == before)
        await emulator.stop()
    }

    @Test func `a test's changes have the rules of a profile`() async throws {
        let emulator = try rig.emulator([
            """
            mynah: 1
            name: Test
            advertising:
              - {name: main}
              - {name: own, address: random, connectable: false}
              - {name: long, extended: true, connectable: false}
            services: [{uuid: FFE0}]
            """
        ])
        try await emulator.start()
        let before = await rig.radio.advertisement
        for (json, message) in [
            (
                #"{"set": "own", "connectable": true}"#,
                "a set with an address of its own cannot be connected to"
            ),
            (
                #"{"set": "long", "connectable": true, "scannable": true}"#,
                "extended advertising is connectable or scannable, not both"
            ),
            (
                #"{"set": "long", "scannable": true, "localName": ""}"#,
                "extended advertising that is scannable needs data for its scan response"
            ),
            (#"{"scannable": false}"#, "legacy advertising that centrals can connect to is scannable"),
        ] {
            do {
                _ = try await emulator.advertise(JSON(parsing: Array(json.utf8)), for: "Test")
                Issue.record("\(json) is accepted")
            } catch {
                guard case .invalid(let text)? = error as? ControlRefusal else {
                    Issue.record("\(json): \(error)")
                    continue
                }
                #expect(text.hasPrefix(message), "\(json): \(text)")
            }
            #expect(await rig.radio.advertisement == before)
        }
        await emulator.stop()
    }
}
