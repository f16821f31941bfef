/// A command that a screen suggests for a second terminal.
enum NextCommand {
    /// The hint with the command that connects to a device, for a screen of this width.
    ///
    /// A name that is too long is replaced by DEVICE.
    static func connect(to name: String, indent: Int = 4, width: Int) -> [String] {
        let command = "mynah connect \(quoted(name))"
        let room = width < ScreenLine.narrow ? width : width - indent
        let fits = DisplayWidth.of(command) <= room
        return lines(inNewTerminal, fits ? command : "mynah connect DEVICE", indent: indent, width: width)
    }

    /// The hint with the command that plays a device, for a screen of this width.
    static func run(indent: Int = 4, width: Int) -> [String] {
        lines(inNewTerminal, "mynah run PROFILE", indent: indent, width: width)
    }

    private static let inNewTerminal = "in a new terminal:"

    /// An introduction and its text, on one line or two.
    static func lines(_ introduction: String, _ text: String, indent: Int = 4, width: Int) -> [String] {
        // `ScreenLine.shown` removes two columns of the indent on a narrow screen.
        let isNarrow = width < ScreenLine.narrow
        return ScreenLine.flow(
            [introduction, text], separator: " ",
            indent: String(repeating: " ", count: isNarrow ? 2 : indent), width: isNarrow ? width + 2 : width)
    }

    /// A word as a shell argument, in quotes if necessary.
    private static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: ":"), UInt8(ascii: "."): true
            default: false
            }
        }
        // A word that begins with a dash would be read as an option.
        let start = word.hasPrefix("-") ? "-- " : ""
        return isPlain && !word.isEmpty ? word : start + "'" + word.replacing("'", with: #"'\''"#) + "'"
    }
}
