import MynahCore

/// Sends the values in `HeldValues` to a radio when their time has come.
struct ValueSender: Sendable {
    private let radio: any VanishingRadio
    var held = HeldValues()

    /// Makes a sender for a radio; use it on the radio's executor.
    init(_ radio: any VanishingRadio) {
        self.radio = radio
    }

    /// Sends the values whose time has come, and returns warnings about those that cannot be sent.
    mutating func flush(at now: Duration) -> [FaultAction] {
        let (error, _, actions) = sendHeld(at: now)
        return (error.map { [.warn(Self.message(of: $0, isOwn: false))] } ?? []) + actions
    }

    /// The message about a value that could not be sent.
    ///
    /// With `isOwn`, a fault has changed the value. Otherwise the value was delayed.
    static func message(of error: RadioError, isOwn: Bool) -> String {
        "a value that \(isOwn ? "a fault has changed" : "was held up") cannot be sent: \(error)"
    }

    /// Sends the values whose time has come; returns those that cannot be sent, and the last error.
    mutating func sendHeld(
        at now: Duration
    ) -> (error: RadioError?, unsent: [HeldValues.Value], actions: [FaultAction]) {
        var (failure, unsent): (RadioError?, [HeldValues.Value]) = (nil, [])
        held.flush(at: now) { [radio] value in
            do throws(RadioError) {
                return try radio.onOwnExecutor { radio throws(RadioError) in
                    try radio.send(value.bytes, of: value.attribute, as: value.delivery, to: value.centrals)
                } != .full
            } catch {
                failure = error
                unsent.append(value)
                return true
            }
        }
        return (failure, unsent, reportRoom())
    }

    /// Queues the report that values are accepted again, if a value was refused before.
    mutating func reportRoom() -> [FaultAction] { held.makeRoom() ? [.work(.reportRoom)] : [] }

    /// Drops the values that wait for a central whose link has ended.
    ///
    /// With `isLast`, no central is connected any longer, so values for all centrals are dropped too.
    mutating func forget(_ central: Peer.ID, isLast: Bool) -> [FaultAction] {
        held.forget(central)
        if isLast { held.removeAll() }
        return reportRoom()
    }
}
