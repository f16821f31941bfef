import MynahCore

/// Sends delayed values to a radio when they are due.
struct ValueSender: Sendable {
    private let radio: any VanishingRadio
    var held = HeldValues()

    /// Makes a sender for a radio, on whose executor it is used.
    init(_ radio: any VanishingRadio) {
        self.radio = radio
    }

    /// Sends the values that are due, and returns warnings about those that cannot be sent.
    mutating func flush(at now: Duration) -> [FaultAction] {
        let (error, _, actions) = sendHeld(at: now)
        return (error.map { [.warn(Self.message(of: $0, isOwn: false))] } ?? []) + actions
    }

    /// The message about an error of a value that a fault has changed, or that was delayed before this call.
    static func message(of error: RadioError, isOwn: Bool) -> String {
        "a value that \(isOwn ? "a fault has changed" : "was held up") cannot be sent: \(error)"
    }

    /// Sends the values that are due; returns those that cannot be sent, and the last error.
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

    /// Reports later that there is room for values, because the sender may be sending now.
    mutating func reportRoom() -> [FaultAction] { held.makeRoom() ? [.work(.reportRoom)] : [] }

    /// Drops the values that wait for a central whose link has ended.
    ///
    /// With `isLast`, no central is connected any more, so values for all centrals are dropped too.
    mutating func forget(_ central: Peer.ID, isLast: Bool) -> [FaultAction] {
        held.forget(central)
        if isLast { held.removeAll() }
        return reportRoom()
    }
}
