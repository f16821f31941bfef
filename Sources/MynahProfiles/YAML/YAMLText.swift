import MynahSupport

/// The reason that a file is not valid YAML, with the position.
struct YAMLProblem: Error {
    var mark: SourceMark?
    var message: String
}

/// A file's text and its lines, checked for invalid UTF-8 and for characters that YAML does not allow.
struct YAMLText {
    /// The text, without a byte order mark.
    let text: String
    let lines: [String]

    init(_ bytes: [UInt8]) throws(YAMLProblem) {
        let bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Self.encodingProblem(bytes) }
        self.text = text
        lines = Self.lines(of: bytes)
    }

    /// Returns the lines of a text in UTF-8, without the line breaks (Unicode Standard, 5.8).
    ///
    /// `String.split` does the same, but needs thirty times as many instructions.
    static func lines(of bytes: [UInt8]) -> [String] {
        var lines: [String] = []
        var start = 0
        var index = 0
        while index < bytes.count {
            let length = lengthOfLineBreak(bytes, at: index)
            if length > 0 {
                lines.append(String(decoding: bytes[start..<index], as: UTF8.self))
                start = index + length
            }
            index += max(length, 1)
        }
        return lines + [String(decoding: bytes[start...], as: UTF8.self)]
    }

    /// Returns the length of the line break at an index, in bytes, or 0 if there is none.
    private static func lengthOfLineBreak(_ bytes: [UInt8], at index: Int) -> Int {
        switch bytes[index] {
        case 0x0A, 0x0B, 0x0C: 1
        case 0x0D: bytes[index...].starts(with: [0x0D, 0x0A]) ? 2 : 1
        case 0xC2: bytes[index...].starts(with: [0xC2, 0x85]) ? 2 : 0
        case 0xE2:
            bytes[index...].starts(with: [0xE2, 0x80, 0xA8])
                || bytes[index...].starts(with: [0xE2, 0x80, 0xA9])
                ? 3 : 0
        default: 0
        }
    }

    private static func encodingProblem(_ bytes: [UInt8]) -> YAMLProblem {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            return YAMLProblem(message: "the file is UTF-16; save it as UTF-8")
        }
        // Decoding replaces the first invalid byte, so everything before the replacement is valid.
        let valid = String(decoding: bytes, as: UTF8.self).prefix { $0 != "\u{FFFD}" }
        return YAMLProblem(
            mark: mark(after: valid.utf8), message: "this is not UTF-8; save the file as UTF-8 text")
    }

    /// The problem of the first character that YAML does not allow (YAML 1.2, 5.1), or `nil` if there is
    /// none.
    var forbiddenCharacter: YAMLProblem? {
        guard text.unicodeScalars.contains(where: Self.isForbidden) else { return nil }
        for (index, line) in lines.enumerated() {
            let scalars = line.unicodeScalars
            let column = scalars.enumerated().first { Self.isForbidden($1) }
            guard let (offset, scalar) = column else { continue }
            return YAMLProblem(
                mark: SourceMark(line: index + 1, column: offset + 1),
                message:
                    """
                    the control character 0x\(Hex.encode([UInt8(truncatingIfNeeded: scalar.value)])) \
                    is not allowed in YAML; remove it
                    """
            )
        }
        return YAMLProblem(message: "a control character is not allowed in YAML; remove it")
    }

    /// The reason that the text is not JSON, or `nil` if it is JSON or empty.
    ///
    /// A `.json` file is parsed as YAML, which is a superset of JSON, but other programs accept only JSON.
    var jsonProblem: YAMLProblem? {
        guard text.contains(where: { !$0.isWhitespace }) else { return nil }
        let bytes = Array(text.utf8)
        do throws(JSON.ParseError) {
            _ = try JSON(parsing: bytes)
            return nil
        } catch {
            return YAMLProblem(
                mark: Self.mark(after: bytes.prefix(error.offset)),
                message: "this is not JSON: \(error.message); if it is YAML, name the file .yaml")
        }
    }

    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D, 0x85: false
        case 0..<0x20, 0x7F...0x9F: true
        default: false
        }
    }

    /// Returns the position after these bytes of a text.
    static func mark(after bytes: some Collection<UInt8>) -> SourceMark {
        var mark = SourceMark.start
        for character in String(decoding: bytes, as: UTF8.self) {
            if character.isNewline {
                mark = SourceMark(line: mark.line + 1, column: 1)
            } else {
                mark.column += character.unicodeScalars.count
            }
        }
        return mark
    }

    /// The reason to refuse the aliases of the text, or `nil` to allow them.
    ///
    /// An alias is short, but its expansion can be enormous: nine anchors with nine aliases each result in a
    /// billion values. Every `*` or `&` before a name is counted, even in texts and comments, so the result
    /// is an upper bound.
    var aliasProblem: YAMLProblem? {
        var anchors = 0
        var aliases = 0
        var depth = 0
        var deepest = 0
        var previous = UInt8(ascii: "\n")
        var indent = 0
        var sign: UInt8?
        for byte in text.utf8 {
            if let sign, !" \n\r\t".utf8.contains(byte) {
                if sign == UInt8(ascii: "&") { anchors += 1 } else { aliases += 1 }
            }
            sign = nil
            switch byte {
            case UInt8(ascii: "&"), UInt8(ascii: "*"):
                if " \n\t[,:-?{".utf8.contains(previous) { sign = byte }
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth = max(0, depth - 1)
            default: break
            }
            switch byte {
            case UInt8(ascii: "\n"): indent = 0
            case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "?"): if indent >= 0 { indent += 1 }
            default:
                deepest = max(deepest, indent)
                indent = -1
            }
            deepest = max(deepest, depth)
            previous = byte
        }
        guard anchors > 0, aliases > 0 else { return nil }
        // The largest possible expansion: as many levels as anchors, with the aliases spread evenly over the
        // levels.
        let levels = max(1, min(anchors, aliases / 2))
        var bytes = text.utf8.count
        for level in 0..<levels {
            bytes *= max(1, aliases / levels + (level < aliases % levels ? 1 : 0))
            guard bytes <= Self.maximumExpansion else {
                return YAMLProblem(
                    message:
                        """
                        its \(aliases) aliases (*name) of \(anchors) anchors could expand without limit; \
                        write the values instead
                        """
                )
            }
        }
        guard deepest <= Self.maximumDepthOfAliases else {
            return YAMLProblem(
                message: """
                    aliases (*name) are not allowed in a file that is nested this deeply; write the values \
                    instead
                    """)
        }
        return nil
    }

    /// The largest size of a file after the expansion of its aliases, in bytes.
    private static let maximumExpansion = 64 << 20
    /// The largest nesting depth of a file with aliases, whose expansions are nested.
    private static let maximumDepthOfAliases = 100
}
