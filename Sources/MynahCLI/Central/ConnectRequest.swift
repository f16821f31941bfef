import MynahConsole
import MynahCore
import MynahProfiles
import MynahSupport

/// What is typed at `mynah connect`'s prompt, or handed to it.
enum ConnectRequest: Hashable, Sendable {
    case services
    case read(AttributePath)
    case write(AttributePath, [UInt8], withResponse: Bool)
    case subscribe(AttributePath)
    case unsubscribe(AttributePath)
    case mtu
    case rssi
    case pair
    case forget
    case wait(Duration)
    case connect
    case disconnect
    case help
    case quit

    /// What is wrong with a line, as a sentence without its full stop.
    struct Problem: Error, Hashable {
        var message: String
    }

    /// Each command, how it is written, and what it does.
    static let usages: [(word: String, arguments: String, does: String)] = [
        ("services", "", "shows the services, characteristics and descriptors"),
        ("read", "UUID", "reads a value"),
        ("write", "UUID VALUE", "writes a value and waits for the answer"),
        ("command", "UUID VALUE", "sends a value, which nobody answers"),
        ("subscribe", "UUID", "shows the values that the device sends by itself"),
        ("unsubscribe", "UUID", "ends that"),
        ("mtu", "", "says how much a packet carries"),
        ("rssi", "", "says how loud the device is"),
        ("pair", "", "pairs"),
        ("forget", "", "forgets the keys of pairing with it"),
        ("wait", "5 s", "does nothing for a time but show what comes"),
        ("disconnect", "", "ends the link"),
        ("connect", "", "connects again"),
        ("help", "", "says this"),
        ("quit", "", "ends the link and the program"),
    ]

    /// Which words name an attribute behind them.
    static let wordsWithAttribute: Set<String> = ["read", "write", "command", "subscribe", "unsubscribe"]

    /// Reads a line; nil: it is empty, or a comment.
    static func parse(_ line: String) throws(Problem) -> ConnectRequest? {
        var words = line.split(whereSeparator: { $0 == " " || $0 == "\t" || $0.isNewline })[...]
        guard let word = words.popFirst(), !word.hasPrefix("#") else { return nil }
        let request = try parse(word.lowercased(), &words)
        guard words.isEmpty else { throw Problem(message: "\"\(words.joined(separator: " "))\" is too much") }
        return request
    }

    private static func parse(
        _ word: String, _ words: inout ArraySlice<Substring>
    ) throws(Problem) -> ConnectRequest {
        switch word {
        case "services": return .services
        case "read": return .read(try path(&words, word))
        case "write": return .write(try path(&words, word), try value(&words, word), withResponse: true)
        case "command": return .write(try path(&words, word), try value(&words, word), withResponse: false)
        case "subscribe": return .subscribe(try path(&words, word))
        case "unsubscribe": return .unsubscribe(try path(&words, word))
        case "mtu": return .mtu
        case "rssi": return .rssi
        case "pair": return .pair
        case "forget": return .forget
        case "wait": return .wait(try duration(&words))
        case "connect": return .connect
        case "disconnect": return .disconnect
        case "help", "?": return .help
        case "quit", "exit", "q": return .quit
        default:
            let near = NearestName.of(word, among: usages.map(\.word)).map { "; did you mean \"\($0)\"?" }
            throw Problem(
                message: "there is no command \"\(PrintableText.of(word))\"\(near ?? "; \"help\" tells them")"
            )
        }
    }

    private static func path(
        _ words: inout ArraySlice<Substring>, _ word: String
    ) throws(Problem) -> AttributePath {
        guard let text = words.popFirst() else {
            throw Problem(message: "\"\(word)\" wants a UUID or a name, as in \"\(word) 2A37\"")
        }
        return try AttributePath(parsing: String(text))
    }

    /// Hexadecimal, in as many words as one likes, or a text behind `text:`.
    private static func value(
        _ words: inout ArraySlice<Substring>, _ word: String
    ) throws(Problem) -> [UInt8] {
        guard let first = words.first, let last = words.last else {
            throw Problem(
                message: "\"\(word)\" wants a value, as in \"\(word) 2A39 01\" or \"\(word) 2A00 text:Mynah\""
            )
        }
        // With the spaces between the words as they were written.
        let whole = first.base[first.startIndex..<last.endIndex]
        words = []
        if whole.hasPrefix("text:") { return Array(whole.dropFirst(5).utf8) }
        var digits = whole.hasPrefix("hex:") ? whole.dropFirst(4) : whole[...]
        if digits.hasPrefix("0x") { digits = digits.dropFirst(2) }
        guard let bytes = Hex.decode(digits) else {
            throw Problem(
                message:
                    "\"\(PrintableText.of(String(whole)))\" is no hexadecimal; a text stands behind text:")
        }
        return bytes
    }

    private static func duration(_ words: inout ArraySlice<Substring>) throws(Problem) -> Duration {
        guard !words.isEmpty else { throw Problem(message: "\"wait\" wants a time, as in \"wait 5 s\"") }
        let text = words.joined(separator: " ")
        words = []
        do throws(DurationText.Problem) {
            return try DurationText.parse(text)
        } catch {
            throw Problem(message: "\(PrintableText.of(text)): \(error.message)")
        }
    }
}
