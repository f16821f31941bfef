/// How far a radio's controller is.
enum ControllerStage: Hashable {
    case absent
    /// The controller is being brought up for the first time.
    case starting
    case running
    /// The controller is lost; the radio tries to reach it.
    case lost
    /// The lost controller is being opened and brought up again.
    case recovering
    /// Its links end on the air, and then it is reset.
    case turningOff
    /// It was reset and does nothing; `isOpen` says whether its transport is open.
    case off(isOpen: Bool)
    /// It is brought up after it was off.
    case turningOn

    /// Whether a controller is at the other end and takes commands.
    var isAttached: Bool {
        switch self {
        case .starting, .running, .recovering, .turningOff, .turningOn: true
        case .absent, .lost, .off: false
        }
    }

    /// Whether it was turned off, or is on its way there or back.
    var isOff: Bool {
        switch self {
        case .turningOff, .off, .turningOn: true
        case .absent, .starting, .running, .lost, .recovering: false
        }
    }
}
