import MynahCore
@testable import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@Suite struct LinkLayerEncoderTests {
    private static let central = Station(1)
    private static let peripheral = Station(2)
    private static let access: UInt32 = 0x1234_5678
    private static let parameters = LEConnection.Parameters(interval: 24, latency: 0, timeout: 72)

    private static func address(_ number: UInt8, _ kind: DeviceAddress.Kind = .random) -> DeviceAddress {
        guard let address = DeviceAddress(littleEndian: [number, 0, 0, 0, 0, 0xC0], kind: kind) else {
            preconditionFailure("six bytes are an address")
        }
        return address
    }

    private func packets(_ pdu: AirPDU, from station: Station = central) -> [LinkLayerPacket] {
        var encoder = LinkLayerEncoder()
        return encoder.packets(of: AirFrame(from: station, to: nil, pdu: pdu))
    }

    /// An encoder that has seen a link begin.
    private func linked() -> LinkLayerEncoder {
        var encoder = LinkLayerEncoder()
        let connect = AirConnect(
            initiator: Self.address(1), advertiser: Self.address(2, .public), access: Self.access,
            parameters: Self.parameters)
        _ = encoder.packets(
            of: AirFrame(from: Self.central, to: Self.peripheral, pdu: .connect(connect)))
        return encoder
    }

    private func frame(_ sequence: UInt16, _ content: LinkPDU?, from station: Station) -> AirFrame {
        AirFrame(
            from: station, to: nil,
            pdu: .link(LinkFrame(access: Self.access, sequence: sequence, expected: 0, content: content)))
    }

    // MARK: - Advertising

    @Test(
        arguments: [
            ([.legacy, .connectable, .scannable], "40 09 0100000000C0 020106"),
            ([.legacy, .scannable], "46 09 0100000000C0 020106"),
            ([.legacy], "42 09 0100000000C0 020106"),
            ([.legacy, .connectable, .directed], "41 0C 0100000000C0 0900000000C0"),
        ] as [(AirAdvertisement.Properties, String)])
    func `an advertisement is one PDU on each primary channel`(
        _ properties: AirAdvertisement.Properties, _ pdu: String
    ) {
        let isDirected = properties.contains(.directed)
        let found = packets(
            .advertisement(
                AirAdvertisement(
                    properties, address: Self.address(1),
                    target: isDirected ? Self.address(9, .public) : nil, data: isDirected ? [] : [2, 1, 6])))
        #expect(found.map(\.channel) == [37, 38, 39])
        #expect(found.allSatisfy { $0.pdu == Hex.decode(pdu) })
        #expect(found.allSatisfy { $0.access == 0x8E89_BED6 && $0.crcStart == 0x55_5555 })
    }

    @Test func `a scan is asked and answered on the last channel`() {
        let request = packets(.scanRequest(scanner: Self.address(1), advertiser: Self.address(2, .public)))
        #expect(request.map(\.channel) == [39])
        #expect(request.first?.pdu == Hex.decode("43 0C 0100000000C0 0200000000C0"))
        let response = packets(
            .scanResponse(
                AirAdvertisement([.legacy, .scanResponse], address: Self.address(2, .public), data: [1, 9])))
        #expect(response.map(\.channel) == [39])
        #expect(response.first?.pdu == Hex.decode("04 08 0200000000C0 0109"))
    }

    @Test func `an extended advertisement points to its data, which goes on in a chain`() throws {
        let data = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
        let found = packets(
            .advertisement(
                AirAdvertisement(
                    [.connectable], address: Self.address(1), identifier: 5, secondaryPHY: 2, data: data)))
        #expect(found.map(\.channel) == [37, 38, 39, found[3].channel, found[3].channel])
        #expect(found.map(\.kind) == [.unspecified, .unspecified, .unspecified, .auxiliary, .auxiliary])
        #expect(found.map(\.phy) == [1, 1, 1, 2, 2])
        // ADV_EXT_IND: connectable, with AdvDataInfo and AuxPtr, whose PHY is LE 2M.
        #expect(Array(found[0].pdu[..<4]) == [0x07, 0x07, 0x46, 0x18])
        #expect(found[0].pdu[5] >> 4 == 5)
        #expect(found[0].pdu[6] == found[3].channel && Array(found[0].pdu[7...]) == [10, 0x20])
        // AUX_ADV_IND: the address, AdvDataInfo, AuxPtr and as much data as fits.
        #expect(Array(found[3].pdu[..<4]) == [0x47, 0xFF, 0x4C, 0x19])
        #expect(Array(found[3].pdu[4..<10]) == [1, 0, 0, 0, 0, 0xC0])
        // AUX_CHAIN_IND: AdvDataInfo and the rest.
        #expect(Array(found[4].pdu[2..<4]) == [0x03, 0x08])
        let carried = Array(found[3].pdu[15...]) + Array(found[4].pdu[6...])
        #expect(carried == data)
        #expect(found.allSatisfy { Int($0.pdu[1]) == $0.pdu.count - 2 })
    }

    @Test func `a PDU to an extended advertiser goes to its secondary channel`() {
        var encoder = LinkLayerEncoder()
        let advertisement = AirAdvertisement(
            [.scannable], address: Self.address(1), identifier: 0, secondaryPHY: 3, isPrimaryCoded: true)
        let found = encoder.packets(
            of: AirFrame(from: Self.peripheral, to: nil, pdu: .advertisement(advertisement)))
        let request = encoder.packets(
            of: AirFrame(
                from: Self.central, to: Self.peripheral,
                pdu: .scanRequest(scanner: Self.address(9), advertiser: Self.address(1), identifier: 0)))
        #expect(found.map(\.phy) == [3, 3, 3, 3])
        #expect(request.map(\.channel) == [found[3].channel])
        #expect(request.map(\.phy) == [3] && request.map(\.kind) == [.auxiliary])
    }

    // MARK: - Links

    @Test func `a connection request names the link's CRC start and hop, which its PDUs use`() throws {
        var encoder = LinkLayerEncoder()
        let connect = AirConnect(
            initiator: Self.address(1), advertiser: Self.address(2, .public), access: Self.access,
            parameters: Self.parameters)
        let request = try #require(
            encoder.packets(of: AirFrame(from: Self.central, to: Self.peripheral, pdu: .connect(connect)))
                .first)
        #expect(Array(request.pdu[..<18]) == Hex.decode("45 22 0100000000C0 0200000000C0 78563412"))
        #expect(Array(request.pdu[21..<35]) == Hex.decode("01 0000 1800 0000 4800 FFFFFFFF1F"))
        let hop = request.pdu[35]
        #expect((5...16).contains(hop))
        let data = encoder.packets(of: frame(0, .data(isContinued: false, [7]), from: Self.central))
        #expect(data.map(\.channel) == [hop] && data.map(\.access) == [Self.access])
        let start = data[0].crcStart
        #expect(Array(request.pdu[18..<21]) == [0, 8, 16].map { UInt8(truncatingIfNeeded: start >> $0) })
    }

    @Test func `each PDU has the next sequence bit of its side and acknowledges the other's last`() {
        var encoder = linked()
        let headers = [
            frame(0, .data(isContinued: false, [1]), from: Self.central),
            frame(0, .data(isContinued: false, [2]), from: Self.peripheral),
            frame(1, .data(isContinued: true, [3]), from: Self.peripheral),
            frame(1, nil, from: Self.central),
            frame(1, .data(isContinued: false, [4]), from: Self.central),
        ].flatMap { encoder.packets(of: $0) }.map { $0.pdu[0] }
        // LLID, NESN 0x04, SN 0x08.
        #expect(headers == [0x02, 0x06, 0x0D, 0x09, 0x02])
    }

    @Test func `a frame that is sent again keeps the sequence bit of the last one`() {
        var encoder = linked()
        let data = frame(0, .data(isContinued: false, [1]), from: Self.central)
        let next = frame(1, .data(isContinued: false, [2]), from: Self.central)
        let bits = [data, next, data, next, frame(2, .data(isContinued: false, [3]), from: Self.central)]
            .flatMap { encoder.packets(of: $0) }.map { $0.pdu[0] & 0x08 }
        #expect(bits == [0, 8, 8, 8, 0])
    }

    @Test func `a peripheral that speaks first answers an empty PDU of the central`() {
        var encoder = linked()
        let found = encoder.packets(of: frame(0, nil, from: Self.peripheral))
        #expect(found.map(\.kind) == [.fromCentral, .fromPeripheral])
        #expect(found.map(\.pdu) == [[0x01, 0], [0x05, 0]])
        #expect(encoder.packets(of: frame(0, nil, from: Self.peripheral)).count == 1)
    }

    @Test func `data after the encryption started is marked as decrypted`() {
        var encoder = linked()
        let start = encoder.packets(of: frame(0, .startEncryption(nonce: 7), from: Self.peripheral))
        #expect(start.map(\.isDecrypted) == [false, false, false])
        #expect(start.dropFirst().map { $0.pdu[2] } == [0x04, 0x05])
        let data = encoder.packets(of: frame(0, .encryptionProof(1), from: Self.central))
        #expect(data.map(\.isDecrypted) == [true])
    }

    @Test func `a change of the PHY is agreed on as real controllers do`() {
        var encoder = linked()
        _ = encoder.packets(of: frame(0, .phyRequest(sending: 2, receiving: 2), from: Self.central))
        let answer = encoder.packets(
            of: frame(0, .phyUpdate(sending: 2, receiving: 2), from: Self.peripheral))
        #expect(answer.map { Array($0.pdu[2...]) } == [[0x17, 2, 2], [0x18, 2, 2, 7, 0]])
        #expect(answer.map(\.kind) == [.fromPeripheral, .fromCentral] && answer.map(\.phy) == [1, 1])
        #expect(encoder.packets(of: frame(1, nil, from: Self.central)).map(\.phy) == [2])
    }

    @Test(
        arguments: [
            (.terminate(HCIStatus(0x13)), "02 13"),
            (.encryptionRejected(HCIStatus(0x06)), "11 03 06"),
            (.featureRequest(0x21), "08 2100000000000000"),
            (.featureResponse(0x21), "09 2100000000000000"),
            (.version(version: 12, company: 0x0102, subversion: 3, isAnswer: false), "0C 0C 0201 0300"),
            (
                .lengthRequest(
                    DataLengths(receivedOctets: 251, receivedTime: 17040, sentOctets: 27, sentTime: 328)),
                "14 FB00 9042 1B00 4801"
            ),
            (.connectionUpdate(parameters), "00 01 0000 1800 0000 4800 0600"),
            (
                .parameterRequest(minimum: 12, parameters),
                "0F 0C00 1800 0000 4800 00 0000 FFFFFFFFFFFFFFFFFFFFFFFF"
            ),
            (.parametersRejected(HCIStatus(0x20)), "11 0F 20"),
        ] as [(LinkPDU, String)]) func `a control PDU has its opcode and parameters`(
            _ content: LinkPDU, _ payload: String
        )
    {
        var encoder = linked()
        let found = encoder.packets(of: frame(0, content, from: Self.central))
        #expect(found.map { $0.pdu[0] } == [0x03])
        #expect(found.first.map { Array($0.pdu[2...]) } == Hex.decode(payload))
        #expect(found.allSatisfy { Int($0.pdu[1]) == $0.pdu.count - 2 })
    }

    @Test func `an encryption request carries both numbers that the central draws`() throws {
        var encoder = linked()
        let request = LinkPDU.encryptionRequest(
            random: Array(1...8), diversifier: 0x0A09, nonce: 0x1211_100F_0E0D_0C0B)
        let pdu = try #require(encoder.packets(of: frame(0, request, from: Self.central)).first?.pdu)
        #expect(pdu.count == 2 + 23)
        #expect(Array(pdu[2..<21]) == [3] + Array(1...18))
    }

    @Test func `frames of a link whose beginning is unknown have no direction`() {
        var encoder = LinkLayerEncoder()
        let found = encoder.packets(of: frame(3, .data(isContinued: false, [1, 2]), from: Self.central))
        #expect(found.map(\.kind) == [.unspecified])
        #expect(found.map(\.pdu) == [[0x0A, 2, 1, 2]])
        #expect(encoder.links.isEmpty)
    }

    @Test func `links that nobody ends are forgotten, those that are used are not`() {
        var encoder = linked()
        for number in 0..<3000 as Range<UInt32> {
            let connect = AirConnect(
                initiator: Self.address(1), advertiser: Self.address(2), access: number,
                parameters: Self.parameters)
            _ = encoder.packets(of: AirFrame(from: Self.central, to: nil, pdu: .connect(connect)))
            if number % 100 == 0 { _ = encoder.packets(of: frame(0, nil, from: Self.central)) }
        }
        #expect(encoder.links.count == LinkLayerEncoder.limit)
        #expect(encoder.links[Self.access] != nil)
    }

    @Test func `every frame of the air becomes PDUs of the length in their headers`() {
        let from = "0900000000000000 0000000000000000 64000000"
        var frames = PacketMutator(
            seed: 4,
            [
                "\(from) 00 13 00 0900000000C0 00 FF 00 00 0000 0300 020106",
                "\(from) 00 01 01 0900000000C0 01 00 0100000000C0 03 01 F8 0000 0300 020106",
                "\(from) 00 01 01 0900000000C0 01 00 0100000000C0 03 01 F8 0800 78563412 2C01"
                    + String(repeating: "11", count: 300),
                "\(from) 01 1B 00 0900000000C0 00 FF 00 00 0000 0300 020106",
                "\(from) 05 78563412 0700 02 F8 020106",
                "\(from) 02 00 0900000000C0 00 0100000000C0",
                "\(from) 03 00 0900000000C0 00 0100000000C0 78563412 1800 0000 4800",
                "\(from) 04 78563412 0000 0000 00 0300 0400 0A0300",
                "\(from) 04 78563412 0100 0100 0B FB00 4842 FB00 4842",
                "\(from) 04 78563412 0000 0000 03 0102030405060708 0100 1112131415161718",
                "\(from) 04 78563412 0000 0000 0E 02 02",
            ].compactMap { Hex.decode($0) })
        var encoder = LinkLayerEncoder()
        var count = 0
        for _ in 0..<20_000 {
            guard let frame = AirFrame(frames.next()) else { continue }
            for packet in encoder.packets(of: frame) {
                count += 1
                #expect(Int(packet.pdu[1]) == packet.pdu.count - 2)
                #expect(packet.bytes.count == packet.pdu.count + (packet.phy == 3 ? 18 : 17))
            }
        }
        #expect(count > 10_000)
    }
}
