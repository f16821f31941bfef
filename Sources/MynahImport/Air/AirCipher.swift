import MynahHost

/// The encryption of one connection (Core Specification, Vol 6, Part E).
struct AirCipher {
    /// The values that both sides exchange before encryption (Part B, 2.4.2.4 and 2.4.2.5), in the order in
    /// which they are sent.
    struct Session: Hashable {
        var centralDiversifier: [UInt8]
        var centralVector: [UInt8]
        var peripheralDiversifier: [UInt8] = []
        var peripheralVector: [UInt8] = []
    }

    private let vector: [UInt8]
    /// The candidate session keys, one for each long-term key; the first decryption keeps only the right
    /// one.
    private var keys: [[UInt8]]
    private var isKnown = false
    /// The number of packets that no key could decrypt.
    ///
    /// After 64 such packets, no key is tried any more, because trying a long list of keys takes time.
    private var failures = 0
    private static let mostFailures = 64
    /// The packet counter of each side for the next packet.
    private var counters: [UInt64] = [0, 0]

    /// The maximum number of successive packets that a sniffer is assumed to miss.
    private static let missed: UInt64 = 64
    /// The length of the message integrity code, in bytes.
    static let codeLength = 4

    /// Prepares the decryption of a session with any of the long-term keys.
    init(_ session: Session, _ longTermKeys: LongTermKeys) {
        vector = session.centralVector + session.peripheralVector
        // In AES, the most significant byte comes first.
        let diversifier = Array((session.centralDiversifier + session.peripheralDiversifier).reversed())
        // Tools print keys in either order.
        let candidates = longTermKeys.keys.flatMap { [$0, $0.reversed()] }
        keys = candidates.map { AES128.encrypt(diversifier, with: $0) }
    }

    /// Returns the payload of an encrypted PDU and its sender, or `nil` if no key decrypts it.
    mutating func decrypt(_ pdu: [UInt8], from side: AirPacket.Side?) -> (payload: [UInt8], AirPacket.Side)? {
        guard pdu.count > 2 + Self.codeLength else { return nil }
        // NESN, SN and MD are not authenticated.
        let header = [pdu[0] & 0xE3]
        let message = Array(pdu[2..<(pdu.count - Self.codeLength)])
        let code = Array(pdu.suffix(Self.codeLength))
        for key in keys {
            for sender in side.map({ [$0] }) ?? [.central, .peripheral] {
                let next = counters[sender.rawValue]
                for counter in next..<(next + (isKnown ? Self.missed : 8)) {
                    guard
                        let payload = AES128.decryptCCM(
                            message, code: code, header: header, nonce: nonce(counter, sender), with: key)
                    else { continue }
                    keys = [key]
                    isKnown = true
                    counters[sender.rawValue] = counter + 1
                    return (payload, sender)
                }
            }
        }
        failures += 1
        if !isKnown, failures >= Self.mostFailures { keys = [] }
        return nil
    }

    /// Returns the nonce: the packet counter with the direction, and the initialization vector (Part E, 2.1).
    private func nonce(_ counter: UInt64, _ sender: AirPacket.Side) -> [UInt8] {
        var bytes = (0..<5).map { UInt8(truncatingIfNeeded: counter >> (8 * $0)) }
        bytes[4] = bytes[4] & 0x7F | (sender == .central ? 0x80 : 0)
        return bytes + vector
    }
}
