/// The unacknowledged PDUs of one side of a connection, and the sequence number of the next frame that it
/// expects.
///
/// Frames are numbered, and repeated until they are acknowledged (Core Specification, Vol 6, Part B, 4.5.9).
struct TransmitWindow: Sendable {
    private struct Unacknowledged: Sendable {
        var sequence: UInt16
        var content: LinkPDU
    }

    /// The PDUs that one acknowledgement covered.
    struct Acknowledged: Equatable, Sendable {
        /// The number of the host's packets among them.
        var packets = 0
        /// Whether LL_TERMINATE_IND was among them.
        var hasTerminated = false
    }

    /// The largest number of unacknowledged PDUs, which is more than a host and the procedures of two
    /// controllers can cause.
    ///
    /// Only a peer that does not acknowledge anything reaches it.
    static let limit = 300

    /// The number of the next frame with a PDU.
    private(set) var nextSequence: UInt16 = 0
    /// The sequence number of the peer's next frame.
    private var expected: UInt16 = 0
    private var sent: [Unacknowledged] = []
    /// The number of the host's packets among the unacknowledged PDUs.
    private(set) var packets = 0
    /// The time at which all unacknowledged PDUs are repeated, or `nil` if there are none.
    private(set) var retransmission: AirTime?

    /// Whether no further PDU can be sent.
    var isFull: Bool { sent.count >= Self.limit }

    /// Makes the frame for a PDU; `interval` is the time until it is repeated, in microseconds.
    mutating func send(_ content: LinkPDU, access: UInt32, interval: Int64, at now: AirTime) -> LinkFrame {
        let frame = LinkFrame(access: access, sequence: nextSequence, expected: expected, content: content)
        sent.append(Unacknowledged(sequence: nextSequence, content: content))
        if case .data = content { packets += 1 }
        nextSequence &+= 1
        if retransmission == nil { retransmission = now + interval }
        return frame
    }

    /// Makes a frame that is only an acknowledgement.
    func acknowledgement(access: UInt32) -> LinkFrame {
        LinkFrame(access: access, sequence: nextSequence, expected: expected, content: nil)
    }

    /// Repeats all unacknowledged PDUs.
    mutating func sendAgain(
        access: UInt32, to station: Station, interval: Int64, at now: AirTime,
        _ outbox: inout ControllerOutbox
    ) {
        retransmission = now + interval
        for each in sent {
            let frame = LinkFrame(
                access: access, sequence: each.sequence, expected: expected, content: each.content)
            outbox.transmit(.link(frame), to: station)
        }
    }

    /// Returns whether `sequence` is the expected sequence number; if so, expects the next number.
    mutating func receive(_ sequence: UInt16) -> Bool {
        guard sequence == expected else { return false }
        expected &+= 1
        return true
    }

    /// Removes the frames that the peer has acknowledged, which are those before `expected`.
    mutating func acknowledge(_ expected: UInt16, interval: Int64, at now: AirTime) -> Acknowledged {
        guard let first = sent.first else { return Acknowledged() }
        let count = Int(expected &- first.sequence)
        guard count > 0, count <= sent.count else { return Acknowledged() }
        var found = Acknowledged()
        for index in 0..<count {
            switch sent[index].content {
            case .data: found.packets += 1
            case .terminate: found.hasTerminated = true
            default: break
            }
        }
        packets -= found.packets
        if count == sent.count {
            sent.removeAll(keepingCapacity: true)
            retransmission = nil
        } else {
            sent.removeFirst(count)
            retransmission = now + interval
        }
        return found
    }
}
