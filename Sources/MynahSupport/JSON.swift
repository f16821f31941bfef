/// A JSON value whose objects keep the order in which their keys were written.
public enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int)
    /// A whole number that fits in a `UInt64`, but not in an `Int`.
    case unsigned(UInt64)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([Member])

    /// A key and its value.
    public struct Member: Hashable, Sendable {
        /// The key.
        public var key: String
        /// The value.
        public var value: JSON

        /// Makes a member.
        public init(_ key: String, _ value: JSON) {
            self.key = key
            self.value = value
        }
    }

    /// The value as JSON text on one line.
    public var text: String {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The value as indented JSON text, two spaces per level.
    ///
    /// Arrays and objects that contain no others stay on one line.
    public var prettyText: String {
        var bytes: [UInt8] = []
        writePretty(to: &bytes, level: 0)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the value as JSON text in UTF-8, on one line.
    public func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): bytes += String(value).utf8
        case .unsigned(let value): bytes += String(value).utf8
        case .number(let value): bytes += Self.digits(of: value).utf8
        case .string(let value): Self.quote(value, to: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.quote(member.key, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private var isFlat: Bool {
        switch self {
        case .array(let values): values.allSatisfy(\.isScalar)
        case .object(let members): members.allSatisfy(\.value.isScalar)
        default: true
        }
    }

    private var isScalar: Bool {
        switch self {
        case .array(let values): values.isEmpty
        case .object(let members): members.isEmpty
        default: true
        }
    }

    private func writePretty(to bytes: inout [UInt8], level: Int) {
        guard !isFlat else { return write(to: &bytes) }
        let indent = Array(repeating: UInt8(ascii: " "), count: 2 * (level + 1))
        func list<Element>(_ items: [Element], _ open: String, _ close: String, _ each: (Element) -> Void) {
            bytes += open.utf8
            for (index, item) in items.enumerated() {
                bytes += (index > 0 ? ",\n" : "\n").utf8
                bytes += indent
                each(item)
            }
            bytes.append(UInt8(ascii: "\n"))
            bytes += indent.dropLast(2)
            bytes += close.utf8
        }
        switch self {
        case .array(let values):
            list(values, "[", "]") { $0.writePretty(to: &bytes, level: level + 1) }
        case .object(let members):
            list(members, "{", "}") { member in
                Self.quote(member.key, to: &bytes)
                bytes += ": ".utf8
                member.value.writePretty(to: &bytes, level: level + 1)
            }
        default:
            write(to: &bytes)
        }
    }

    // JSON has no infinities and no NaN: they become null. Whole numbers lose their ".0", all but -0, which
    // would lose its sign.
    private static func digits(of value: Double) -> String {
        guard value.isFinite else { return "null" }
        let text = "\(value)"
        return text.hasSuffix(".0") && text != "-0.0" ? String(text.dropLast(2)) : text
    }

    /// Appends a string literal, with escapes for all characters that control a terminal or end a line: C0
    /// and C1 controls, DEL, U+2028 and U+2029.
    private static func quote(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes += #"\""#.utf8
            case UInt8(ascii: "\\"): bytes += #"\\"#.utf8
            case UInt8(ascii: "\n"): bytes += #"\n"#.utf8
            case UInt8(ascii: "\r"): bytes += #"\r"#.utf8
            case UInt8(ascii: "\t"): bytes += #"\t"#.utf8
            case 0..<0x20, 0x7F: bytes += (#"\u00"# + Hex.encode([byte])).utf8
            // U+0080 to U+009F: 0xC2 is a lead byte only.
            case 0x80...0x9F where bytes.last == 0xC2:
                bytes.removeLast()
                bytes += (#"\u00"# + Hex.encode([byte])).utf8
            case 0xA8...0xA9 where bytes.suffix(2) == [0xE2, 0x80]:
                bytes.removeLast(2)
                bytes += (byte == 0xA8 ? #"\u2028"# : #"\u2029"#).utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

extension JSON: ExpressibleByStringLiteral {
    /// Makes a JSON string from a literal in Swift.
    public init(stringLiteral value: String) { self = .string(value) }
}
