import MynahCore
import MynahSupport

// Advertising PDUs (Core Specification, Vol 6, Part B, 2.3).
extension LinkLayerEncoder {
    /// The PDU types of advertising PDUs, as in their header.
    private enum PDUType {
        static let connectable: UInt8 = 0
        static let directed: UInt8 = 1
        static let nonConnectable: UInt8 = 2
        static let scanRequest: UInt8 = 3
        static let scanResponse: UInt8 = 4
        static let connectRequest: UInt8 = 5
        static let scannable: UInt8 = 6
        /// The type of ADV_EXT_IND and of all auxiliary PDUs.
        static let extended: UInt8 = 7
    }

    private static let primaryChannels: [UInt8] = [37, 38, 39]

    /// Returns the packets of an advertising event: a PDU on each primary channel, and the auxiliary PDUs.
    mutating func advertising(_ advertisement: AirAdvertisement) -> [LinkLayerPacket] {
        guard !advertisement.properties.contains(.legacy) else {
            let pdu = Self.legacy(advertisement)
            return Self.primaryChannels.map { Self.packet($0, pdu) }
        }
        let auxiliary = remember(advertisement)
        let mode = advertisement.properties.rawValue & 0x03
        var first = ExtendedHeader(mode: mode)
        first.information = Self.information(advertisement)
        first.pointer = auxiliary
        let pdu = first.pdu(data: [])
        let primaryPHY: UInt8 = advertisement.isPrimaryCoded ? 3 : 1
        return Self.primaryChannels.map { Self.packet($0, pdu, phy: primaryPHY) }
            + chain(advertisement, mode: mode, auxiliary)
    }

    mutating func scanResponse(_ response: AirAdvertisement) -> [LinkLayerPacket] {
        guard !response.properties.contains(.legacy) else {
            let pdu = Self.pdu(
                PDUType.scanResponse, response.address,
                payload: Self.bytes(of: response.address) + response.data.prefix(Self.longestLegacyData))
            return [Self.packet(39, pdu)]
        }
        return chain(response, mode: 0, remember(response))
    }

    func scanRequest(of scanner: DeviceAddress, to advertiser: Advertiser) -> LinkLayerPacket {
        answer(
            Self.pdu(
                PDUType.scanRequest, scanner, advertiser.address,
                payload: Self.bytes(of: scanner) + Self.bytes(of: advertiser.address)), to: advertiser)
    }

    mutating func connectRequest(_ connect: AirConnect, from station: Station) -> LinkLayerPacket {
        let link = addLink(connect.access, central: station)
        var writer = ByteWriter(capacity: 34)
        writer.write(connect.initiator)
        writer.write(connect.advertiser)
        writer.write(connect.access)
        writer.write(Self.little(link.crcStart).prefix(3))
        // The size and the offset of the transmit window.
        writer.write(1 as UInt8)
        writer.write(0 as UInt16)
        writer.write(connect.parameters)
        // The channel map has all 37 data channels.
        writer.write([0xFF, 0xFF, 0xFF, 0xFF, 0x1F] as [UInt8])
        writer.write(link.hop)
        return answer(
            Self.pdu(PDUType.connectRequest, connect.initiator, connect.advertiser, payload: writer.bytes),
            to: Advertiser(address: connect.advertiser, identifier: connect.identifier))
    }

    // MARK: - Legacy

    private static func legacy(_ advertisement: AirAdvertisement) -> [UInt8] {
        let properties = advertisement.properties
        let address = bytes(of: advertisement.address)
        if properties.contains(.directed), let target = advertisement.target {
            return pdu(PDUType.directed, advertisement.address, target, payload: address + bytes(of: target))
        }
        let type =
            properties.contains(.connectable)
            ? PDUType.connectable
            : properties.contains(.scannable) ? PDUType.scannable : PDUType.nonConnectable
        return pdu(
            type, advertisement.address, payload: address + advertisement.data.prefix(longestLegacyData))
    }

    private static func pdu(
        _ type: UInt8, _ sender: DeviceAddress?, _ receiver: DeviceAddress? = nil, payload: [UInt8]
    ) -> [UInt8] {
        let header = type | (sender?.kindCode ?? 0) << 6 | (receiver?.kindCode ?? 0) << 7
        return [header, UInt8(payload.count)] + payload
    }

    private static func packet(
        _ channel: UInt8, _ pdu: [UInt8], kind: LinkLayerPacket.Kind = .unspecified, phy: UInt8 = 1
    ) -> LinkLayerPacket {
        LinkLayerPacket(
            channel: channel, access: LinkLayerPacket.advertisingAccess,
            crcStart: LinkLayerPacket.advertisingCRCStart, kind: kind, phy: phy, pdu: pdu)
    }

    /// Returns a request to an advertiser, on the channel of the last PDU of the advertising event.
    private func answer(_ pdu: [UInt8], to advertiser: Advertiser) -> LinkLayerPacket {
        guard advertiser.identifier != nil, let auxiliary = auxiliaries[advertiser] else {
            return Self.packet(39, pdu)
        }
        return Self.packet(auxiliary.channel, pdu, kind: .auxiliary, phy: auxiliary.phy)
    }

    private static func bytes(of address: DeviceAddress) -> [UInt8] {
        var writer = ByteWriter(capacity: 6)
        writer.write(address)
        return writer.bytes
    }

    // MARK: - Extended

    /// The common extended advertising payload format (2.3.4).
    private struct ExtendedHeader {
        var mode: UInt8
        var address: DeviceAddress?
        var target: DeviceAddress?
        var information: UInt16?
        var pointer: Auxiliary?

        init(mode: UInt8) {
            self.mode = mode
        }

        /// The flags and the fields as bytes.
        private var bytes: [UInt8] {
            var flags: UInt8 = 0
            var writer = ByteWriter()
            if let address {
                flags |= 0x01
                writer.write(address)
            }
            if let target {
                flags |= 0x02
                writer.write(target)
            }
            if let information {
                flags |= 0x08
                writer.write(information)
            }
            if let pointer {
                flags |= 0x10
                // The offset is in units of 30 µs; 10 units are the smallest possible offset.
                writer.write(pointer.channel)
                writer.write(10 | UInt16(pointer.phy - 1) << 13)
            }
            return [flags] + writer.bytes
        }

        /// The number of data bytes that fit after the header.
        var room: Int { LinkLayerEncoder.longestPayload - 1 - bytes.count }

        func pdu(data: some Collection<UInt8>) -> [UInt8] {
            let header = bytes
            return LinkLayerEncoder.pdu(
                PDUType.extended, address, target,
                payload: [UInt8(header.count) | mode << 6] + header + data)
        }
    }

    private mutating func remember(_ advertisement: AirAdvertisement) -> Auxiliary {
        if auxiliaries.count >= Self.limit { auxiliaries = [:] }
        let place = advertisement.address.value &+ UInt64(advertisement.identifier ?? 0)
        let auxiliary = Auxiliary(
            channel: UInt8(place % 37), phy: min(max(advertisement.secondaryPHY, 1), 3))
        auxiliaries[Advertiser(address: advertisement.address, identifier: advertisement.identifier)] =
            auxiliary
        return auxiliary
    }

    /// Returns the AdvDataInfo field: the set's identifier, and a number that changes with the data.
    private static func information(_ advertisement: AirAdvertisement) -> UInt16 {
        let data = LinkLayerPacket.crc(of: advertisement.data, start: 0)
        return UInt16(advertisement.identifier ?? 0) << 12 | UInt16(truncatingIfNeeded: data) & 0x0FFF
    }

    /// Returns AUX_ADV_IND or AUX_SCAN_RSP, and the AUX_CHAIN_IND PDUs for data that does not fit.
    private func chain(
        _ advertisement: AirAdvertisement, mode: UInt8, _ auxiliary: Auxiliary
    ) -> [LinkLayerPacket] {
        var header = ExtendedHeader(mode: mode)
        header.address = advertisement.address
        header.target = advertisement.target
        header.information = Self.information(advertisement)
        var rest = advertisement.data[...]
        var packets: [LinkLayerPacket] = []
        repeat {
            if rest.count > header.room { header.pointer = auxiliary }
            let piece = rest.prefix(header.room)
            rest = rest.dropFirst(piece.count)
            packets.append(
                Self.packet(auxiliary.channel, header.pdu(data: piece), kind: .auxiliary, phy: auxiliary.phy))
            header = ExtendedHeader(mode: 0)
            header.information = Self.information(advertisement)
        } while !rest.isEmpty
        return packets
    }
}
