import MynahHCI

/// Which commands a controller is given for advertising, scanning and initiating.
///
/// After the first of one style it refuses those of the other until it is reset (Core Specification, Vol 4,
/// Part E, 3.1.1).
enum CommandStyle: Hashable {
    case legacy
    case extended
}

/// The version, features and buffers that a controller reports during bring-up.
struct ControllerProfile: Hashable {
    /// The buffers for ACL data: bytes in one packet, and packets (Core Specification, Vol 4, Part E, 7.8.2).
    struct Buffers: Hashable {
        var size: Int
        var count: Int
    }

    var buffers = Buffers(size: 27, count: 1)
    /// Some controllers do not survive a command that they do not list, the Android emulator's among them.
    var supportedCommands = HCISupportedCommands.unlisted
    /// Which of its roles and activities it combines.
    var states = SupportedStates.all
    /// `true` if the controller has the commands for extended advertising.
    var hasExtendedCommands = false
    /// The style that was decided on, or `nil` before the first command that has one.
    private(set) var style: CommandStyle?

    /// Returns the style of the commands, which the first call decides until the next reset.
    ///
    /// A central hears more by the extended commands, and several sets need them. A peripheral with one
    /// legacy set gains nothing by them, and every controller has the legacy ones.
    mutating func style(prefersExtended: Bool) -> CommandStyle {
        if let style { return style }
        let chosen: CommandStyle = hasExtendedCommands && prefersExtended ? .extended : .legacy
        style = chosen
        return chosen
    }
}
