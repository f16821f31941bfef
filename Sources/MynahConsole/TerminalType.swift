/// The capabilities of a terminal, according to the environment variable TERM.
package enum TerminalType {
    /// Whether the terminal can move its cursor and has an alternate screen.
    ///
    /// `name` is the value of the variable, or `nil` if it is not set. Almost all terminals support the
    /// escape sequences that Mynah uses.
    package static func takesEscapes(_ name: String?) -> Bool {
        switch name {
        case nil, "", "dumb", "unknown": false
        default: true
        }
    }
}
