import MynahSupport

/// One end of an LE credit-based channel, without I/O (Core Specification, Vol 3, Part A, 3.4 and 10.1).
///
/// Received data is bounded: a limited number of unread SDUs, and one incomplete SDU. The peer gets no
/// more credits until the SDUs are read.
struct CreditChannel: Sendable {
    /// The sizes that one end sends and accepts, in bytes.
    struct Limits: Hashable, Sendable {
        /// The maximum length of an SDU.
        var mtu = 2048
        /// The maximum length of a frame's payload, which fits into one packet of the link layer.
        var mps = 247

        /// `true` if the MTU and the MPS are within their limits: both are at least 23 (4.22).
        var areValid: Bool { mtu >= 23 && mps >= 23 && mps <= 65533 }
    }

    /// The peer does not keep to the rules, and the channel is to be closed (3.4.3, 10.1).
    struct Violation: Error, Hashable {
        var reason: String
    }

    /// How many frames a peer may send at first.
    static let initialCredits: UInt16 = 16
    /// How many SDUs may be unread before credits are kept back.
    static let unreadLimit = 4

    let own: Limits
    let peer: Limits
    private(set) var sendCredits: Int
    /// How many frames the peer may send.
    private(set) var receiveCredits = Int(initialCredits)
    private var frames: [[UInt8]] = []
    private var buffer: [UInt8] = []
    private var needed: Int?
    private(set) var unread = 0
    /// Credits for the peer that were not sent yet.
    private var owed: UInt16 = 0

    init(own: Limits = Limits(), peer: Limits, credits: UInt16) {
        self.own = own
        self.peer = peer
        sendCredits = Int(credits)
    }

    // MARK: Out

    /// Whether everything that was to be sent is on its way.
    var isDrained: Bool { frames.isEmpty }

    /// Whether there is a frame and a credit for it.
    var isReady: Bool { sendCredits > 0 && !frames.isEmpty }

    /// Queues an SDU, cut into frames; returns `false` if it is longer than the peer accepts.
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

    /// The next frame, if there is a credit for it.
    mutating func nextFrame() -> [UInt8]? {
        guard sendCredits > 0, !frames.isEmpty else { return nil }
        sendCredits -= 1
        return frames.removeFirst()
    }

    /// The peer gives credits; none at all, or more than 65535 together, it may not (4.24, 10.1).
    mutating func credited(_ count: UInt16) throws(Violation) {
        guard count > 0, sendCredits + Int(count) <= 0xFFFF else {
            throw Violation(reason: "it gave \(count.counting("credit")), and \(sendCredits) were left")
        }
        sendCredits += Int(count)
    }

    // MARK: In

    /// Receives a frame, and returns the SDU that it completes, or `nil` if more frames have to follow.
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

    /// An SDU was read.
    mutating func wasRead() {
        unread = max(0, unread - 1)
    }

    /// Returns the credits to give back to the peer now; 0 if none.
    ///
    /// Few at a time would be as many signals, but a peer amid an SDU must not run out of them.
    mutating func takeCredits() -> UInt16 {
        guard unread < Self.unreadLimit, owed >= Self.initialCredits / 2 || receiveCredits == 0 else {
            return 0
        }
        defer { owed = 0 }
        receiveCredits += Int(owed)
        return owed
    }
}
