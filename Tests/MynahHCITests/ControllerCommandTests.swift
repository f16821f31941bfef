import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@Suite struct ControllerCommandTests {
    @Test func `a controller supports the features that it reports`() {
        var rig = AirRig()
        let station = rig.join(1)
        #expect(rig.values(.readBDADDR, "", station) == [1, 0, 0, 0, 0, 0xC0])
        #expect(rig.values(.leReadBufferSize, "", station) == [251, 0, 12])
        #expect(
            rig.values(.readLocalVersionInformation, "", station) == [0x0B, 1, 0, 0x0B, 0xFF, 0xFF, 1, 0])
        #expect(rig.values(.leReadLocalSupportedFeatures, "", station) == [0x6F, 0x39, 0, 0, 0, 0, 0, 0])
        let commands = rig.values(.readLocalSupportedCommands, "", station)
        #expect(commands.count == 64)
        // Reset, LE Rand, LE Encrypt, LE Set Extended Advertising Enable.
        #expect(commands[5] & 0x80 != 0 && commands[27] & 0xC0 == 0xC0 && commands[36] & 0x20 != 0)
        #expect(rig.values(.leRand, "", station).count == 8)
    }

    @Test func `a controller without a cipher or sets does not know what needs them`() {
        var rig = AirRig()
        let old = rig.join(1) {
            $0.isExtended = false
            $0.cipher = nil
        }
        #expect(rig.values(.leReadLocalSupportedFeatures, "", old) == [0x2F, 0, 0, 0, 0, 0, 0, 0])
        #expect(rig.ask(.leEncrypt, String(repeating: "00", count: 32), old) == .unknownCommand)
        #expect(rig.ask(.leClearAdvertisingSets, "", old) == .unknownCommand)
        #expect(rig.ask(.leClearResolvingList, "", old) == .unknownCommand)
        #expect(rig.ask(HCIOpcode(0xFC01), "0102", old) == .unknownCommand)
    }

    @Test(arguments: [
        (HCIOpcode.leSetAdvertisingParameters, "1F00A000000000000000000000000700"),
        (.leSetAdvertisingParameters, "A0009F0000000000000000000000070000"),
        (.leSetAdvertisingParameters, "A000A00005000000000000000007 00"),
        (.leSetAdvertisingEnable, "02"), (.leSetAdvertisingEnable, ""),
        (.leSetScanParameters, "00100011000000"),
        (.leCreateConnection, "1000 1000 00 00 0200000000C0 00 1800 1700 0000 4800 0000 0000"),
        (.leCreateConnection, "1000 1000 00 00 0200000000C0 00 1800 1800 0000 0900 0000 0000"),
        (.leSetEventMask, "00"), (.leWriteSuggestedDefaultDataLength, "1A004801"),
        (.leSetDefaultPHY, "000800"),
    ])
    func `invalid parameters are refused as such`(opcode: HCIOpcode, hex: String) {
        var rig = AirRig()
        let station = rig.join(1)
        #expect(rig.ask(opcode, hex, station) == .invalidCommandParameters)
    }

    @Test func `commands that the state forbids are disallowed`() {
        var rig = AirRig()
        let station = rig.join(1)
        rig.advertise(station)
        #expect(
            rig.ask(.leSetAdvertisingParameters, "A000A0000000000000000000000700", station)
                == .commandDisallowed)
        #expect(rig.ask(.leSetRandomAddress, "0102030405C6", station) == .commandDisallowed)
        #expect(rig.ask(.leCreateConnectionCancel, "", station) == .commandDisallowed)
        #expect(rig.ask(.leClearAdvertisingSets, "", station) == .commandDisallowed)
        #expect(rig.ask(.disconnect, "400013", station) == .unknownConnectionIdentifier)
        #expect(rig.ask(.reset, "", station) == .success)
        #expect(rig.ask(.leClearAdvertisingSets, "", station) == .success)
        #expect(rig.ask(.leSetAdvertisingEnable, "01", station) == .commandDisallowed)
    }

    @Test func `without an event mask no LE event is told`() {
        var rig = AirRig()
        let scanner = rig.join(1)
        let advertiser = rig.join(2)
        rig.advertise(advertiser)
        rig.send(.setEventMask, "FFFFFFFFFF1F0000", scanner)
        rig.send(.leSetScanEnable, "0100", scanner)
        rig.pass(milliseconds: 500)
        #expect(rig.events(scanner).count == 2)
    }

    @Test func `any packets of a host, in any order, are borne, and little is held`() {
        var random = SeededGenerator(seed: 9)
        var rig = AirRig()
        let stations = [rig.join(1), rig.join(2), rig.join(3)]
        let opcodes =
            [0x0406, 0x0C03, 0x041D].map { HCIOpcode($0) } + (0x2001...0x2050).map { HCIOpcode(UInt16($0)) }
        let lengths = [0, 1, 2, 3, 4, 6, 7, 8, 14, 15, 25, 26, 28, 32, 39]
        for round in 0..<100_000 {
            let station = stations[Int.random(in: 0..<3, using: &random)]
            if round % 7 == 0 {
                let handle = ConnectionHandle(rawValue: .random(in: 0x40...0x42, using: &random))
                rig.send(
                    ACLPacket(handle: handle, boundary: .first, data: random.bytes(upTo: 260)).packet, station
                )
            } else if round % 11 == 0 {
                rig.send(H4Packet(.command, random.bytes(upTo: 40)), station)
            } else if let opcode = opcodes.randomElement(using: &random),
                opcode != .reset || round % 97 == 0
            {
                let length = lengths.randomElement(using: &random) ?? 0
                let bytes = (0..<length).map { _ in
                    UInt8.random(in: Bool.random(using: &random) ? 0...3 : 0...255, using: &random)
                }
                rig.send(HCICommand(opcode, bytes).packet, station)
            }
            if round % 50 == 0 {
                rig.pass(milliseconds: 20)
                for station in stations { _ = rig.take(station) }
            }
        }
        for station in stations { #expect(rig.ask(.reset, "", station) == .success) }
    }

    @Test func `any frames of other processes are borne`() {
        var random = SeededGenerator(seed: 10)
        var (rig, central, peripheral) = AirRig.linked()
        var taken = 0
        let parameters = LEConnection.Parameters()
        let address = AirRig.address(2)
        let contents: [LinkPDU] = [
            .data(isContinued: false, [1, 2, 3]), .terminate(.remoteUserTerminatedConnection), .encrypted,
            .encryptionRequest(random: [1, 2, 3, 4, 5, 6, 7, 8], diversifier: 1, nonce: 2),
            .startEncryption(nonce: 1), .encryptionProof(1), .encryptionRejected(.pinOrKeyMissing),
            .featureRequest(1), .featureResponse(1),
            .version(version: 1, company: 2, subversion: 3, isAnswer: false),
            .lengthRequest(.init(receivedOctets: 251, receivedTime: 2120, sentOctets: 251, sentTime: 2120)),
            .phyRequest(sending: 2, receiving: 2), .phyUpdate(sending: 2, receiving: 2),
            .connectionUpdate(parameters), .parameterRequest(minimum: 24, parameters),
            .parametersRejected(.commandDisallowed),
        ]
        let pdus: [AirPDU] =
            [
                .advertisement(
                    AirAdvertisement([.connectable, .legacy], address: address, data: [2, 1, 6])),
                .scanRequest(scanner: address, advertiser: address),
                .scanRequest(scanner: address, advertiser: address, identifier: 3),
                .connect(
                    AirConnect(
                        initiator: address, advertiser: address, identifier: 3, access: 7,
                        parameters: parameters)),
            ]
            + contents.map { .link(LinkFrame(access: 7, sequence: 0, expected: 0, content: $0)) }
        let targets: [Station?] = [central, peripheral, nil]
        rig.advertise(peripheral)
        rig.send(.leSetScanEnable, "0100", central)
        for round in 0..<100_000 {
            guard let pdu = pdus.randomElement(using: &random),
                let target = targets.randomElement(using: &random)
            else { continue }
            var bytes = AirFrame(from: Station(5), to: target, pdu: pdu).bytes
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                bytes[Int.random(in: 16..<bytes.count, using: &random)] = UInt8.random(
                    in: Bool.random(using: &random) ? 0...4 : 0...255, using: &random)
            }
            if round % 100 == 0 { rig.pass(milliseconds: 10) }
            guard let frame = AirFrame(bytes) else { continue }
            #expect(AirFrame(frame.bytes) == frame)
            taken += 1
            _ = rig.air.handle(frame)
        }
        #expect(taken > 50_000)
        #expect(rig.ask(.reset, "", central) == .success)
    }
}
