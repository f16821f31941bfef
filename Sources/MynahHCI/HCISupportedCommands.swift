/// The commands that a controller lists as supported (Core Specification, Vol 4, Part E, 6.27).
package struct HCISupportedCommands: Hashable, Sendable {
    private var octets: [UInt8]?

    /// The commands of a controller without a list: any command may be supported.
    package static let unlisted = HCISupportedCommands()

    private init() {}

    /// The list that Read Local Supported Commands returns; `nil` if it is too short.
    package init?(_ octets: [UInt8]) {
        guard octets.count >= 64 else { return nil }
        self.octets = octets
    }

    /// Whether a command may be sent.
    ///
    /// A command whose bit is unknown here may be sent.
    package func allows(_ opcode: HCIOpcode) -> Bool {
        guard let octets, let row = CommandRow.all[opcode], row.octet < octets.count else { return true }
        return octets[row.octet] & 1 << row.bit != 0
    }
}
