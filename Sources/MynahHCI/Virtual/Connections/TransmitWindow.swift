/// The unacknowledged PDUs that one side of a connection has sent, and the sequence number that it
/// expects.
///
/// Frames are numbered, and sent again until they are acknowledged (Core Specification, Vol 6, Part B,
/// 4.5.9).
struct TransmitWindow: Sendable {
    private struct Unacknowledged: Sendable {
        var sequence: UInt16
        var content: LinkPDU
    }

    /// The PDUs that an acknowledgement covered.
    struct Acknowledged: Equatable, Sendable {
        /// How many of the host's packets.
        var packets = 0
        /// Whether LL_TERMINATE_IND was among it.
        var hasTerminated = false
    }

    /// The most unacknowledged PDUs: more than a host and the procedures of two controllers can have under
    /// way.
    ///
    /// A peer that owes more acknowledgements does not answer.
    static let limit = 300

    /// The number of the next frame with a PDU.
    private(set) var nextSequence: UInt16 = 0
    /// The number that is expected of the peer.
    private var expected: UInt16 = 0
    private var sent: [Unacknowledged] = []
    /// How many unacknowledged PDUs are packets of the host.
    private(set) var packets = 0
    /// When everything that is not acknowledged is sent again, or `nil` if nothing is.
    private(set) var retransmission: AirTime?

    /// Whether nothing more can be sent.
    var isFull: Bool { sent.count >= Self.limit }

    /// Returns the frame that carries a PDU; `interval` is the time until it is sent again, in microseconds.
    mutating func send(_ content: LinkPDU, access: UInt32, interval: Int64, at now: AirTime) -> LinkFrame {
        let frame = LinkFrame(access: access, sequence: nextSequence, expected: expected, content: content)
        sent.append(Unacknowledged(sequence: nextSequence, content: content))
        if case .data = content { packets += 1 }
        nextSequence &+= 1
        if retransmission == nil { retransmission = now + interval }
        return frame
    }

    /// Returns a frame that only acknowledges.
    func acknowledgement(access: UInt32) -> LinkFrame {
        LinkFrame(access: access, sequence: nextSequence, expected: expected, content: nil)
    }

    /// Sends everything that is not acknowledged again.
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

    /// Returns whether a frame of the peer is the next one, and counts it if it is.
    mutating func receive(_ sequence: UInt16) -> Bool {
        guard sequence == expected else { return false }
        expected &+= 1
        return true
    }

    /// Removes the frames that the peer has received, which are those before `expected`.
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
