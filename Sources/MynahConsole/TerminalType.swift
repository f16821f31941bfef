/// The abilities of a terminal, by the value of the environment variable TERM.
package enum TerminalType {
    /// Whether the terminal can move its cursor and has an alternate screen.
    ///
    /// `name` is `nil` if the variable is not set. All terminals in use, except for a few, support the
    /// sequences that Mynah sends.
    package static func takesEscapes(_ name: String?) -> Bool {
        switch name {
        case nil, "", "dumb", "unknown": false
        default: true
        }
    }
}
