/// The stage of a radio's controller.
enum ControllerStage: Hashable {
    case absent
    /// The controller is being brought up for the first time.
    case starting
    case running
    /// The controller is lost, and the next attempt to bring it up has not begun.
    case lost
    /// The transport of the lost controller is being opened, or the controller is being brought up again.
    case recovering
    /// The links are being ended before the controller is reset.
    case turningOff
    /// The controller was reset and is not used; `isOpen` is `true` if its transport is open.
    case off(isOpen: Bool)
    /// The controller is being brought up after it was turned off.
    case turningOn

    /// Whether the transport is open and the controller is in use.
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
