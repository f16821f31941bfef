import MynahHCI

/// The kind of commands for advertising, scanning and initiating: legacy or extended.
///
/// After the first command of one kind, a controller refuses those of the other kind until it is reset (Core
/// Specification, Vol 4, Part E, 3.1.1).
enum CommandStyle: Hashable {
    case legacy
    case extended
}

/// The version, features and buffers that a controller reports during bring-up.
struct ControllerProfile: Hashable {
    /// The buffers for ACL data: the size of a packet in bytes, and the number of packets (Core
    /// Specification, Vol 4, Part E, 7.8.2).
    struct Buffers: Hashable {
        var size: Int
        var count: Int
    }

    var buffers = Buffers(size: 27, count: 1)
    /// The supported commands; some controllers, such as the Android emulator's, fail after a command that
    /// they do not list.
    var supportedCommands = HCISupportedCommands.unlisted
    /// The combinations of roles and activities that the controller supports.
    var states = SupportedStates.all
    /// `true` if the controller has the commands for extended advertising.
    var hasExtendedCommands = false
    /// The chosen kind of commands, or `nil` before the first such command.
    private(set) var style: CommandStyle?

    /// Returns the kind of commands, which the first call chooses until the next reset.
    ///
    /// A central receives more with the extended commands, and several advertising sets need them. They are
    /// no advantage to a peripheral with one legacy set, and every controller has the legacy commands.
    mutating func style(prefersExtended: Bool) -> CommandStyle {
        if let style { return style }
        let chosen: CommandStyle = hasExtendedCommands && prefersExtended ? .extended : .legacy
        style = chosen
        return chosen
    }
}
