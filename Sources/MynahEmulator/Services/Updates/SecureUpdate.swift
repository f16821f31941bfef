import MynahCore
import MynahSupport

/// Nordic's secure DFU, with the characteristics DFU Control Point and DFU Packet (nRF5 SDK 17.1, "DFU
/// Transport: BLE").
struct SecureUpdate: ServiceBehavior {
    static let controlPoint: BluetoothUUID = "8EC90001-F315-4F60-9FB8-838830DAEA50"
    static let packet: BluetoothUUID = "8EC90002-F315-4F60-9FB8-838830DAEA50"

    /// The time from the last response until the device restarts with its new firmware.
    static let restartDelay = Duration.milliseconds(250)

    enum Opcode: UInt8 {
        case create = 0x01
        case setReceipts = 0x02
        case checksum = 0x03
        case execute = 0x04
        case select = 0x06
        case abort = 0x0C

        /// The length of the request's parameters, in bytes.
        var octets: Int {
            switch self {
            case .create: 5
            case .setReceipts: 2
            case .select: 1
            case .checksum, .execute, .abort: 0
            }
        }
    }

    /// The packet receipt notifications of a central: a checksum is sent after every `every` packets.
    ///
    /// `left` packets remain until the next checksum.
    private struct Receipts: Sendable {
        var every: UInt16
        var left: UInt16
    }

    private static let response: UInt8 = 0x60
    private static let success: UInt8 = 0x01

    let handled = [controlPoint, packet]
    private(set) var objects = UpdateObjects()
    private var receipts: [Peer.ID: Receipts] = [:]
    private var restart: Duration?

    func due(_ service: some ServiceState) -> Duration? { restart }

    mutating func begin(_ service: some ServiceState) -> [ServiceEffect] {
        self = SecureUpdate()
        return []
    }

    mutating func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, by central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) -> [ServiceEffect] {
        guard characteristic == Self.controlPoint else { return add(value, by: central) }
        guard let opcode = value.first else { throw .invalidAttributeValueLength }
        guard service.isSubscribed(central, to: Self.controlPoint) else { throw .cccdImproperlyConfigured }
        return [
            Self.respond(opcode, to: central) { () throws(UpdateError) in
                guard let known = Opcode(rawValue: opcode) else { throw .notSupported }
                guard value.count == 1 + known.octets else { throw .invalidParameter }
                return try carryOut(known, Array(value.dropFirst()), for: central, at: service.now)
            }
        ]
    }

    mutating func disconnected(_ central: Peer.ID) { receipts[central] = nil }

    mutating func tick(_ service: some ServiceState) -> [ServiceEffect] {
        guard let restart, restart <= service.now else { return [] }
        self.restart = nil
        receipts = [:]
        return [.restart]
    }

    // MARK: Packets

    /// Adds a packet, which has no response.
    ///
    /// When the central has sent as many packets as it has chosen for a receipt, the checksum is sent, or the
    /// error of the last packet.
    private mutating func add(_ bytes: [UInt8], by central: Peer.ID) -> [ServiceEffect] {
        var trouble: UpdateError?
        do throws(UpdateError) { try objects.add(bytes) } catch { trouble = error }
        guard var receipt = receipts[central] else { return [] }
        receipt.left -= 1
        let isDue = receipt.left == 0
        if isDue { receipt.left = receipt.every }
        receipts[central] = receipt
        guard isDue else { return [] }
        return [
            Self.respond(Opcode.checksum.rawValue, to: central) { () throws(UpdateError) in
                if let trouble { throw trouble }
                return try objects.checksum().bytes
            }
        ]
    }

    // MARK: Requests

    private static func respond(
        _ opcode: UInt8, to central: Peer.ID, _ body: () throws(UpdateError) -> [UInt8]
    ) -> ServiceEffect {
        let result: [UInt8]
        do throws(UpdateError) { result = [success] + (try body()) } catch { result = error.bytes }
        return .send([response, opcode] + result, of: controlPoint, to: central)
    }

    /// Carries out a request, and returns the parameters of the response.
    private mutating func carryOut(
        _ opcode: Opcode, _ parameters: [UInt8], for central: Peer.ID, at now: Duration
    ) throws(UpdateError) -> [UInt8] {
        var reader = ByteReader(parameters)
        switch opcode {
        case .create:
            guard let type = reader.readUInt8(), let length = reader.readUInt32() else {
                throw .invalidParameter
            }
            try objects.create(try objects.kind(type), length: length)
            if let every = receipts[central]?.every { receipts[central]?.left = every }
            return []
        case .setReceipts:
            guard let every = reader.readUInt16() else { throw .invalidParameter }
            receipts[central] = every == 0 ? nil : Receipts(every: every, left: every)
            return []
        case .checksum: return try objects.checksum().bytes
        case .execute:
            if try objects.execute() { restart = now + Self.restartDelay }
            return []
        case .select:
            guard let type = reader.readUInt8() else { throw .invalidParameter }
            let (longest, progress) = objects.select(try objects.kind(type))
            return longest.octets + progress.bytes
        case .abort:
            // The device leaves DFU mode, and restarts with its old firmware.
            restart = now + Self.restartDelay
            return []
        }
    }
}

extension UpdateObjects.Progress {
    /// The offset and the CRC, as in a response.
    fileprivate var bytes: [UInt8] { offset.octets + crc.octets }
}

extension UInt32 {
    /// The bytes of the number, little-endian.
    fileprivate var octets: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) } }
}
