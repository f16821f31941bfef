package import MynahCore
package import MynahSupport

/// A PDU with its sender and its receiver, as sent between processes.
package struct AirFrame: Hashable, Sendable {
    /// The sender.
    package var from: Station
    /// The receiver, or `nil` for all stations in range.
    package var to: Station?
    /// The PDU.
    package var pdu: AirPDU
    /// The distance of the sender from all other stations.
    package var distance: AirDistance

    /// Makes a frame.
    package init(from: Station, to: Station?, pdu: AirPDU, distance: AirDistance = .usual) {
        self.from = from
        self.to = to
        self.pdu = pdu
        self.distance = distance
    }

    /// The frame as bytes.
    package var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 48)
        write(&writer)
        return writer.bytes
    }

    /// Parses a frame; `nil` if the bytes are not a frame.
    package init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        self.init(&reader)
    }

    func write(_ writer: inout ByteWriter) {
        writer.write(from.rawValue)
        writer.write(to?.rawValue ?? 0)
        writer.write(distance.centimetres)
        pdu.write(&writer)
    }

    init?(_ reader: inout ByteReader) {
        guard let from = reader.readUInt64(), from != 0, let to = reader.readUInt64(),
            let distance = reader.readUInt32().flatMap({ AirDistance(centimetres: $0) }),
            let pdu = AirPDU(&reader), reader.isAtEnd
        else { return nil }
        self.init(from: Station(from), to: to == 0 ? nil : Station(to), pdu: pdu, distance: distance)
    }
}

extension AirPDU {
    /// The largest length of an advertisement's data, in bytes (Core Specification, Vol 4, Part E, 7.8.57).
    static let longestData = 1650

    func write(_ writer: inout ByteWriter) {
        switch self {
        case .advertisement(let advertisement):
            writer.write(0 as UInt8)
            advertisement.write(&writer)
        case .scanResponse(let advertisement):
            writer.write(1 as UInt8)
            advertisement.write(&writer)
        case .scanRequest(let scanner, let advertiser, let identifier):
            writer.write(2 as UInt8)
            writer.writeWithKind(scanner)
            writer.writeWithKind(advertiser)
            writer.writeIdentifier(identifier)
        case .connect(let connect):
            writer.write(3 as UInt8)
            writer.writeWithKind(connect.initiator)
            writer.writeWithKind(connect.advertiser)
            writer.writeIdentifier(connect.identifier)
            writer.write(connect.access)
            writer.write(connect.parameters)
        case .link(let frame):
            writer.write(4 as UInt8)
            writer.write(frame.access)
            writer.write(frame.sequence)
            writer.write(frame.expected)
            frame.content?.write(&writer)
        case .periodic(let event):
            writer.write(5 as UInt8)
            writer.write(event.access)
            writer.write(event.counter)
            writer.write(event.phy)
            writer.write(UInt8(bitPattern: event.power))
            writer.write(event.data)
        }
    }

    init?(_ reader: inout ByteReader) {
        switch reader.readUInt8() {
        case 0:
            guard let advertisement = AirAdvertisement(&reader) else { return nil }
            self = .advertisement(advertisement)
        case 1:
            guard let advertisement = AirAdvertisement(&reader) else { return nil }
            self = .scanResponse(advertisement)
        case 2:
            guard let scanner = reader.readAddressWithKind(), let advertiser = reader.readAddressWithKind(),
                let identifier = reader.readIdentifier()
            else { return nil }
            self = .scanRequest(scanner: scanner, advertiser: advertiser, identifier: identifier)
        case 3:
            guard let initiator = reader.readAddressWithKind(),
                let advertiser = reader.readAddressWithKind(), let identifier = reader.readIdentifier(),
                let access = reader.readUInt32(),
                let parameters = LEConnection.Parameters(&reader), parameters.isPossible
            else { return nil }
            self = .connect(
                AirConnect(
                    initiator: initiator, advertiser: advertiser, identifier: identifier, access: access,
                    parameters: parameters))
        case 4:
            guard let access = reader.readUInt32(), let sequence = reader.readUInt16(),
                let expected = reader.readUInt16()
            else { return nil }
            var content: LinkPDU?
            if !reader.isAtEnd {
                guard let pdu = LinkPDU(&reader) else { return nil }
                content = pdu
            }
            self = .link(
                LinkFrame(access: access, sequence: sequence, expected: expected, content: content))
        case 5:
            guard let access = reader.readUInt32(), let counter = reader.readUInt16(),
                let phy = reader.readUInt8(), (1...3).contains(phy), let power = reader.readUInt8(),
                reader.remaining <= Self.longestData
            else { return nil }
            self = .periodic(
                AirPeriodic(
                    access: access, counter: counter, phy: phy, power: Int8(bitPattern: power),
                    data: reader.readRest()))
        default:
            return nil
        }
    }
}

extension AirAdvertisement {
    func write(_ writer: inout ByteWriter) {
        writer.write(properties.rawValue)
        writer.writeWithKind(address)
        writer.write(UInt8(target == nil ? 0 : 1))
        if let target { writer.writeWithKind(target) }
        writer.writeIdentifier(identifier)
        // Bit 7 says that the primary PHY is LE Coded.
        writer.write(secondaryPHY | (isPrimaryCoded ? 0x80 : 0))
        writer.write(UInt8(bitPattern: power))
        // An interval of 0 means that there is no periodic advertising.
        writer.write(sync?.interval ?? 0)
        if let sync { writer.write(sync.access) }
        writer.write(UInt16(truncatingIfNeeded: data.count))
        writer.write(data)
    }

    init?(_ reader: inout ByteReader) {
        guard let bits = reader.readUInt8(), let address = reader.readAddressWithKind(),
            let hasTarget = reader.readUInt8()
        else { return nil }
        var target: DeviceAddress?
        if hasTarget != 0 {
            guard let address = reader.readAddressWithKind() else { return nil }
            target = address
        }
        guard let identifier = reader.readIdentifier(), let phy = reader.readUInt8(), phy & 0x7F < 4,
            let power = reader.readUInt8(), let interval = reader.readUInt16()
        else { return nil }
        var sync: AirSyncInfo?
        if interval != 0 {
            guard interval >= AirSyncInfo.shortestInterval, let access = reader.readUInt32() else {
                return nil
            }
            sync = AirSyncInfo(access: access, interval: interval)
        }
        guard let length = reader.readUInt16(), length <= AirPDU.longestData,
            let data = reader.readBytes(Int(length))
        else { return nil }
        let properties = Properties(rawValue: bits & 0x1F)
        guard !properties.contains(.legacy) || data.count <= 31 else { return nil }
        self.init(
            properties, address: address, target: target, identifier: identifier,
            secondaryPHY: phy & 0x7F, isPrimaryCoded: phy & 0x80 != 0, power: Int8(bitPattern: power),
            sync: sync, data: data)
    }
}

extension ByteWriter {
    /// Writes an Advertising SID, 0 to 15, or 0xFF if the PDU has none.
    fileprivate mutating func writeIdentifier(_ identifier: UInt8?) { write(identifier ?? 0xFF) }
}

extension ByteReader {
    /// Reads an Advertising SID, which is `nil` if the PDU has none.
    ///
    /// The outer optional is `nil` if no byte is left.
    fileprivate mutating func readIdentifier() -> UInt8?? {
        readUInt8().map { $0 < 16 ? $0 : nil }
    }
}

extension LinkPDU {
    /// The largest length of a host's packet, in bytes (Core Specification, Vol 6, Part B, 2.4).
    static let longestData = 251

    func write(_ writer: inout ByteWriter) {
        switch self {
        case .data(let isContinued, let bytes):
            writer.write(UInt8(isContinued ? 1 : 0))
            writer.write(bytes)
        case .terminate(let reason): writer.write([2, reason.code])
        case .encryptionRequest(let random, let diversifier, let nonce):
            writer.write(3 as UInt8)
            writer.write(random)
            writer.write(diversifier)
            writer.write(nonce)
        case .startEncryption(let nonce):
            writer.write(4 as UInt8)
            writer.write(nonce)
        case .encryptionProof(let proof):
            writer.write(5 as UInt8)
            writer.write(proof)
        case .encrypted: writer.write(6 as UInt8)
        case .encryptionRejected(let reason): writer.write([7, reason.code])
        case .featureRequest(let features):
            writer.write(8 as UInt8)
            writer.write(features)
        case .featureResponse(let features):
            writer.write(9 as UInt8)
            writer.write(features)
        case .version(let version, let company, let subversion, let isAnswer):
            writer.write([10, version, isAnswer ? 1 : 0])
            writer.write(company)
            writer.write(subversion)
        case .lengthRequest(let lengths):
            writer.write(11 as UInt8)
            lengths.write(&writer)
        case .lengthResponse(let lengths):
            writer.write(12 as UInt8)
            lengths.write(&writer)
        case .phyRequest(let sending, let receiving): writer.write([13, sending, receiving])
        case .phyUpdate(let sending, let receiving): writer.write([14, sending, receiving])
        case .connectionUpdate(let parameters):
            writer.write(15 as UInt8)
            writer.write(parameters)
        case .parameterRequest(let minimum, let parameters):
            writer.write(16 as UInt8)
            writer.write(minimum)
            writer.write(parameters)
        case .parametersRejected(let reason): writer.write([17, reason.code])
        }
    }

    init?(_ reader: inout ByteReader) {
        guard let kind = reader.readUInt8() else { return nil }
        switch kind {
        case 0, 1:
            guard reader.remaining <= Self.longestData else { return nil }
            self = .data(isContinued: kind == 1, reader.readRest())
        case 2, 7, 17:
            guard let reason = reader.readUInt8() else { return nil }
            let status = HCIStatus(reason)
            self =
                kind == 2
                ? .terminate(status)
                : kind == 7 ? .encryptionRejected(status) : .parametersRejected(status)
        case 3:
            guard let random = reader.readBytes(8), let diversifier = reader.readUInt16(),
                let nonce = reader.readUInt64()
            else { return nil }
            self = .encryptionRequest(random: random, diversifier: diversifier, nonce: nonce)
        case 4, 5, 8, 9:
            guard let value = reader.readUInt64() else { return nil }
            self =
                kind == 4
                ? .startEncryption(nonce: value)
                : kind == 5
                    ? .encryptionProof(value)
                    : kind == 8 ? .featureRequest(value) : .featureResponse(value)
        case 6:
            self = .encrypted
        case 10:
            guard let version = reader.readUInt8(), let isAnswer = reader.readUInt8(),
                let company = reader.readUInt16(), let subversion = reader.readUInt16()
            else { return nil }
            self = .version(
                version: version, company: company, subversion: subversion, isAnswer: isAnswer != 0)
        case 11, 12:
            guard let lengths = DataLengths(&reader) else { return nil }
            self = kind == 11 ? .lengthRequest(lengths) : .lengthResponse(lengths)
        case 13, 14:
            guard let sending = reader.readUInt8(), let receiving = reader.readUInt8() else { return nil }
            self =
                kind == 13
                ? .phyRequest(sending: sending, receiving: receiving)
                : .phyUpdate(sending: sending, receiving: receiving)
        case 15:
            guard let parameters = LEConnection.Parameters(&reader), parameters.isPossible
            else { return nil }
            self = .connectionUpdate(parameters)
        case 16:
            guard let minimum = reader.readUInt16(), let parameters = LEConnection.Parameters(&reader),
                parameters.isPossible, minimum >= 6, minimum <= parameters.interval
            else { return nil }
            self = .parameterRequest(minimum: minimum, parameters)
        default:
            return nil
        }
    }
}

extension DataLengths {
    func write(_ writer: inout ByteWriter) {
        for value in [receivedOctets, receivedTime, sentOctets, sentTime] { writer.write(value) }
    }

    init?(_ reader: inout ByteReader) {
        guard let receivedOctets = reader.readUInt16(), let receivedTime = reader.readUInt16(),
            let sentOctets = reader.readUInt16(), let sentTime = reader.readUInt16()
        else { return nil }
        self.init(
            receivedOctets: receivedOctets, receivedTime: receivedTime, sentOctets: sentOctets,
            sentTime: sentTime)
    }
}

extension LEConnection.Parameters {
    /// Whether the connection parameters are within their ranges (Core Specification, Vol 4, Part E, 7.8.12).
    var isPossible: Bool {
        (6...3200).contains(interval) && latency <= 499 && (10...3200).contains(timeout)
            && Int(timeout) * 8 > (1 + Int(latency)) * Int(interval) * 2
    }
}

extension ByteWriter {
    mutating func write(_ parameters: LEConnection.Parameters) {
        write(parameters.interval)
        write(parameters.latency)
        write(parameters.timeout)
    }

    /// Writes the type and the bytes of an address.
    package mutating func writeWithKind(_ address: DeviceAddress) {
        write(address.kindCode)
        write(address)
    }
}

extension ByteReader {
    mutating func readAddressWithKind() -> DeviceAddress? {
        guard let kind = readUInt8(), kind < 2 else { return nil }
        return readAddress(kind: kind)
    }
}
