import MynahCDBus

/// Reads the body of a message value by value, without building a tree.
///
/// Reading a value as another type throws an error.
public struct MessageReader {
    private let message: DBusMessage
    private var iterator = DBusMessageIter()

    init(_ message: DBusMessage) {
        self.message = message
        dbus_message_iter_init(message.raw, &iterator)
    }

    private init(_ message: DBusMessage, _ iterator: DBusMessageIter) {
        self.message = message
        self.iterator = iterator
    }

    private var code: Int32 {
        // libdbus has a mutable pointer as parameter, but does not change the iterator.
        var iterator = iterator
        return dbus_message_iter_get_arg_type(&iterator)
    }

    private mutating func peek() -> Int32 { dbus_message_iter_get_arg_type(&iterator) }

    /// Whether all values at this level were read.
    public var isAtEnd: Bool { code == TypeCode.invalid }

    /// The signature of the next value, or an empty text if there is none.
    public var nextSignature: String {
        var iterator = iterator
        guard dbus_message_iter_get_arg_type(&iterator) != TypeCode.invalid,
            let text = dbus_message_iter_get_signature(&iterator)
        else { return "" }
        defer { dbus_free(text) }
        return String(cString: text)
    }

    /// Skips the next value, of any type.
    public mutating func skip() {
        dbus_message_iter_next(&iterator)
    }

    /// Reads a `y`.
    public mutating func readByte() throws(DBusError) -> UInt8 { try basic(TypeCode.byte, 0) }
    /// Reads a `b`.
    public mutating func readBool() throws(DBusError) -> Bool {
        try basic(TypeCode.boolean, dbus_bool_t(0)) != 0
    }
    /// Reads an `n`.
    public mutating func readInt16() throws(DBusError) -> Int16 { try basic(TypeCode.int16, 0) }
    /// Reads a `q`.
    public mutating func readUInt16() throws(DBusError) -> UInt16 { try basic(TypeCode.uint16, 0) }
    /// Reads an `i`.
    public mutating func readInt32() throws(DBusError) -> Int32 { try basic(TypeCode.int32, 0) }
    /// Reads a `u`.
    public mutating func readUInt32() throws(DBusError) -> UInt32 { try basic(TypeCode.uint32, 0) }
    /// Reads an `x`.
    public mutating func readInt64() throws(DBusError) -> Int64 { try basic(TypeCode.int64, 0) }
    /// Reads a `t`.
    public mutating func readUInt64() throws(DBusError) -> UInt64 { try basic(TypeCode.uint64, 0) }
    /// Reads a `d`.
    public mutating func readDouble() throws(DBusError) -> Double { try basic(TypeCode.double, 0) }
    /// Reads an `s`.
    public mutating func readString() throws(DBusError) -> String { try text(TypeCode.string) }
    /// Reads a `g`.
    public mutating func readSignature() throws(DBusError) -> String { try text(TypeCode.signature) }

    /// Reads an `o`.
    public mutating func readObjectPath() throws(DBusError) -> ObjectPath {
        ObjectPath(checked: try text(TypeCode.objectPath))
    }

    /// Reads a file descriptor (`h`); the result is a duplicate of it.
    public mutating func readFileDescriptor() throws(DBusError) -> DBusFileDescriptor {
        let number: Int32 = try basic(TypeCode.fileDescriptor, -1)
        guard number >= 0 else { throw DBusError(.failed, "the file descriptor could not be taken out") }
        return DBusFileDescriptor(owning: number)
    }

    /// Reads an `ay`.
    public mutating func readBytes() throws(DBusError) -> [UInt8] {
        guard peek() == TypeCode.array, dbus_message_iter_get_element_type(&iterator) == TypeCode.byte else {
            throw mismatch("ay")
        }
        var inner = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &inner)
        var start: UnsafePointer<UInt8>?
        var count: Int32 = 0
        dbus_message_iter_get_fixed_array(&inner, &start, &count)
        dbus_message_iter_next(&iterator)
        return Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }

    /// Reads an array: `body` is called for each element, and must read it.
    public mutating func readArray(
        _ body: (inout MessageReader) throws(DBusError) -> Void
    ) throws(DBusError) {
        var inner = try enter(TypeCode.array)
        while !inner.isAtEnd {
            var element = inner
            try body(&element)
            inner.skip()
        }
        skip()
    }

    /// Reads a struct, or an entry of a dictionary: `body` reads its members.
    public mutating func readStructure<Result>(
        _ body: (inout MessageReader) throws(DBusError) -> Result
    ) throws(DBusError) -> Result {
        var inner = try enter(code == TypeCode.dictEntry ? TypeCode.dictEntry : TypeCode.structure)
        let result = try body(&inner)
        skip()
        return result
    }

    /// Reads a variant; `body` must read the value in it, whose type is `nextSignature`.
    public mutating func readVariant<Result>(
        _ body: (inout MessageReader) throws(DBusError) -> Result
    ) throws(DBusError) -> Result {
        var inner = try enter(TypeCode.variant)
        let result = try body(&inner)
        skip()
        return result
    }

    /// Reads a dictionary; `body` is called for each entry, and must read the key and the value.
    public mutating func readDictionary(
        _ body: (inout MessageReader) throws(DBusError) -> Void
    ) throws(DBusError) {
        guard code == TypeCode.array, dbus_message_iter_get_element_type(&iterator) == TypeCode.dictEntry
        else {
            throw mismatch("a dictionary")
        }
        try readArray { entry throws(DBusError) in try entry.readStructure(body) }
    }

    /// Reads an `a{sv}`.
    ///
    /// `body` is called with each key and a reader of its value inside the variant. It need not read the
    /// value.
    public mutating func readOptions(
        _ body: (_ key: String, _ value: inout MessageReader) throws(DBusError) -> Void
    ) throws(DBusError) {
        // Written out for speed, because every request comes through here.
        guard peek() == TypeCode.array, dbus_message_iter_get_element_type(&iterator) == TypeCode.dictEntry
        else {
            throw mismatch("a{sv}")
        }
        var entries = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &entries)
        var entry = MessageReader(message, entries)
        var value = entry
        while dbus_message_iter_get_arg_type(&entries) == TypeCode.dictEntry {
            dbus_message_iter_recurse(&entries, &entry.iterator)
            let key = try entry.readString()
            guard entry.peek() == TypeCode.variant else { throw entry.mismatch("v") }
            dbus_message_iter_recurse(&entry.iterator, &value.iterator)
            try body(key, &value)
            dbus_message_iter_next(&entries)
        }
        skip()
    }

    /// Reads any value.
    public mutating func readValue() throws(DBusError) -> DBusValue {
        switch code {
        case TypeCode.byte: return .byte(try readByte())
        case TypeCode.boolean: return .bool(try readBool())
        case TypeCode.int16: return .int16(try readInt16())
        case TypeCode.uint16: return .uint16(try readUInt16())
        case TypeCode.int32: return .int32(try readInt32())
        case TypeCode.uint32: return .uint32(try readUInt32())
        case TypeCode.int64: return .int64(try readInt64())
        case TypeCode.uint64: return .uint64(try readUInt64())
        case TypeCode.double: return .double(try readDouble())
        case TypeCode.string: return .string(try readString())
        case TypeCode.objectPath: return .objectPath(try readObjectPath())
        case TypeCode.signature: return .signature(try readSignature())
        case TypeCode.fileDescriptor: return .fileDescriptor(try readFileDescriptor())
        case TypeCode.variant:
            return .variant(try readVariant { value throws(DBusError) in try value.readValue() })
        case TypeCode.structure:
            return .structure(try readStructure { members throws(DBusError) in try members.readRest() })
        case TypeCode.array: return try readArrayValue()
        default: throw mismatch("a value")
        }
    }

    // MARK: - The work

    private mutating func readRest() throws(DBusError) -> [DBusValue] {
        var values: [DBusValue] = []
        while !isAtEnd {
            values.append(try readValue())
        }
        return values
    }

    private mutating func readArrayValue() throws(DBusError) -> DBusValue {
        switch dbus_message_iter_get_element_type(&iterator) {
        case TypeCode.byte:
            return .bytes(try readBytes())
        case TypeCode.dictEntry:
            // In a{KV}, the signature of a key is one letter.
            let types = nextSignature.dropFirst(2).dropLast()
            var entries: [DBusValue.Entry] = []
            try readDictionary { entry throws(DBusError) in
                let key = try entry.readValue()
                entries.append(DBusValue.Entry(key, try entry.readValue()))
            }
            return .dictionary(key: String(types.prefix(1)), value: String(types.dropFirst()), entries)
        default:
            let element = String(nextSignature.dropFirst())
            var elements: [DBusValue] = []
            try readArray { value throws(DBusError) in elements.append(try value.readValue()) }
            return .array(of: element, elements)
        }
    }

    private mutating func basic<Value: BitwiseCopyable>(_ expected: Int32, _ zero: Value) throws(DBusError)
        -> Value
    {
        guard peek() == expected else { throw mismatch(TypeCode.letter(expected)) }
        var value = zero
        dbus_message_iter_get_basic(&iterator, &value)
        dbus_message_iter_next(&iterator)
        return value
    }

    private mutating func text(_ expected: Int32) throws(DBusError) -> String {
        guard peek() == expected else { throw mismatch(TypeCode.letter(expected)) }
        var pointer: UnsafePointer<CChar>?
        dbus_message_iter_get_basic(&iterator, &pointer)
        dbus_message_iter_next(&iterator)
        return pointer.map { String(cString: $0) } ?? ""
    }

    private mutating func enter(_ expected: Int32) throws(DBusError) -> MessageReader {
        guard code == expected else { throw mismatch(TypeCode.letter(expected)) }
        var inner = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &inner)
        return MessageReader(message, inner)
    }

    private func mismatch(_ expected: String) -> DBusError {
        let found = nextSignature
        return DBusError(
            .invalidArguments, found.isEmpty ? "\(expected) is missing" : "\(found) where \(expected) is due")
    }
}
