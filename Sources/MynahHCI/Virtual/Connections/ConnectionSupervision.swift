import MynahCore

/// The times of a connection: how often its sides meet, and how long each may be silent (Core Specification,
/// Vol 6, Part B, 4.5).
struct ConnectionSupervision: Sendable {
    private(set) var parameters: LEConnection.Parameters
    /// The signal strength of the last frame, in dBm.
    private(set) var rssi: Int8
    /// Whether a frame of the peer has been received; a peripheral has the connection request.
    private(set) var isEstablished: Bool
    private var lastHeard: AirTime
    private var lastSent: AirTime
    /// When the connection is looked at next, which may be too early and is never too late.
    private(set) var wake: AirTime

    init(_ parameters: LEConnection.Parameters, rssi: Int8, isEstablished: Bool, at now: AirTime) {
        self.parameters = parameters
        self.rssi = rssi
        self.isEstablished = isEstablished
        lastHeard = now
        lastSent = now
        wake = now
    }

    /// The connection interval, in microseconds.
    var interval: Int64 { Int64(parameters.interval) * 1250 }

    /// The supervision timeout in microseconds: six intervals before the connection is established (4.5.2).
    private var timeout: Int64 { isEstablished ? Int64(parameters.timeout) * 10_000 : 6 * interval }

    /// How long this side may be silent, in microseconds.
    ///
    /// A real one sends at each interval; a few times in a supervision timeout do as well.
    private var longestSilence: Int64 { min(max(timeout / 6, interval), 2_000_000) }

    /// Whether the peer has been silent for the supervision timeout.
    func isLost(at now: AirTime) -> Bool { lastHeard + timeout <= now }

    /// Whether this side has been silent for as long as it may.
    func mustSend(at now: AirTime) -> Bool { lastSent + longestSilence <= now }

    /// A frame was received.
    mutating func heard(rssi: Int8, at now: AirTime) {
        self.rssi = rssi
        isEstablished = true
        lastHeard = now
    }

    /// A frame was sent.
    mutating func sent(at now: AirTime) {
        lastSent = now
    }

    /// Uses other connection parameters.
    mutating func use(_ parameters: LEConnection.Parameters, at now: AirTime) {
        self.parameters = parameters
        wake = now
    }

    /// Looks at the connection no later than at a time.
    mutating func wake(by time: AirTime) {
        wake = min(wake, time)
    }

    /// Schedules the next look at the connection, for its earliest deadline.
    mutating func schedule(_ retransmission: AirTime?, _ response: AirTime?, at now: AirTime) {
        let due = deadline(retransmission, response)
        wake = wake <= now ? due : min(wake, due)
    }

    /// Schedules the next look at the connection after one, in time for the next deadline.
    mutating func reschedule(_ retransmission: AirTime?, _ response: AirTime?) {
        wake = deadline(retransmission, response)
    }

    private func deadline(_ retransmission: AirTime?, _ response: AirTime?) -> AirTime {
        var earliest = min(lastHeard + timeout, lastSent + longestSilence)
        if let retransmission { earliest = min(earliest, retransmission) }
        if let response { earliest = min(earliest, response) }
        return earliest
    }
}
