import MynahSupport

/// One end of an LE credit-based channel (Core Specification, Vol 3, Part A, 3.4 and 10.1).
///
/// This state machine has no I/O. Received data is limited to a number of unread SDUs and one incomplete SDU:
/// the peer gets no more credits until SDUs are read.
struct CreditChannel: Sendable {
    /// The largest sizes that one end accepts, in bytes.
    struct Limits: Hashable, Sendable {
        /// The largest length of an SDU.
        var mtu = 2048
        /// The largest length of a frame's payload, chosen so that a frame fits into one Link Layer packet.
        var mps = 247

        /// Whether the MTU and the MPS are in the allowed range: both are at least 23 (4.22).
        var areValid: Bool { mtu >= 23 && mps >= 23 && mps <= 65533 }
    }

    /// A violation of the protocol by the peer, after which the channel has to be closed (3.4.3, 10.1).
    struct Violation: Error, Hashable {
        var reason: String
    }

    /// The number of frames that a peer may send on a new channel before it gets more credits.
    static let initialCredits: UInt16 = 16
    /// The number of unread SDUs at which the peer gets no more credits.
    static let unreadLimit = 4

    let own: Limits
    let peer: Limits
    private(set) var sendCredits: Int
    /// The number of frames that the peer may still send.
    private(set) var receiveCredits = Int(initialCredits)
    private var frames: [[UInt8]] = []
    private var buffer: [UInt8] = []
    private var needed: Int?
    private(set) var unread = 0
    /// The number of received frames whose credits were not given back to the peer yet.
    private var owed: UInt16 = 0

    init(own: Limits = Limits(), peer: Limits, credits: UInt16) {
        self.own = own
        self.peer = peer
        sendCredits = Int(credits)
    }

    // MARK: Out

    /// Whether all queued data was sent.
    var isDrained: Bool { frames.isEmpty }

    /// Whether there is a frame to send and a credit for it.
    var isReady: Bool { sendCredits > 0 && !frames.isEmpty }

    /// Queues an SDU as frames; returns `false` if the SDU is longer than the peer accepts.
    mutating func add(_ sdu: [UInt8]) -> Bool {
        guard sdu.count <= peer.mtu, sdu.count <= 0xFFFF else { return false }
        var writer = ByteWriter(capacity: 2 + sdu.count)
        writer.write(UInt16(sdu.count))
        writer.write(sdu)
        let bytes = writer.bytes
        for start in stride(from: 0, to: bytes.count, by: peer.mps) {
            frames.append(Array(bytes[start..<min(start + peer.mps, bytes.count)]))
        }
        return true
    }

    /// Removes and returns the next frame, or returns `nil` if there is none or no credit for it.
    mutating func nextFrame() -> [UInt8]? {
        guard sendCredits > 0, !frames.isEmpty else { return nil }
        sendCredits -= 1
        return frames.removeFirst()
    }

    /// Adds credits from the peer; throws if the number is 0, or if the total exceeds 65535 (4.24, 10.1).
    mutating func credited(_ count: UInt16) throws(Violation) {
        guard count > 0, sendCredits + Int(count) <= 0xFFFF else {
            throw Violation(reason: "it gave \(count.counting("credit")), and \(sendCredits) were left")
        }
        sendCredits += Int(count)
    }

    // MARK: In

    /// Handles a frame; returns the SDU that is now complete, or `nil` if more frames must follow.
    mutating func receive(_ payload: [UInt8]) throws(Violation) -> [UInt8]? {
        guard receiveCredits > 0 else { throw Violation(reason: "it sent a frame without a credit") }
        guard payload.count <= own.mps else { throw Violation(reason: "a frame is longer than the MPS") }
        receiveCredits -= 1
        owed += 1
        var rest = payload[...]
        if needed == nil {
            guard payload.count >= 2 else { throw Violation(reason: "a first frame has no SDU length") }
            let length = Int(payload[0]) | Int(payload[1]) << 8
            guard length <= own.mtu else { throw Violation(reason: "an SDU is longer than the MTU") }
            needed = length
            rest = payload.dropFirst(2)
        }
        buffer += rest
        guard let needed, buffer.count >= needed else { return nil }
        guard buffer.count == needed else { throw Violation(reason: "frames hold more than their SDU") }
        let sdu = buffer
        buffer = []
        self.needed = nil
        unread += 1
        return sdu
    }

    /// Counts an SDU as read.
    mutating func wasRead() {
        unread = max(0, unread - 1)
    }

    /// Returns the number of credits to give to the peer now, which may be 0.
    ///
    /// Credits are collected to save signals, but the peer must not run out of them in the middle of an SDU.
    mutating func takeCredits() -> UInt16 {
        guard unread < Self.unreadLimit, owed >= Self.initialCredits / 2 || receiveCredits == 0 else {
            return 0
        }
        defer { owed = 0 }
        receiveCredits += Int(owed)
        return owed
    }
}
