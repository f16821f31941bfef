import MynahCore

/// The Bluetooth states that a radio reports while a fault makes its device disappear.
struct HiddenStates: Sendable {
    /// Whether the user has turned Bluetooth off since the device disappeared.
    var isTurnedOff = false
    private var state = RadioState.poweredOn
    private var loss: RadioError?

    mutating func note(_ event: RadioEvent) {
        switch event {
        case .stateChanged(let state): self.state = state
        case .lost(let error): loss = error
        case .recovered: loss = nil
        default: break
        }
    }

    /// The events that the device has missed; empty if the radio works as before.
    var events: [RadioEvent] {
        guard !isTurnedOff else { return loss.map { [.lost($0)] } ?? [] }
        return (loss.map { [.lost($0)] } ?? []) + (state == .poweredOn ? [] : [.stateChanged(state)])
    }
}
