/// Quotes words of commands that a user may paste into a shell.
package enum ShellWord {
    /// The path as one word of a shell, in quotes if necessary.
    ///
    /// A path that begins with a dash gets `./` before it, so that no command reads it as an option.
    package static func quoted(_ path: String) -> String {
        let word = path.hasPrefix("-") ? "./" + path : path
        let isPlain = word.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "%+,-./:=@_".utf8.contains(byte)
            }
        }
        if isPlain, !word.isEmpty { return word }
        return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#)
            + "'"
    }
}
