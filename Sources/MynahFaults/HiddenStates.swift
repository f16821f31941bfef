import MynahCore

/// The states that a radio reports while its device is gone for a fault.
struct HiddenStates: Sendable {
    /// Whether the user has turned Bluetooth off meanwhile.
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

    /// The events that a device has missed that is back; none if the radio works as before.
    var events: [RadioEvent] {
        guard !isTurnedOff else { return loss.map { [.lost($0)] } ?? [] }
        return (loss.map { [.lost($0)] } ?? []) + (state == .poweredOn ? [] : [.stateChanged(state)])
    }
}
