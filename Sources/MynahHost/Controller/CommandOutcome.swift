import MynahHCI

/// The controller's result for a command of a state machine.
enum CommandOutcome: Hashable {
    case done
    case refused(HCIStatus)
}
