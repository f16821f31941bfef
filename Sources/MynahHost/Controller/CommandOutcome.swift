import MynahHCI

/// How a controller answered a command that a machine asked for.
enum CommandOutcome: Hashable {
    case done
    case refused(HCIStatus)
}
