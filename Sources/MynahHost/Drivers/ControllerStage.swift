/// The stage of a radio's controller, from absent to ready.
enum ControllerStage: Hashable {
    case absent
    /// The controller is being brought up for the first time.
    case starting
    case running
    /// The controller is lost; the radio tries to reach it.
    case lost
    /// The lost controller is being opened and brought up again.
    case recovering
    /// Links are being ended, and then the controller is reset.
    case turningOff
    /// The controller was reset and is idle; `isOpen` tells whether its transport is open.
    case off(isOpen: Bool)
    /// The controller is being brought up after it was off.
    case turningOn

    /// Whether a controller is connected and accepts commands.
    var isAttached: Bool {
        switch self {
        case .starting, .running, .recovering, .turningOff, .turningOn: true
        case .absent, .lost, .off: false
        }
    }

    /// `true` if the controller was turned off, is being turned off, or is being turned on again.
    var isOff: Bool {
        switch self {
        case .turningOff, .off, .turningOn: true
        case .absent, .starting, .running, .lost, .recovering: false
        }
    }
}
