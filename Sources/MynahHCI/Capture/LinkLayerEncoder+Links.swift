import MynahCore
import MynahSupport

/// A PDU of a link, without its sequence bits (SN and NESN).
struct LinkLayerPDU: Hashable, Sendable {
    /// The LLID of a data PDU (Core Specification, Vol 6, Part B, 2.4).
    enum Content: UInt8, Sendable {
        case continued = 1
        case start = 2
        case control = 3
    }

    var role: LinkLayerEncoder.Role
    var content: Content
    var payload: [UInt8]

    init(_ role: LinkLayerEncoder.Role, _ content: Content, _ payload: [UInt8]) {
        self.role = role
        self.content = content
        self.payload = payload
    }

    /// An empty PDU, which is sent only to acknowledge.
    static func empty(_ role: LinkLayerEncoder.Role) -> LinkLayerPDU { LinkLayerPDU(role, .continued, []) }

    /// Returns the header and the payload.
    func bytes(sequence: Bool, expected: Bool) -> [UInt8] {
        let header = content.rawValue | (expected ? 0x04 : 0) | (sequence ? 0x08 : 0)
        return [header, UInt8(payload.count)] + payload
    }
}

// The PDUs of a link (Core Specification, Vol 6, Part B, 2.4).
extension LinkLayerEncoder {
    /// Returns the PDUs that would carry a frame's content on a real link.
    ///
    /// Virtual controllers use one PDU for some exchanges that take two on a real link. Such a PDU becomes
    /// two here.
    static func pdus(of content: LinkPDU, from role: Role, event: UInt16) -> [LinkLayerPDU] {
        func control(_ opcode: UInt8, _ parameters: [UInt8] = []) -> LinkLayerPDU {
            LinkLayerPDU(role, .control, [opcode] + parameters)
        }
        // Six connection events later, which is the shortest delay that a central may choose.
        let instant = event &+ 6
        switch content {
        case .data(let isContinued, let bytes): return data(bytes, isContinued: isContinued, role)
        case .terminate(let reason): return [control(0x02, [reason.code])]
        case .encryptionRequest(let random, let diversifier, let nonce):
            return [control(0x03, random + little(diversifier) + little(nonce) + vector(nonce))]
        case .startEncryption(let nonce):
            // LL_ENC_RSP and LL_START_ENC_REQ.
            return [control(0x04, little(nonce) + vector(nonce)), control(0x05)]
        case .encryptionProof, .encrypted: return [control(0x06)]
        case .encryptionRejected(let reason): return [control(0x11, [0x03, reason.code])]
        case .featureRequest(let features):
            return [control(role == .central ? 0x08 : 0x0E, little(features))]
        case .featureResponse(let features): return [control(0x09, little(features))]
        case .version(let version, let company, let subversion, _):
            return [control(0x0C, [version] + little(company) + little(subversion))]
        case .lengthRequest(let lengths): return [control(0x14, lengths.bytes)]
        case .lengthResponse(let lengths): return [control(0x15, lengths.bytes)]
        case .phyRequest(let sending, let receiving): return [control(0x16, [sending, receiving])]
        case .phyUpdate(let sending, let receiving):
            let own = mask(sending)
            let peer = mask(receiving)
            guard role == .peripheral else { return [control(0x18, [own, peer] + little(instant))] }
            // The peripheral responds with LL_PHY_RSP, and then the central decides.
            return [
                control(0x17, [own, peer]),
                LinkLayerPDU(.central, .control, [0x18, peer, own] + little(instant)),
            ]
        case .connectionUpdate(let parameters):
            return [control(0x00, [1] + little(0 as UInt16) + parameters.bytes + little(instant))]
        case .parameterRequest(let minimum, let parameters):
            // There is no preferred periodicity, and none of the six offsets is valid.
            return [
                control(
                    0x0F,
                    little(minimum) + parameters.bytes + [0] + little(event)
                        + [UInt8](repeating: 0xFF, count: 12))
            ]
        case .parametersRejected(let reason): return [control(0x11, [0x0F, reason.code])]
        }
    }

    private static func data(_ bytes: [UInt8], isContinued: Bool, _ role: Role) -> [LinkLayerPDU] {
        var rest = bytes[...]
        var found: [LinkLayerPDU] = []
        repeat {
            let isStart = found.isEmpty && !isContinued
            found.append(LinkLayerPDU(role, isStart ? .start : .continued, Array(rest.prefix(longestData))))
            rest = rest.dropFirst(longestData)
        } while !rest.isEmpty
        return found
    }

    /// Returns one side's part of the initialization vector.
    ///
    /// On the virtual air, each side sends one random number, from which both the initialization vector and
    /// the session key are derived.
    private static func vector(_ nonce: UInt64) -> [UInt8] {
        little(UInt32(truncatingIfNeeded: SeededRandom.mix(nonce)))
    }

    /// Returns the bit for a PHY, or 0 for a PHY that does not change.
    private static func mask(_ phy: UInt8) -> UInt8 { (1...3).contains(phy) ? 1 << (phy - 1) : 0 }

    static func little<I: FixedWidthInteger & UnsignedInteger>(_ value: I) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(value)
        return writer.bytes
    }
}

extension DataLengths {
    fileprivate var bytes: [UInt8] {
        var writer = ByteWriter()
        for value in [receivedOctets, receivedTime, sentOctets, sentTime] { writer.write(value) }
        return writer.bytes
    }
}

extension LEConnection.Parameters {
    /// The interval, the latency and the timeout as bytes.
    fileprivate var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(self)
        return writer.bytes
    }
}
