/// Any D-Bus value, as a tree of values.
///
/// `MessageReader` and `MessageWriter` are faster.
public indirect enum DBusValue: Hashable, Sendable {
    /// D-Bus type `y`.
    case byte(UInt8)
    /// D-Bus type `b`.
    case bool(Bool)
    /// D-Bus type `n`.
    case int16(Int16)
    /// D-Bus type `q`.
    case uint16(UInt16)
    /// D-Bus type `i`.
    case int32(Int32)
    /// D-Bus type `u`.
    case uint32(UInt32)
    /// D-Bus type `x`.
    case int64(Int64)
    /// D-Bus type `t`.
    case uint64(UInt64)
    /// D-Bus type `d`.
    case double(Double)
    /// D-Bus type `s`.
    case string(String)
    /// D-Bus type `o`.
    case objectPath(ObjectPath)
    /// D-Bus type `g`.
    case signature(String)
    /// D-Bus type `h`.
    case fileDescriptor(DBusFileDescriptor)
    /// An array of bytes (`ay`); the reader never returns it as `array`.
    case bytes([UInt8])
    /// An array; `of` is the signature of its elements.
    case array(of: String, [DBusValue])
    /// A dictionary with ordered entries; `key` and `value` are the signatures of its keys and values.
    case dictionary(key: String, value: String, [Entry])
    /// A struct.
    case structure([DBusValue])
    /// A variant, which contains a value with its type.
    case variant(DBusValue)

    /// One entry of a dictionary.
    public struct Entry: Hashable, Sendable {
        /// The key, of a basic type.
        public var key: DBusValue
        /// The value.
        public var value: DBusValue

        /// Makes an entry.
        public init(_ key: DBusValue, _ value: DBusValue) {
            self.key = key
            self.value = value
        }
    }

    /// Makes an array of strings (`as`).
    public static func strings(_ strings: some Sequence<String>) -> DBusValue {
        .array(of: "s", strings.map { .string($0) })
    }

    /// Makes an array of object paths (`ao`).
    public static func objectPaths(_ paths: some Sequence<ObjectPath>) -> DBusValue {
        .array(of: "o", paths.map { .objectPath($0) })
    }

    /// A dictionary of type `a{sv}` with these entries, in this order.
    public static func options(_ options: KeyValuePairs<String, DBusValue>) -> DBusValue {
        .dictionary(key: "s", value: "v", options.map { Entry(.string($0.key), .variant($0.value)) })
    }

    /// A dictionary of type `a{sv}` with these entries, in this order.
    public static func options(_ options: [(String, DBusValue)]) -> DBusValue {
        .dictionary(key: "s", value: "v", options.map { Entry(.string($0.0), .variant($0.1)) })
    }

    /// The signature of the value's type.
    public var signature: String {
        switch self {
        case .byte: "y"
        case .bool: "b"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .fileDescriptor: "h"
        case .bytes: "ay"
        case .array(let element, _): "a" + element
        case .dictionary(let key, let value, _): "a{" + key + value + "}"
        case .structure(let members): "(" + members.map(\.signature).joined() + ")"
        case .variant: "v"
        }
    }
}

extension DBusValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral {
    /// Makes a string.
    public init(stringLiteral value: String) { self = .string(value) }

    /// Makes a boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

/// Properties that return the value as a Swift type, or `nil` if it has another type.
///
/// For a variant, they return the value inside it.
extension DBusValue {
    /// The value inside a variant, or the value itself if it is no variant.
    public var unwrapped: DBusValue {
        if case .variant(let inner) = self { inner.unwrapped } else { self }
    }

    /// The boolean.
    public var boolValue: Bool? {
        if case .bool(let value) = unwrapped { value } else { nil }
    }

    /// The string.
    public var stringValue: String? {
        if case .string(let value) = unwrapped { value } else { nil }
    }

    /// The object path.
    public var objectPathValue: ObjectPath? {
        if case .objectPath(let value) = unwrapped { value } else { nil }
    }

    /// The bytes of an `ay`.
    public var bytesValue: [UInt8]? {
        if case .bytes(let value) = unwrapped { value } else { nil }
    }

    /// The value as an `I`, or `nil` if it is not an integer or does not fit into an `I`.
    public func integer<I: FixedWidthInteger>(as type: I.Type = I.self) -> I? {
        switch unwrapped {
        case .byte(let value): I(exactly: value)
        case .int16(let value): I(exactly: value)
        case .uint16(let value): I(exactly: value)
        case .int32(let value): I(exactly: value)
        case .uint32(let value): I(exactly: value)
        case .int64(let value): I(exactly: value)
        case .uint64(let value): I(exactly: value)
        default: nil
        }
    }

    /// The elements of an array.
    public var arrayValue: [DBusValue]? {
        switch unwrapped {
        case .array(_, let elements): elements
        case .bytes(let bytes): bytes.map { .byte($0) }
        default: nil
        }
    }

    /// The strings of an `as`.
    public var stringsValue: [String]? {
        guard case .array("s", let elements) = unwrapped else { return nil }
        return elements.compactMap(\.stringValue)
    }

    /// The entries of a dictionary.
    public var entries: [Entry]? {
        if case .dictionary(_, _, let entries) = unwrapped { entries } else { nil }
    }

    /// The value for a key in a dictionary, or `nil` if the dictionary does not have the key.
    ///
    /// The key has type `s` or `o`. If the value is a variant, this is the value inside it.
    public subscript(_ key: String) -> DBusValue? {
        entries?.first { $0.key.stringValue == key || $0.key.objectPathValue?.string == key }?.value.unwrapped
    }
}
