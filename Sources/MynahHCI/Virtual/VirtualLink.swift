import MynahCore

/// One side of a link: what it has sent and not seen acknowledged, and what was agreed on.
///
/// Frames are numbered and sent again until the other side says that it has them, as Vol 6, Part B, 4.5.9 asks of a link layer.
struct VirtualLink: Sendable {
    struct Unacknowledged: Sendable {
        var sequence: UInt16
        var content: LinkPDU
    }

    /// How far an encryption has come (Vol 6, Part B, 5.1.3).
    enum Encryption: Sendable {
        case idle
        /// Central: it has asked.
        case asked(key: [UInt8], nonce: UInt64)
        /// Central: it has shown that it has the key.
        case shown(key: [UInt8])
        /// Peripheral: its host is asked for the key.
        case awaitsKey(nonce: UInt64)
        /// Peripheral: it waits to be shown the key.
        case awaitsProof(key: [UInt8], nonce: UInt64, own: UInt64)
    }

    let handle: UInt16
    let role: LEConnection.Role
    let station: Station
    let access: UInt32
    let peer: Identity
    let local: DeviceAddress
    var parameters: LEConnection.Parameters
    var rssi: Int8 = 0

    var isEstablished = false
    var nextSequence: UInt16 = 0
    var expected: UInt16 = 0
    private(set) var sent: [Unacknowledged] = []
    /// How many of them are the host's.
    private var dataSent = 0
    /// What waits while the link is being encrypted.
    var held: [LinkPDU] = []
    var lastHeard: AirTime
    var lastSpoken: AirTime
    /// The control procedure that this side has begun, and the first PDUs of those after it.
    var procedure: LinkProcedure?
    var waitingRequests: [LinkPDU] = []
    /// When what is not acknowledged is sent again.
    var again: AirTime?
    /// When the link is looked after; it may be too early, and is never too late.
    var wake: AirTime
    /// When the other side must have answered an encryption (Vol 6, Part B, 5.2).
    var procedureEnd: AirTime?

    var isEncrypted = false
    var encryption = Encryption.idle
    /// The host has ended it, and the other side is being told.
    var isEnding = false
    var versionOfPeer: (version: UInt8, company: UInt16, subversion: UInt16)?
    var hasSentVersion = false
    var asksVersion = false
    var asksFeatures = false
    var asksPHY = false
    var asksUpdate = false
    /// What the host must answer.
    var awaitsParameters: LEConnection.Parameters?

    var ownLengths = DataLengths(receivedOctets: 251, receivedTime: 17040, sentOctets: 27, sentTime: 328)
    var sentOctets: UInt16 = 27
    var receivedOctets: UInt16 = 27
    var phys: (sending: UInt8, receiving: UInt8) = (1, 1)
    var phyWanted: (sending: UInt8, receiving: UInt8) = (7, 7)

    /// More than a host can have on its way and two controllers have to say; who has so much does not answer.
    static let sentLimit = 300

    init(
        handle: UInt16, role: LEConnection.Role, station: Station, access: UInt32, peer: Identity,
        local: DeviceAddress, parameters: LEConnection.Parameters, now: AirTime
    ) {
        self.handle = handle
        self.role = role
        self.station = station
        self.access = access
        self.peer = peer
        self.local = local
        self.parameters = parameters
        lastHeard = now
        lastSpoken = now
        wake = now
    }

    /// Between two meetings, in microseconds.
    var interval: Int64 { Int64(parameters.interval) * 1250 }

    /// How long silence is borne: at first, six meetings (Vol 6, Part B, 4.5.2).
    var patience: Int64 { isEstablished ? Int64(parameters.timeout) * 10_000 : 6 * interval }

    /// How long it may be silent itself; a real one meets at each interval; a few times in a timeout do as well.
    var rest: Int64 { min(max(patience / 6, interval), 2_000_000) }

    /// Whether data waits until encryption is through.
    var isHeld: Bool {
        if case .idle = encryption { return false }
        return true
    }

    /// How many of the host's packets it has not delivered.
    var packetsPending: Int { held.count + dataSent }

    /// When it must be looked after at the latest.
    var deadline: AirTime {
        var earliest = min(lastHeard + patience, lastSpoken + rest)
        if let again { earliest = min(earliest, again) }
        if let procedureEnd { earliest = min(earliest, procedureEnd) }
        return earliest
    }

    /// Sees that it is looked after in time.
    mutating func touch(at now: AirTime) {
        wake = wake <= now ? deadline : min(wake, deadline)
    }

    /// Puts a PDU into a frame, which is sent again until it is acknowledged.
    mutating func send(_ content: LinkPDU, at now: AirTime) -> LinkFrame {
        let frame = LinkFrame(access: access, sequence: nextSequence, expected: expected, content: content)
        sent.append(Unacknowledged(sequence: nextSequence, content: content))
        if case .data = content { dataSent += 1 }
        nextSequence &+= 1
        lastSpoken = now
        if again == nil {
            again = now + interval
            touch(at: now)
        }
        return frame
    }

    /// A frame that says only that it is there, and what it has heard.
    mutating func speak(at now: AirTime) -> LinkFrame {
        lastSpoken = now
        return LinkFrame(access: access, sequence: nextSequence, expected: expected, content: nil)
    }

    /// Forgets what the other side has: how many of the host's packets, and whether the link's end was among it.
    mutating func acknowledge(_ expected: UInt16, at now: AirTime) -> (packets: Int, hasEnded: Bool) {
        guard let first = sent.first else { return (0, false) }
        let done = Int(expected &- first.sequence)
        guard done > 0, done <= sent.count else { return (0, false) }
        var packets = 0
        var hasEnded = false
        for index in 0..<done {
            switch sent[index].content {
            case .data: packets += 1
            case .terminate: hasEnded = true
            default: break
            }
        }
        dataSent -= packets
        if done == sent.count {
            sent.removeAll(keepingCapacity: true)
            again = nil
        } else {
            sent.removeFirst(done)
            again = now + interval
        }
        return (packets, hasEnded)
    }
}
