import MynahHCI

/// The kind of commands for advertising, scanning and initiating: legacy or extended.
///
/// After the first command of one kind, a controller refuses the other kind until it is reset (Core
/// Specification, Vol 4, Part E, 3.1.1).
enum CommandStyle: Hashable {
    case legacy
    case extended
}

/// The features and buffers that a controller reports during bring-up.
struct ControllerProfile: Hashable {
    /// The controller's buffers for ACL data: their size in bytes and their number (Core Specification, Vol
    /// 4, Part E, 7.8.2).
    struct Buffers: Hashable {
        var size: Int
        var count: Int
    }

    var buffers = Buffers(size: 27, count: 1)
    /// The supported commands.
    ///
    /// Some controllers, such as the one of the Android emulator, fail after a command that they do not list.
    var supportedCommands = HCISupportedCommands.unlisted
    /// The combinations of roles and activities that the controller supports.
    var states = SupportedStates.all
    /// `true` if the controller has the commands for extended advertising.
    var hasExtendedCommands = false
    /// Whether the controller can receive periodic advertising.
    var canSynchronize: Bool {
        hasExtendedCommands && supportedCommands.allows(.lePeriodicAdvertisingCreateSync)
    }
    /// The chosen kind of commands, or `nil` before the first such command.
    private(set) var style: CommandStyle?

    /// Returns the kind of commands to use, which the first call after a reset determines.
    ///
    /// The kind is `extended` if that call prefers it and the controller has the extended commands. A central
    /// receives more with these commands, and several advertising sets need them. A peripheral with one
    /// legacy set gains nothing from them.
    mutating func style(prefersExtended: Bool) -> CommandStyle {
        if let style { return style }
        let chosen: CommandStyle = hasExtendedCommands && prefersExtended ? .extended : .legacy
        style = chosen
        return chosen
    }
}
