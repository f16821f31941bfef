import MynahCore
import MynahHost
import MynahSupport

@testable import MynahImport

/// The packets that a sniffer hears of a device and a phone, packet by packet, as a file of pcap.
struct AirScript {
    static let peripheral = DeviceAddress(value: 0xC0DE_0000_0001, kind: .random)
    static let access: UInt32 = 0x5012_3456

    /// Encryption of the session that the Core Specification has as sample data (Vol 6, Part C, 1).
    struct Sample {
        static let key = "4C68384139F574D836BCF34E9DFB01BF"
        static let request = "03 9078563412EFCDAB 7424 1302F1E0DFCEBDAC 24ABDCBA"
        static let response = "04 7968574635241302 BEBAAFDE"
        static let vector = Hex.decode("24ABDCBA BEBAAFDE") ?? []
        static let session = Hex.decode("99AD1B5226A37E3E058E3B8E27C2C666") ?? []
    }

    private(set) var records: [(time: Int64, bytes: [UInt8])] = []
    var time: Int64 = 1_767_225_600_000_000
    let format: AirPacket.Format
    private var sequence: [UInt8] = [0, 0]
    private var counters: [UInt64] = [0, 0]
    var isEncrypted = false

    init(_ format: AirPacket.Format) { self.format = format }

    var linkType: UInt32 {
        switch format {
        case .bare: 251
        case .withPseudoHeader: 256
        case .nordic: 272
        }
    }

    /// The file.
    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(0xA1B2_C3D4 as UInt32)
        writer.write([2, 0, 4, 0] + [UInt8](repeating: 0, count: 8) + [0xFF, 0xFF, 0, 0])
        writer.write(linkType)
        for record in records {
            writer.write(UInt32(record.time / 1_000_000))
            writer.write(UInt32(record.time % 1_000_000))
            for _ in 0..<2 { writer.write(UInt32(record.bytes.count)) }
            writer.write(record.bytes)
        }
        return writer.bytes
    }

    private static func littleEndian(_ access: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: access >> (8 * $0)) }
    }

    /// A packet as it was heard; `side` is `nil` for advertising.
    mutating func add(
        _ pdu: [UInt8], _ access: UInt32, _ side: AirPacket.Side? = nil, isRight: Bool = true,
        isAuxiliary: Bool = false
    ) {
        time += 1000
        let packet = Self.littleEndian(access) + pdu + [0, 0, 0]
        switch format {
        case .bare: records.append((time, packet))
        case .withPseudoHeader:
            let kind = side.map { $0 == .central ? 2 : 3 } ?? (isAuxiliary ? 1 : 0)
            let flags = UInt16(0x0401 | (isRight ? 0x0800 : 0) | kind << 7)
            records.append(
                (
                    time,
                    [37, 0, 0, 0, 0, 0, 0, 0, UInt8(flags & 0xFF), UInt8(flags >> 8)] + packet
                ))
        case .nordic:
            let flags: UInt8 = (isRight ? 1 : 0) | (side == .central ? 2 : 0)
            let body = [10, flags, 37, 50, 0, 0, 0, 0, 0, 0] + packet
            records.append((time, [0, UInt8(body.count), 0, 2, 0, 0, side == nil ? 2 : 6] + body))
        }
    }

    mutating func advertise(_ data: String, type: UInt8 = 0) {
        let payload = address + (Hex.decode(data) ?? [])
        add([type | 0x40, UInt8(payload.count)] + payload, AirPacket.advertisingAccess)
    }

    /// The access address of the train.
    static let train: UInt32 = 0x7146_55AA

    /// AUX_ADV_IND of the set 3, with SyncInfo of a train each 100 ms if wanted.
    mutating func advertiseExtended(_ data: [UInt8], hasTrain: Bool, mode: UInt8 = 0) {
        var header = [UInt8(hasTrain ? 0x29 : 0x09)] + address + [0x34, 0x32]
        if hasTrain {
            header += (Hex.decode("0000 5000 FFFFFFFF1F") ?? []) + Self.littleEndian(Self.train)
            header += Hex.decode("010203 0700") ?? []
        }
        let payload = [UInt8(header.count) | mode << 6] + header + data
        add([0x47, UInt8(payload.count)] + payload, AirPacket.advertisingAccess, isAuxiliary: true)
    }

    /// AUX_SYNC_IND or AUX_CHAIN_IND of the train; `hasMore` says that another PDU follows.
    mutating func sync(_ data: [UInt8], hasMore: Bool = false) {
        let header: [UInt8] = hasMore ? [4, 0x10, 5, 10, 0] : [0]
        add([0x07, UInt8(header.count + data.count)] + header + data, Self.train, isAuxiliary: true)
    }

    private var address: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.peripheral)
        return writer.bytes
    }

    mutating func connect() {
        let payload =
            [1, 2, 3, 4, 5, 0xC6] + address + Self.littleEndian(Self.access)
            + (Hex.decode("010203 02 0300 1800 0000 4800 FFFFFFFF1F 05") ?? [])
        add([0xC5, UInt8(payload.count)] + payload, AirPacket.advertisingAccess)
    }

    /// A data or a control PDU of a side.
    mutating func send(_ side: AirPacket.Side, _ kind: UInt8, _ payload: [UInt8], isHeard: Bool = true) {
        let number = sequence[side.rawValue]
        sequence[side.rawValue] = 1 - number
        let header = kind | number << 3
        var payload = payload
        if isEncrypted, !payload.isEmpty { payload = encrypt(payload, header, side) }
        if isHeard { add([header, UInt8(payload.count)] + payload, Self.access, side) }
    }

    /// The last packet again, with another NESN.
    mutating func repeatLast() {
        guard var last = records.last else { return }
        time += 1000
        last.time = time
        let place = last.bytes.count - 3 - lastLength
        last.bytes[place] ^= 0x04
        records.append(last)
    }

    private var lastLength: Int {
        guard let bytes = records.last?.bytes else { return 0 }
        let start = format == .bare ? 4 : format == .nordic ? 21 : 14
        return bytes.count - 3 - start
    }

    mutating func control(_ side: AirPacket.Side, _ hex: String) { send(side, 3, Hex.decode(hex) ?? []) }

    /// An L2CAP PDU in fragments.
    mutating func att(_ side: AirPacket.Side, _ hex: String, size: Int = 27) {
        let pdu = Hex.decode(hex) ?? []
        let frame = [UInt8(pdu.count), 0, 4, 0] + pdu
        for start in stride(from: 0, to: frame.count, by: size) {
            send(side, start == 0 ? 2 : 1, Array(frame[start..<min(frame.count, start + size)]))
        }
    }

    mutating func exchange(_ request: String, _ response: String) {
        att(.central, request)
        send(.peripheral, 1, [])
        att(.peripheral, response)
    }

    /// Begins encryption with the sample session.
    mutating func encrypt() {
        control(.central, Sample.request)
        control(.peripheral, Sample.response)
        control(.peripheral, "05")
        isEncrypted = true
        control(.central, "06")
        control(.peripheral, "06")
    }

    mutating func discover() {
        exchange("10 0100 FFFF 0028", "11 06 1000 FFFF 0D18")
        exchange("08 1000 FFFF 0328", "09 07 1100 12 1200 372A 1400 08 1500 392A")
        exchange("08 1600 FFFF 0328", "01 08 1600 0A")
        exchange("04 1300 1300", "05 01 1300 0229")
    }

    // MARK: AES-CCM, from its definition (RFC 3610)

    private mutating func encrypt(_ message: [UInt8], _ header: UInt8, _ side: AirPacket.Side) -> [UInt8] {
        let counter = counters[side.rawValue]
        counters[side.rawValue] += 1
        var nonce = (0..<5).map { UInt8(truncatingIfNeeded: counter >> (8 * $0)) }
        if side == .central { nonce[4] |= 0x80 }
        nonce += Sample.vector
        func block(_ number: UInt8) -> [UInt8] {
            AES128.encrypt([0x01] + nonce + [0, number], with: Sample.session)
        }
        var code = AES128.encrypt([0x49] + nonce + [0, UInt8(message.count)], with: Sample.session)
        let blocks =
            [[0, 1, header & 0xE3] + [UInt8](repeating: 0, count: 13)]
            + stride(from: 0, to: message.count, by: 16).map { start in
                let part = Array(message[start..<min(message.count, start + 16)])
                return part + [UInt8](repeating: 0, count: 16 - part.count)
            }
        for block in blocks { code = AES128.encrypt(zip(code, block).map { $0 ^ $1 }, with: Sample.session) }
        let stream = (0..<(message.count + 15) / 16).flatMap { block(UInt8($0 + 1)) }
        return zip(message, stream).map { $0 ^ $1 } + zip(code.prefix(4), block(0)).map { $0 ^ $1 }
    }
}
