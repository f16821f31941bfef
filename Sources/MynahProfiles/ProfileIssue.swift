/// A position in a profile: line and column, counted from 1; columns count Unicode scalars.
///
/// If the profile was parsed from a JSON value, `line` is the number of a value, whose path `ProfileOrigin`
/// finds.
public struct SourceMark: Hashable, Sendable {
    /// The line.
    public var line: Int
    /// The column.
    public var column: Int

    /// Makes a position.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// The first position of a file.
    public static let start = SourceMark(line: 1, column: 1)
}

/// An issue of a profile, with its position.
public struct ProfileIssue: Hashable, Sendable {
    /// The severity of an issue.
    public enum Severity: String, Hashable, Sendable {
        /// The profile cannot be played.
        case error
        /// The profile can be played, but not exactly as written.
        case warning
        /// The profile is played as written, with this consequence.
        case note
    }

    /// The severity.
    public var severity: Severity
    /// The file's path as the user gave it.
    public var file: String
    /// The position, or `nil` if the issue concerns the whole file or the profile was not a text.
    public var mark: SourceMark?
    /// The path to the value, such as `services[0].uuid`, if the profile was parsed from a JSON value.
    public var path: String?
    /// A sentence that describes the mistake, and often how to correct it.
    public var message: String
    /// The text of the line at the position.
    public var sourceLine: String?

    /// Makes an issue.
    public init(
        severity: Severity = .error, file: String, mark: SourceMark? = nil, path: String? = nil,
        message: String, sourceLine: String? = nil
    ) {
        self.severity = severity
        self.file = file
        self.mark = mark
        self.path = path
        self.message = message
        self.sourceLine = sourceLine
    }
}

extension ProfileIssue: CustomStringConvertible {
    /// The issue as `FILE:LINE:COLUMN: error: message`, followed by the source line and a caret.
    ///
    /// For JSON, the form is `FILE: PATH: error: message`.
    public var description: String {
        let file = Self.shown(file)
        let text = "\(severity.rawValue): \(Self.shown(message))"
        guard let mark else { return "\(file): \(path.map { Self.shown($0) + ": " } ?? "")\(text)" }
        let head = "\(file):\(mark.line):\(mark.column): \(text)"
        guard let sourceLine, sourceLine.contains(where: { !$0.isWhitespace }) else { return head }
        let (line, caret) = Self.pointing(at: mark.column, in: sourceLine)
        return "\(head)\n\(line)\n\(caret)"
    }

    /// Returns the text without control characters, because a file name could otherwise affect the terminal.
    private static func shown(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { isActedOn($0) ? "?" : $0 }))
    }

    private static func isActedOn(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control || scalar.properties.isBidiControl
    }

    /// Returns the line, shortened to the width of a terminal, and a line with a caret below the column.
    ///
    /// Tabs are kept, so that the caret is at the right position.
    private static func pointing(at column: Int, in line: String) -> (String, String) {
        let limit = 100
        let scalars = Array(line.unicodeScalars)
        let start = column > limit ? column - limit / 2 : 0
        let shown = scalars.dropFirst(start).prefix(limit)
        var text = String.UnicodeScalarView()
        for scalar in shown { text.append(scalar != "\t" && isActedOn(scalar) ? "?" : scalar) }
        let caret = shown.prefix(max(0, column - 1 - start)).map { scalar in
            scalar == "\t" ? "\t" : String(repeating: " ", count: columns(of: scalar))
        }
        return (String(text), caret.joined() + "^")
    }

    /// Returns the number of terminal columns of a character: 2 for a wide character, and 0 for a combining
    /// one.
    private static func columns(of scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x20000...0x3FFFD:
            return 2
        default: return scalar.properties.isEmojiPresentation ? 2 : 1
        }
    }
}

/// The issues of a profile that cannot be played.
public struct ProfileIssues: Error, Hashable, Sendable, CustomStringConvertible {
    /// The issues, at least one of them an error.
    public var issues: [ProfileIssue]

    /// Makes a list of issues, in the order of the file.
    public init(_ issues: [ProfileIssue]) {
        self.issues = issues
    }

    /// All issues in the order of the file.
    public var description: String { issues.map(\.description).joined(separator: "\n") }
}
