import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

@Suite struct GATTDiscoveryTests {
    @Test func `primary services are found request by request, in 16 and in 128 bits`() throws {
        var rig = ClientRig()
        #expect(rig.start(ServiceDiscovery()) == ["100100FFFF0028"])
        #expect(try rig.hear("11 06 0100 0500 0018 0600 0900 0118") == ["100A00FFFF0028"])
        let long = "000102030405060708090A0B0C0D0E0F"
        #expect(try rig.hear("11 14 0A00 0F00 \(long)") == ["101000FFFF0028"])
        #expect(try rig.hear("01 10 1000 0A") == [])
        #expect(
            rig.ended == [
                .success(
                    .services([
                        RemoteService(uuid: "1800", handles: 1...5),
                        RemoteService(uuid: "1801", handles: 6...9),
                        RemoteService(uuid: "0F0E0D0C-0B0A-0908-0706-050403020100", handles: 10...15),
                    ]))
            ])
    }

    @Test func `a service that reaches to the last handle ends it`() throws {
        var rig = ClientRig()
        _ = rig.start(ServiceDiscovery())
        #expect(try rig.hear("11 06 0100 FFFF 0018") == [])
        #expect(rig.ended == [.success(.services([RemoteService(uuid: "1800", handles: 1...0xFFFF)]))])
    }

    @Test func `services of one type are found by it`() throws {
        var rig = ClientRig()
        #expect(rig.start(ServiceDiscovery(of: "180D")) == ["060100FFFF00280D18"])
        #expect(try rig.hear("07 0A00 0F00 2000 2400") == ["062500FFFF00280D18"])
        _ = try rig.hear("01 06 2500 0A")
        #expect(
            rig.ended == [
                .success(
                    .services([
                        RemoteService(uuid: "180D", handles: 10...15),
                        RemoteService(uuid: "180D", handles: 32...36),
                    ]))
            ])
        // A UUID of 32 bits goes as 128.
        #expect(
            rig.start(ServiceDiscovery(of: "12345678")) == [
                "060100FFFF0028FB349B5F80000080001000007856 3412".filter { $0 != " " }
            ])
    }

    @Test(arguments: ["01 10 0100 10", "01 10 0100 06", "01 10 0100 0A"])
    func `a server without secondary services has none`(answer: String) throws {
        var rig = ClientRig()
        #expect(rig.start(ServiceDiscovery.secondary) == ["100100FFFF0128"])
        _ = try rig.hear(answer)
        #expect(rig.ended == [.success(.services([]))])
    }

    @Test(arguments: [
        "11", "11 06", "11 07 0100 0500 001800", "11 06 0100 0500", "11 06 0500 0100 0018",
        "11 06 0000 0500 0018",
        "11 06 0600 0900 0118 0100 0500 0018", "11 06 0100 0500 0018 0500 0900 0118",
        "11 06 0100 0500 0018 06",
    ])
    func `services that cannot be end the search`(answer: String) throws {
        try expectViolation(ServiceDiscovery(), answer)
    }

    @Test func `an answer that goes back ends the search`() throws {
        var rig = ClientRig()
        _ = rig.start(ServiceDiscovery())
        _ = try rig.hear("11 06 0100 0500 0018")
        #expect(try rig.hear("11 06 0100 0500 0018") == [])
        #expect(isViolation(rig.ended))
    }

    @Test func `included services are found, the long ones by their declaration`() throws {
        var rig = ClientRig()
        #expect(rig.start(IncludeDiscovery(in: 10...20)) == ["080A0014000228"])
        #expect(try rig.hear("09 08 0B00 3000 3400 0F18") == ["080C0014000228"])
        #expect(try rig.hear("09 06 0C00 4000 4400") == ["0A4000"])
        #expect(try rig.hear("0B 000102030405060708090A0B0C0D0E0F") == ["080D0014000228"])
        _ = try rig.hear("01 08 0D00 0A")
        #expect(
            rig.ended == [
                .success(
                    .services([
                        RemoteService(uuid: "180F", isPrimary: false, handles: 48...52),
                        RemoteService(
                            uuid: "0F0E0D0C-0B0A-0908-0706-050403020100", isPrimary: false, handles: 64...68),
                    ]))
            ])
    }

    @Test(arguments: [
        "09", "09 08", "09 07 0B00 3000 340000", "09 08 0100 3000 3400 0F18", "09 06 0B00 3400 3000",
    ])
    func `included services that cannot be end the search`(answer: String) throws {
        try expectViolation(IncludeDiscovery(in: 10...20), answer)
    }

    @Test func `characteristics reach to the next one, the last to the end of its service`() throws {
        var rig = ClientRig()
        #expect(rig.start(CharacteristicDiscovery(in: 10...20)) == ["080A0014000328"])
        #expect(try rig.hear("09 07 0B00 10 0C00 372A 0E00 0A 0F00 392A") == ["08100014000328"])
        #expect(try rig.hear("01 08 1000 0A") == [])
        #expect(
            rig.ended == [
                .success(
                    .characteristics([
                        RemoteCharacteristic(
                            uuid: "2A37", properties: .notify, declaration: 11, handle: 12, end: 13),
                        RemoteCharacteristic(
                            uuid: "2A39", properties: [.read, .write], declaration: 14, handle: 15, end: 20),
                    ]))
            ])
    }

    @Test(arguments: [
        "09", "09 07", "09 07 0B00 10 0B00 372A", "09 07 0B00 10 1500 372A", "09 07 0100 10 0200 372A",
        "09 07 0B00 10 0C00 372A 0C00 10 0D00 382A", "09 15 0B00 10 0C00 372A",
    ])
    func `characteristics that cannot be end the search`(answer: String) throws {
        try expectViolation(CharacteristicDiscovery(in: 10...20), answer)
    }

    @Test func `descriptors are found in both formats`() throws {
        var rig = ClientRig()
        #expect(rig.start(DescriptorDiscovery(in: 13...15)) == ["040D000F00"])
        #expect(try rig.hear("05 01 0D00 0229") == ["040E000F00"])
        #expect(try rig.hear("05 02 0E00 000102030405060708090A0B0C0D0E0F") == ["040F000F00"])
        _ = try rig.hear("01 04 0F00 0A")
        #expect(
            rig.ended == [
                .success(
                    .descriptors([
                        RemoteDescriptor(uuid: "2902", handle: 13),
                        RemoteDescriptor(uuid: "0F0E0D0C-0B0A-0908-0706-050403020100", handle: 14),
                    ]))
            ])
    }

    @Test(arguments: [
        "05", "05 01", "05 03 0D00 0229", "05 01 0C00 0229", "05 01 0D00 02", "05 01 0E00 0229 0D00 0129",
    ])
    func `descriptors that cannot be end the search`(answer: String) throws {
        try expectViolation(DescriptorDiscovery(in: 13...15), answer)
    }

    @Test func `every procedure ends for any answers of a server`() throws {
        var random = SeededGenerator(seed: 4)
        let opcodes: [UInt8] = [0x01, 0x05, 0x07, 0x09, 0x0B, 0x0D, 0x11, 0x13, 0x17, 0x19]
        for round in 0..<20_000 {
            var client = ATTClient()
            let procedures: [any GATTProcedure] = [
                ServiceDiscovery(), ServiceDiscovery(of: "180D"), ServiceDiscovery.secondary,
                IncludeDiscovery(in: 1...0xFFFF), CharacteristicDiscovery(in: 10...20),
                DescriptorDiscovery(in: 1...9),
                ValueRead(3), ValueWrite(3, Array(repeating: 1, count: 60)), ServiceChangedSubscription(),
            ]
            var actions: [ATTClient.Action] = []
            procedures[round % procedures.count].add(to: &client, &actions)
            for _ in 0..<4 {
                guard case .send(let asked)? = actions.first else { break }
                var bytes = (0..<Int.random(in: 0...24, using: &random)).map { _ in
                    UInt8.random(in: 0...32, using: &random)
                }
                bytes.insert(
                    Bool.random(using: &random) ? asked[0] + 1 : opcodes.randomElement(using: &random) ?? 0,
                    at: 0)
                actions = []
                client.receive(bytes, into: &actions)
            }
            #expect(actions.count <= 1)
        }
    }

    private func expectViolation(_ procedure: some GATTProcedure, _ answer: String) throws {
        var rig = ClientRig()
        _ = rig.start(procedure)
        #expect(try rig.hear(answer) == [])
        #expect(isViolation(rig.ended))
    }

    private func isViolation(_ ended: [Result<GATTValue, RequestError>]) -> Bool {
        guard ended.count == 1, case .failure(.failed(let error)) = ended[0] else { return false }
        return error.code == .protocolViolation
    }
}

extension GATTProcedure {
    /// Adds it to a client, and nobody waits for its value.
    fileprivate func add(to client: inout ATTClient, _ actions: inout [ATTClient.Action]) {
        client.add(self, into: &actions) { _ in }
    }
}
