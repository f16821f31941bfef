extension JSON {
    /// The reason why a text is not JSON, and the position of the error.
    public struct ParseError: Error, Hashable, Sendable, CustomStringConvertible {
        /// A sentence that names the expected or the unexpected token.
        public var message: String
        /// The position of the error, in bytes from the beginning of the text.
        public var offset: Int
        /// `true` if the text is valid JSON, but one of its numbers would be rounded.
        package var isRounded = false

        /// The message with the position.
        public var description: String { "\(message) at byte \(offset)" }
    }

    /// Reads one JSON text (RFC 8259) in UTF-8; invalid UTF-8 inside a string becomes U+FFFD.
    ///
    /// Arrays and objects may be nested 64 deep, so that a text cannot exhaust the stack. A number without a
    /// fraction becomes an `integer` if it fits; a number that is too large for a `Double` is an error.
    public init(parsing bytes: [UInt8]) throws(ParseError) {
        try self.init(parsing: bytes, rounding: true)
    }

    /// Reads one JSON text.
    ///
    /// If `rounding` is `false`, a whole number that would lose digits is an error.
    package init(parsing bytes: [UInt8], rounding: Bool) throws(ParseError) {
        var parser = JSONParser(bytes: bytes, isRounding: rounding)
        self = try parser.parse()
    }

    /// The value of a key, or `nil` if the key is missing or this value is not an object.
    public subscript(key: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }

    /// The text, or `nil` if this is not a string.
    public var stringValue: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The integer, or `nil` if this is not a whole number that fits an `Int`.
    public var integerValue: Int? {
        guard case .integer(let value) = self else { return nil }
        return value
    }

    /// The elements of an array, or `nil` for other values.
    public var arrayValue: [JSON]? {
        guard case .array(let values) = self else { return nil }
        return values
    }

    /// The Boolean value, or `nil` for other values.
    public var boolValue: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }
}

private struct JSONParser {
    static let deepest = 64
    let bytes: [UInt8]
    let isRounding: Bool
    var index = 0

    init(bytes: [UInt8], isRounding: Bool) {
        self.bytes = bytes
        self.isRounding = isRounding
    }

    mutating func parse() throws(JSON.ParseError) -> JSON {
        let value = try value(level: 0)
        skipSpace()
        guard index == bytes.count else { throw error("unexpected characters after the value") }
        return value
    }

    private func error(_ message: String) -> JSON.ParseError {
        JSON.ParseError(message: message, offset: index)
    }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipSpace() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { index += 1 }
    }

    private mutating func consume(_ byte: UInt8) -> Bool {
        skipSpace()
        guard next == byte else { return false }
        index += 1
        return true
    }

    /// Reads a comma or checks for the end of a list; returns `true` for a comma.
    ///
    /// A comma before the end of the list is reported at the comma's position.
    private mutating func takeComma(before end: UInt8) throws(JSON.ParseError) -> Bool {
        guard consume(UInt8(ascii: ",")) else { return false }
        let comma = index - 1
        skipSpace()
        guard next == end else { return true }
        index = comma
        throw error("there is a comma before \(end == UInt8(ascii: "]") ? "]" : "}")")
    }

    private mutating func value(level: Int) throws(JSON.ParseError) -> JSON {
        guard level <= Self.deepest else { throw error("it is nested too deeply") }
        skipSpace()
        switch next {
        case UInt8(ascii: "{")?: return try object(level)
        case UInt8(ascii: "[")?: return try array(level)
        case UInt8(ascii: "\"")?: return .string(try string())
        case UInt8(ascii: "t")?: return try word("true", .bool(true))
        case UInt8(ascii: "f")?: return try word("false", .bool(false))
        case UInt8(ascii: "n")?: return try word("null", .null)
        case UInt8(ascii: "-")?, .some(0x30...0x39): return try number()
        case nil: throw error("unexpected end of input; expected a value")
        default: throw error("a value is expected")
        }
    }

    private mutating func word(_ word: String, _ value: JSON) throws(JSON.ParseError) -> JSON {
        guard bytes[index...].starts(with: word.utf8) else { throw error("a value is expected") }
        index += word.utf8.count
        return value
    }

    private mutating func array(_ level: Int) throws(JSON.ParseError) -> JSON {
        index += 1
        var values: [JSON] = []
        if consume(UInt8(ascii: "]")) { return .array(values) }
        repeat { values.append(try value(level: level + 1)) } while try takeComma(before: UInt8(ascii: "]"))
        guard consume(UInt8(ascii: "]")) else { throw error("a comma or a ] is expected") }
        return .array(values)
    }

    private mutating func object(_ level: Int) throws(JSON.ParseError) -> JSON {
        index += 1
        var members: [JSON.Member] = []
        if consume(UInt8(ascii: "}")) { return .object(members) }
        repeat {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw error("a key in quotation marks is expected") }
            let key = try string()
            guard consume(UInt8(ascii: ":")) else { throw error("a colon is expected") }
            members.append(.init(key, try value(level: level + 1)))
        } while try takeComma(before: UInt8(ascii: "}"))
        guard consume(UInt8(ascii: "}")) else { throw error("a comma or a } is expected") }
        return .object(members)
    }

    private mutating func number() throws(JSON.ParseError) -> JSON {
        let start = index
        while let byte = next, byte > 0x20, ![0x2C, 0x5D, 0x7D].contains(byte) { index += 1 }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        // Swift reads more spellings than JSON has: 0x10, +1, 1_0, inf, 01.
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        let isPlain = text.utf8.allSatisfy { (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }
        let leadsWithZero = digits.hasPrefix("0") && digits.dropFirst().first?.isNumber == true
        if isPlain, !leadsWithZero, digits.first?.isNumber == true, digits.last?.isNumber == true {
            if let whole = Int(text) { return .integer(whole) }
            if let whole = UInt64(text) { return .unsigned(whole) }
            if !isRounding, let problem = WholeDigits.problem(of: text) {
                throw JSON.ParseError(message: problem, offset: start, isRounded: true)
            }
            let hasBareDot = digits.split(separator: ".", omittingEmptySubsequences: false).dropFirst()
                .contains { $0.first?.isNumber != true }
            // A larger number would become an infinity, which JSON cannot write.
            if !hasBareDot, let value = Double(text), value.isFinite { return .number(value) }
        }
        index = start
        throw error("\(text.prefix(20)) is not a number")
    }

    private mutating func string() throws(JSON.ParseError) -> String {
        index += 1
        var text: [UInt8] = []
        while let byte = next {
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(&text)
            case 0..<0x20:
                index -= 1
                throw error("there is a control character in a string")
            default: text.append(byte)
            }
        }
        throw error("a string does not end")
    }

    private mutating func escape(_ text: inout [UInt8]) throws(JSON.ParseError) {
        guard let byte = next else { throw error("a string does not end") }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            var code = try hexDigits()
            if (0xD800..<0xDC00).contains(code), bytes[index...].starts(with: #"\u"#.utf8) {
                let before = index
                index += 2
                let low = try hexDigits()
                if (0xDC00..<0xE000).contains(low) {
                    code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
                } else {
                    index = before
                }
            }
            text += String(Unicode.Scalar(code) ?? "\u{FFFD}").utf8
        default:
            index -= 1
            throw error("unknown escape sequence")
        }
    }

    private mutating func hexDigits() throws(JSON.ParseError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = next.flatMap({ Hex.value(ofDigit: $0) }) else {
                throw error("four hexadecimal digits are expected")
            }
            value = value << 4 | UInt32(digit)
            index += 1
        }
        return value
    }
}
