/// The commands that a controller lists as supported (Core Specification, Vol 4, Part E, 6.27).
package struct HCISupportedCommands: Hashable, Sendable {
    private var octets: [UInt8]?

    /// The value for a controller that does not list its commands, so that every command may be sent.
    package static let unlisted = HCISupportedCommands()

    private init() {}

    /// Parses the list from Read Local Supported Commands; returns `nil` if the list is too short.
    package init?(_ octets: [UInt8]) {
        guard octets.count >= 64 else { return nil }
        self.octets = octets
    }

    /// Whether the host may send a command.
    ///
    /// A command whose bit is not known to this program may be sent.
    package func allows(_ opcode: HCIOpcode) -> Bool {
        guard let octets, let row = CommandRow.all[opcode], row.octet < octets.count else { return true }
        return octets[row.octet] & 1 << row.bit != 0
    }
}
