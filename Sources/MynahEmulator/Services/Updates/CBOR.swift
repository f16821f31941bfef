import MynahSupport

/// A CBOR value (RFC 8949), limited to the types that MCUmgr uses.
///
/// Tags, floating-point numbers and `undefined` are not supported. The keys of a map are texts.
enum CBOR: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        var key: String
        var value: CBOR

        init(_ key: String, _ value: CBOR) {
            (self.key, self.value) = (key, value)
        }
    }

    /// The error for bytes that are not exactly one supported value.
    struct Malformed: Error, Hashable {}

    case unsigned(UInt64)
    /// The negative integer −1 − n for the given number n.
    case negative(UInt64)
    case bytes([UInt8])
    case text(String)
    case array([CBOR])
    /// The entries of a map, in their order.
    case map([Entry])
    case boolean(Bool)
    case null

    /// The deepest nesting of arrays and maps.
    static let deepest = 8

    /// Decodes exactly one value; throws `Malformed` if the bytes are anything else.
    init(decoding bytes: [UInt8]) throws(Malformed) {
        var decoder = CBORDecoder(bytes)
        self = try decoder.value(depth: 0)
        guard decoder.isAtEnd else { throw Malformed() }
    }

    /// The value for a key, or `nil` if this is not a map or has no such key.
    subscript(_ key: String) -> CBOR? {
        guard case .map(let entries) = self else { return nil }
        return entries.first { $0.key == key }?.value
    }

    var integer: UInt64? { if case .unsigned(let number) = self { number } else { nil } }
    var octets: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
    var string: String? { if case .text(let text) = self { text } else { nil } }
    var flag: Bool? { if case .boolean(let isTrue) = self { isTrue } else { nil } }
    var isMap: Bool { if case .map = self { true } else { false } }

    // MARK: Encoding

    /// The encoded value, with the shortest possible heads and definite lengths.
    var encoded: [UInt8] {
        switch self {
        case .unsigned(let number): Self.head(.unsigned, number)
        case .negative(let number): Self.head(.negative, number)
        case .bytes(let bytes): Self.head(.bytes, UInt64(bytes.count)) + bytes
        case .text(let text): Self.head(.text, UInt64(text.utf8.count)) + Array(text.utf8)
        case .array(let values):
            Self.head(.array, UInt64(values.count)) + values.flatMap(\.encoded)
        case .map(let entries):
            Self.head(.map, UInt64(entries.count))
                + entries.flatMap { CBOR.text($0.key).encoded + $0.value.encoded }
        case .boolean(let isTrue): Self.head(.simple, UInt64(isTrue ? Simple.true : Simple.false))
        case .null: Self.head(.simple, UInt64(Simple.null))
        }
    }

    private static func head(_ type: MajorType, _ argument: UInt64) -> [UInt8] {
        let high = type.rawValue << 5
        guard argument >= 24 else { return [high | UInt8(argument)] }
        let widths: [(information: UInt8, bytes: UInt64)] = [(24, 1), (25, 2), (26, 4), (27, 8)]
        let width = widths.first { $0.bytes == 8 || argument >> (8 * $0.bytes) == 0 } ?? (27, 8)
        let octets = (0..<width.bytes).reversed().map { UInt8(truncatingIfNeeded: argument >> (8 * $0)) }
        return [high | width.information] + octets
    }

    /// The type of a value, in the upper three bits of its first byte (RFC 8949, 3.1).
    enum MajorType: UInt8 {
        case unsigned = 0
        case negative = 1
        case bytes = 2
        case text = 3
        case array = 4
        case map = 5
        case tag = 6
        case simple = 7
    }

    /// The simple values that can be decoded.
    enum Simple {
        static let `false`: UInt8 = 20
        static let `true`: UInt8 = 21
        static let null: UInt8 = 22
    }
}

/// A decoder of the values in a byte sequence.
///
/// A declared count never reserves memory: each element takes at least a byte.
private struct CBORDecoder {
    private struct Head {
        var type: CBOR.MajorType
        /// The number in the head, or `nil` if the length is indefinite.
        var argument: UInt64?
    }

    /// The byte that ends a value of indefinite length.
    private static let stop: UInt8 = 0xFF

    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func value(depth: Int) throws(CBOR.Malformed) -> CBOR {
        guard depth <= CBOR.deepest else { throw CBOR.Malformed() }
        let head = try head()
        switch (head.type, head.argument) {
        case (.unsigned, let number?): return .unsigned(number)
        case (.negative, let number?): return .negative(number)
        case (.bytes, let length): return .bytes(try string(.bytes, length))
        case (.text, let length): return .text(try Self.text(try string(.text, length)))
        case (.array, let count):
            var values: [CBOR] = []
            while try !isOver(values.count, count) { values.append(try value(depth: depth + 1)) }
            return .array(values)
        case (.map, let count): return try map(count, depth: depth)
        case (.simple, UInt64(CBOR.Simple.false)?): return .boolean(false)
        case (.simple, UInt64(CBOR.Simple.true)?): return .boolean(true)
        case (.simple, UInt64(CBOR.Simple.null)?): return .null
        default: throw CBOR.Malformed()
        }
    }

    private mutating func map(_ count: UInt64?, depth: Int) throws(CBOR.Malformed) -> CBOR {
        var entries: [CBOR.Entry] = []
        var keys: Set<String> = []
        while try !isOver(entries.count, count) {
            guard case .text(let key) = try value(depth: depth + 1), keys.insert(key).inserted else {
                throw CBOR.Malformed()
            }
            entries.append(.init(key, try value(depth: depth + 1)))
        }
        return .map(entries)
    }

    /// Returns whether an array or a map is complete after `number` elements.
    ///
    /// If its length is indefinite (`count` is `nil`), reads past a stop byte.
    private mutating func isOver(_ number: Int, _ count: UInt64?) throws(CBOR.Malformed) -> Bool {
        if let count { return UInt64(number) >= count }
        guard let next = rest.first else { throw CBOR.Malformed() }
        guard next == Self.stop else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func head() throws(CBOR.Malformed) -> Head {
        guard let first = rest.popFirst(), let type = CBOR.MajorType(rawValue: first >> 5) else {
            throw CBOR.Malformed()
        }
        let information = first & 0x1F
        switch information {
        case ..<24: return Head(type: type, argument: UInt64(information))
        case 24...27:
            // Simple values with an argument, such as floating-point numbers, are not supported.
            guard type != .simple else { throw CBOR.Malformed() }
            let octets = try take(1 << (Int(information) - 24))
            return Head(type: type, argument: octets.reduce(0) { $0 << 8 | UInt64($1) })
        case 31 where [.bytes, .text, .array, .map].contains(type): return Head(type: type, argument: nil)
        default: throw CBOR.Malformed()
        }
    }

    /// Returns the bytes of a string; an indefinite length means that chunks of the same type are joined.
    private mutating func string(
        _ type: CBOR.MajorType, _ length: UInt64?
    ) throws(CBOR.Malformed) -> [UInt8] {
        if let length { return try take(Int(clamping: length)) }
        var bytes: [UInt8] = []
        while try !isOver(0, nil) {
            let head = try head()
            guard head.type == type, let length = head.argument else { throw CBOR.Malformed() }
            bytes += try take(Int(clamping: length))
        }
        return bytes
    }

    private static func text(_ bytes: [UInt8]) throws(CBOR.Malformed) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw CBOR.Malformed() }
        return text
    }

    private mutating func take(_ count: Int) throws(CBOR.Malformed) -> [UInt8] {
        guard count <= rest.count else { throw CBOR.Malformed() }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }
}
