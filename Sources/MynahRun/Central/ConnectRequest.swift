package import Mynah
import MynahCore
package import MynahEmulator
import MynahProfiles
import MynahSupport

/// A command of `mynah connect`, from the prompt, from standard input or from an option.
package enum ConnectRequest: Hashable, Sendable {
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

    /// The reason why a line is not a valid command, as a sentence without its full stop.
    package typealias Problem = AttributePath.Problem

    /// All commands, with their arguments and effects.
    package static let usages: [(word: String, arguments: String, does: String)] = [
        ("services", "", "discovers the services again and prints them"),
        ("read", "UUID", "reads a value"),
        ("write", "UUID VALUE", "writes a value and waits for the response"),
        ("command", "UUID VALUE", "writes a value without response"),
        ("subscribe", "UUID", "enables notifications or indications and prints them"),
        ("unsubscribe", "UUID", "disables them"),
        ("mtu", "", "prints the MTU"),
        ("rssi", "", "prints the signal strength"),
        ("pair", "", "pairs"),
        ("forget", "", "deletes the bond"),
        ("wait", "5 s", "waits, and prints notifications meanwhile"),
        ("disconnect", "", "disconnects"),
        ("connect", "", "connects again"),
        ("help", "", "prints this list"),
        ("quit", "", "disconnects and ends the program"),
    ]

    /// The commands that need the name of an attribute.
    private static let wordsWithAttribute: Set<String> = [
        "read", "write", "command", "subscribe", "unsubscribe",
    ]

    /// Parses a line; returns `nil` if the line is empty or a comment.
    package static func parse(_ line: String) throws(Problem) -> ConnectRequest? {
        var words = line.split(whereSeparator: { $0 == " " || $0 == "\t" || $0.isNewline })[...]
        guard let word = words.popFirst(), !word.hasPrefix("#") else { return nil }
        let request = try parse(word.lowercased(), &words)
        guard words.isEmpty else {
            throw Problem(
                message:
                    "remove \"\(PrintableText.of(words.joined(separator: " ")))\": the command ends before it"
            )
        }
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
                message: "there is no command \"\(PrintableText.of(word))\"\(near ?? "; \"help\" lists them")"
            )
        }
    }

    private static func path(
        _ words: inout ArraySlice<Substring>, _ word: String
    ) throws(Problem) -> AttributePath {
        guard let text = words.popFirst() else {
            throw Problem(message: "\"\(word)\" needs a UUID or a name, as in \"\(word) 2A37\"")
        }
        return try AttributePath(parsing: String(text))
    }

    /// Parses a value: hexadecimal digits in any number of words, or the text after `text:`.
    private static func value(
        _ words: inout ArraySlice<Substring>, _ word: String
    ) throws(Problem) -> [UInt8] {
        guard let first = words.first, let last = words.last else {
            throw Problem(
                message: "\"\(word)\" needs a value, as in \"\(word) 2A39 01\" or \"\(word) 2A00 text:Mynah\""
            )
        }
        // This keeps the spaces between the words.
        let whole = first.base[first.startIndex..<last.endIndex]
        words = []
        if whole.hasPrefix("text:") { return Array(whole.dropFirst(5).utf8) }
        var digits = whole.hasPrefix("hex:") ? whole.dropFirst(4) : whole[...]
        if digits.hasPrefix("0x") { digits = digits.dropFirst(2) }
        guard let bytes = Hex.decode(digits) else {
            throw Problem(
                message:
                    "\"\(PrintableText.of(String(whole)))\" is not hexadecimal; "
                    + "for text, write text: before it"
            )
        }
        return bytes
    }

    private static func duration(_ words: inout ArraySlice<Substring>) throws(Problem) -> Duration {
        guard !words.isEmpty else { throw Problem(message: "\"wait\" needs a time, as in \"wait 5 s\"") }
        let text = words.joined(separator: " ")
        words = []
        do throws(DurationText.Problem) {
            return try DurationText.parse(text)
        } catch {
            throw Problem(message: "\(PrintableText.of(text)): \(error.message)")
        }
    }

    /// The command as a `PhoneVerb`, or `nil` for `wait`, `connect`, `help` and `quit`.
    func verb(for plan: ConnectPlan) -> PhoneVerb? {
        switch self {
        case .services: .discover(plan.services)
        case .read(let path): .read(path)
        case .write(let path, let value, let withResponse):
            .write(path, .bytes(value), withResponse: withResponse)
        case .subscribe(let path): .subscribe(true, path)
        case .unsubscribe(let path): .subscribe(false, path)
        case .mtu: .mtu
        case .rssi: .rssi
        case .pair: .pair
        case .forget: .forget
        case .disconnect: .disconnect
        case .wait, .connect, .help, .quit: nil
        }
    }

    // MARK: - Completion

    /// The possible completions of the last word of a line; `before` is the text before the cursor.
    package static func completions(of before: String, in services: [DiscoveredService]) -> [String] {
        let words = before.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard let last = words.last else { return [] }
        if words.count == 1 { return usages.map(\.word).filter { $0.hasPrefix(last) } }
        guard words.count == 2, wordsWithAttribute.contains(words[0]) else { return [] }
        return AttributePath.completions(of: last, in: services, having: properties(of: words[0]))
    }

    /// The properties that a command needs; a characteristic must have at least one of them.
    private static func properties(of word: String) -> CharacteristicProperties {
        switch word {
        case "read": .read
        case "write": .write
        case "command": .writeWithoutResponse
        default: [.notify, .indicate]
        }
    }
}
