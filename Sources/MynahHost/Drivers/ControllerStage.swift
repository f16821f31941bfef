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
    /// The links end on the air, and then the controller is reset.
    case turningOff
    /// The controller was reset and does nothing; `isOpen` says whether its transport is open.
    case off(isOpen: Bool)
    /// The controller is brought up after it was off.
    case turningOn

    /// Whether a controller is at the other end and takes commands.
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
