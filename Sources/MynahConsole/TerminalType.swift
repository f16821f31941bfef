/// A terminal as the environment variable TERM names it.
package enum TerminalType {
    /// Whether the terminal moves its cursor and has an alternate screen.
    ///
    /// `name` is `nil` if the variable is not set. All others in use know the few sequences that Mynah sends.
    package static func takesEscapes(_ name: String?) -> Bool {
        switch name {
        case nil, "", "dumb", "unknown": false
        default: true
        }
    }
}
