import MynahCore
import MynahHCI
import MynahSupport

/// A connection whose packets a sniffer captured.
struct AirLink {
    /// The part of a PDU that is relevant to a host.
    enum Meaning: Hashable {
        /// A part of an L2CAP PDU, with its sender.
        case data([UInt8], isFirst: Bool, AirPacket.Side)
        case encrypted
        case disconnected(reason: UInt8)
        /// An encrypted PDU that no key decrypts.
        case unreadable
    }

    /// The opcodes of control PDUs (Core Specification, Vol 6, Part B, 2.4.2).
    private enum Control {
        static let terminate: UInt8 = 0x02
        static let encryptionRequest: UInt8 = 0x03
        static let encryptionResponse: UInt8 = 0x04
        static let startEncryptionRequest: UInt8 = 0x05
        static let pauseEncryptionResponse: UInt8 = 0x0B
        static let reject: UInt8 = 0x0D
        static let rejectExtended: UInt8 = 0x11
    }

    let handle: ConnectionHandle
    /// The peripheral, or `nil` if the connection began before the capture.
    let peripheral: DeviceAddress?
    private let keys: LongTermKeys
    private var session: AirCipher.Session?
    private var cipher: AirCipher?
    private var isEncryptionReported = false
    /// The last PDU of each side, which is repeated until the other side acknowledges it (Part B, 4.5.9).
    private var last: [[UInt8]] = [[], []]
    private var lastSide = AirPacket.Side.peripheral

    init(_ handle: ConnectionHandle, _ peripheral: DeviceAddress?, _ keys: LongTermKeys) {
        (self.handle, self.peripheral, self.keys) = (handle, peripheral, keys)
    }

    /// Returns the parts of a packet's PDU that are relevant to a host, in order.
    mutating func take(_ packet: AirPacket) -> [Meaning] {
        let pdu = packet.pdu
        let kind = pdu[0] & 3
        guard kind != 0 else { return [] }
        // The header has three bytes if it includes the length of a Constant Tone Extension.
        let start = pdu[0] & 0x20 != 0 ? 3 : 2
        guard pdu.count >= start else { return [] }
        let side = packet.side ?? guess(pdu, start, kind)
        let isRepeated = Self.isRepetition(pdu, of: last[side.rawValue])
        last[side.rawValue] = pdu
        lastSide = side
        guard !isRepeated, pdu.count > start else { return [] }
        var payload = Array(pdu[start...])
        var sender = side
        let isEncrypted = packet.isDecrypted || cipher != nil && !isOpen(payload, kind)
        if packet.isDecrypted {
            payload = Self.withoutCode(payload, kind)
        } else if isEncrypted {
            guard let found = cipher?.decrypt(pdu, from: packet.side) else { return [.unreadable] }
            (payload, sender) = found
        }
        let begins = isEncrypted && !isEncryptionReported
        isEncryptionReported = isEncryptionReported || isEncrypted
        return (begins ? [.encrypted] : []) + meaning(payload, kind, sender)
    }

    private mutating func meaning(_ payload: [UInt8], _ kind: UInt8, _ sender: AirPacket.Side) -> [Meaning] {
        if kind == 3 { return control(payload).map { [$0] } ?? [] }
        return payload.isEmpty ? [] : [.data(payload, isFirst: kind == 2, sender)]
    }

    /// Whether a PDU repeats the previous one, with the same sequence number and content.
    private static func isRepetition(_ pdu: [UInt8], of last: [UInt8]) -> Bool {
        guard let first = last.first, pdu.count == last.count else { return false }
        // LLID and SN must be the same; NESN and MD may change.
        return pdu[0] & 0x0B == first & 0x0B && pdu.dropFirst().elementsEqual(last.dropFirst())
    }

    /// Guesses the sender of a PDU if the capture does not record it.
    ///
    /// A client's ATT opcode is even. For other PDUs, the sides take turns.
    private func guess(_ pdu: [UInt8], _ start: Int, _ kind: UInt8) -> AirPacket.Side {
        if cipher == nil, kind == 2, pdu.count > start + 4, pdu[start + 2] == 4, pdu[start + 3] == 0 {
            return pdu[start + 4] & 1 == 0 ? .central : .peripheral
        }
        if kind == 1, pdu.count > start { return lastSide }
        return lastSide.other
    }

    /// Whether a PDU is sent in plain text while encryption starts or stops.
    private func isOpen(_ payload: [UInt8], _ kind: UInt8) -> Bool {
        guard kind == 3 else { return false }
        switch (payload[0], payload.count) {
        case (Control.startEncryptionRequest, 1), (Control.pauseEncryptionResponse, 1), (Control.reject, 2),
            (Control.rejectExtended, 3), (Control.encryptionRequest, 23), (Control.encryptionResponse, 13):
            return true
        default: return false
        }
    }

    private mutating func control(_ payload: [UInt8]) -> Meaning? {
        var reader = ByteReader(payload)
        guard let opcode = reader.readUInt8() else { return nil }
        switch opcode {
        case Control.terminate: return .disconnected(reason: reader.readUInt8() ?? 0x13)
        case Control.encryptionRequest:
            guard reader.readBytes(10) != nil, let diversifier = reader.readBytes(8),
                let vector = reader.readBytes(4)
            else { return nil }
            session = .init(centralDiversifier: diversifier, centralVector: vector)
        case Control.encryptionResponse:
            guard var session, let diversifier = reader.readBytes(8), let vector = reader.readBytes(4) else {
                return nil
            }
            (session.peripheralDiversifier, session.peripheralVector) = (diversifier, vector)
            cipher = AirCipher(session, keys)
        case Control.pauseEncryptionResponse, Control.reject, Control.rejectExtended: cipher = nil
        default: break
        }
        return nil
    }

    /// Returns the payload of a decrypted PDU without the message integrity code, which some sniffers keep.
    private static func withoutCode(_ payload: [UInt8], _ kind: UInt8) -> [UInt8] {
        guard kind == 2, payload.count >= 4 + AirCipher.codeLength else { return payload }
        let length = Int(payload[0]) | Int(payload[1]) << 8
        return length + 4 == payload.count - AirCipher.codeLength
            ? payload.dropLast(AirCipher.codeLength) : payload
    }
}
