import MynahCore

/// The timing of a connection: its interval, its supervision timeout, and when each side last sent (Core
/// Specification, Vol 6, Part B, 4.5).
struct ConnectionSupervision: Sendable {
    private(set) var parameters: LEConnection.Parameters
    /// The signal strength of the last frame, in dBm.
    private(set) var rssi: Int8
    /// Whether a frame of the peer has been received; at a peripheral, the connection request counts as one.
    private(set) var isEstablished: Bool
    private var lastHeard: AirTime
    private var lastSent: AirTime
    /// The time of the next check of the connection, which is never later than the earliest deadline.
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

    /// The longest time without a frame of this side, in microseconds.
    ///
    /// A real controller sends at each interval; here a few frames within a supervision timeout are enough.
    private var longestSilence: Int64 { min(max(timeout / 6, interval), 2_000_000) }

    /// Whether the supervision timeout has elapsed.
    func isLost(at now: AirTime) -> Bool { lastHeard + timeout <= now }

    /// Whether this side has to send a frame, because it has sent none for `longestSilence`.
    func mustSend(at now: AirTime) -> Bool { lastSent + longestSilence <= now }

    /// Notes that a frame was received.
    mutating func heard(rssi: Int8, at now: AirTime) {
        self.rssi = rssi
        isEstablished = true
        lastHeard = now
    }

    /// Notes that a frame was sent.
    mutating func sent(at now: AirTime) {
        lastSent = now
    }

    /// Uses other connection parameters.
    mutating func use(_ parameters: LEConnection.Parameters, at now: AirTime) {
        self.parameters = parameters
        wake = now
    }

    /// Schedules a check of the connection at a time, unless an earlier one is scheduled.
    mutating func wake(by time: AirTime) {
        wake = min(wake, time)
    }

    /// Schedules a check of the connection for its earliest deadline, unless an earlier one is scheduled.
    mutating func schedule(_ retransmission: AirTime?, _ response: AirTime?, at now: AirTime) {
        let due = deadline(retransmission, response)
        wake = wake <= now ? due : min(wake, due)
    }

    /// Schedules the next check after one was made, for the earliest deadline.
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
