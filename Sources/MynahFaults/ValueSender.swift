import MynahCore

/// Sends values to a radio when faults no longer hold them up.
struct ValueSender: Sendable {
    private let radio: any VanishingRadio
    var held = HeldValues()

    /// A sender to a radio on whose executor it is called.
    init(_ radio: any VanishingRadio) {
        self.radio = radio
    }

    /// Sends the values that have waited long enough, and warns of one that cannot be sent.
    mutating func flush(at now: Duration) -> [FaultAction] {
        let (error, _, actions) = sendHeld(at: now)
        return (error.map { [.warn(Self.message(of: $0, isOwn: false))] } ?? []) + actions
    }

    /// The words for the error of a value that a fault has changed, or that was held up before this call.
    static func message(of error: RadioError, isOwn: Bool) -> String {
        "a value that \(isOwn ? "a fault has changed" : "was held up") cannot be sent: \(error)"
    }

    /// Sends the values that need not wait any longer; returns those that cannot be sent, and the error of
    /// the last.
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

    /// Reports later that values may wait again: the sender may be in the middle of sending.
    mutating func reportRoom() -> [FaultAction] { held.makeRoom() ? [.work(.reportRoom)] : [] }

    /// Drops the values that wait for a central whose link has ended.
    ///
    /// With `isLast`, no central is connected any more, so values for all connected centrals are dropped too.
    mutating func forget(_ central: Peer.ID, isLast: Bool) -> [FaultAction] {
        held.forget(central)
        if isLast { held.removeAll() }
        return reportRoom()
    }
}
