import MynahCDBus

/// Writes the body of a message value by value, without building a tree.
///
/// If a value cannot be sent (a text with a NUL, an invalid signature, more bytes than a bus allows), the
/// remaining values are skipped, and the call or signal throws. The values in an array or a variant must have
/// the declared type.
public struct MessageWriter {
    private let message: DBusMessage
    private var iterator = DBusMessageIter()
    private var size = 0
    private var depth = 0
    var error: DBusError?

    /// The largest size of a message that dbus-daemon accepts on the system bus, in bytes.
    ///
    /// The specification has the same limit for an array.
    private static let maximumSize = 32 << 20
    /// The maximum nesting of containers; the daemon allows 32 arrays, 32 structs, and 64 levels in all.
    private static let maximumDepth = 32

    init(_ message: DBusMessage) {
        self.message = message
        dbus_message_iter_init_append(message.raw, &iterator)
    }

    /// Appends a byte.
    public mutating func append(_ value: UInt8) { basic(TypeCode.byte, value) }
    /// Appends a boolean.
    public mutating func append(_ value: Bool) { basic(TypeCode.boolean, dbus_bool_t(value ? 1 : 0)) }
    /// Appends an `n`.
    public mutating func append(_ value: Int16) { basic(TypeCode.int16, value) }
    /// Appends a `q`.
    public mutating func append(_ value: UInt16) { basic(TypeCode.uint16, value) }
    /// Appends an `i`.
    public mutating func append(_ value: Int32) { basic(TypeCode.int32, value) }
    /// Appends a `u`.
    public mutating func append(_ value: UInt32) { basic(TypeCode.uint32, value) }
    /// Appends an `x`.
    public mutating func append(_ value: Int64) { basic(TypeCode.int64, value) }
    /// Appends a `t`.
    public mutating func append(_ value: UInt64) { basic(TypeCode.uint64, value) }
    /// Appends a `d`.
    public mutating func append(_ value: Double) { basic(TypeCode.double, value) }

    /// Appends a string.
    public mutating func append(_ value: String) {
        guard Syntax.isText(value) else { return fail("a text with a NUL") }
        text(TypeCode.string, value)
    }

    /// Appends an object path.
    public mutating func append(_ value: ObjectPath) { text(TypeCode.objectPath, value.string) }

    /// Appends a signature.
    public mutating func appendSignature(_ value: String) {
        guard Syntax.isSignature(value) else { return fail("not a signature: \(value.debugDescription)") }
        text(TypeCode.signature, value)
    }

    /// Appends a file descriptor; the message gets a duplicate of it.
    public mutating func append(_ value: DBusFileDescriptor) {
        guard error == nil else { return }
        // libdbus refuses a file descriptor that cannot be duplicated.
        var number = value.rawValue
        guard dbus_message_iter_append_basic(&iterator, TypeCode.fileDescriptor, &number) != 0 else {
            return fail("a file descriptor could not be duplicated")
        }
    }

    /// Appends an `ay`.
    public mutating func appendBytes(_ bytes: [UInt8]) {
        container(TypeCode.array, "y") { writer in writer.fixed(bytes) }
    }

    /// Appends an array; `body` must append elements of the type `element`.
    public mutating func appendArray(of element: String, _ body: (inout MessageWriter) -> Void) {
        guard Syntax.isSingleSignature("a" + element) else {
            return fail("not an element's signature: \(element.debugDescription)")
        }
        container(TypeCode.array, element, body)
    }

    /// Appends a struct; `body` appends its members.
    public mutating func appendStructure(_ body: (inout MessageWriter) -> Void) {
        container(TypeCode.structure, nil, body)
    }

    /// Appends an entry of a dictionary; `body` must append the key and the value.
    public mutating func appendEntry(_ body: (inout MessageWriter) -> Void) {
        container(TypeCode.dictEntry, nil, body)
    }

    /// Appends a variant; `body` appends one value of the type `signature`.
    public mutating func appendVariant(_ signature: String, _ body: (inout MessageWriter) -> Void) {
        guard Syntax.isSingleSignature(signature) else {
            return fail("not one type's signature: \(signature.debugDescription)")
        }
        container(TypeCode.variant, signature, body)
    }

    /// Appends an `a{sv}`; `body` appends its entries with `appendOption`.
    public mutating func appendOptions(_ body: (inout MessageWriter) -> Void = { _ in }) {
        container(TypeCode.array, "{sv}", body)
    }

    /// Appends one entry of an `a{sv}`.
    public mutating func appendOption(_ key: String, _ value: DBusValue) {
        appendEntry { writer in
            writer.append(key)
            writer.append(.variant(value))
        }
    }

    /// Appends one entry of an `a{sv}` whose value is an `ay`.
    public mutating func appendOption(_ key: String, bytes: [UInt8]) {
        appendEntry { writer in
            writer.append(key)
            writer.container(TypeCode.variant, "ay") { $0.appendBytes(bytes) }
        }
    }

    // MARK: - The work

    mutating func fail(_ text: String, as name: DBusError.Name = .invalidArguments) {
        if error == nil { error = DBusError(name, text) }
    }

    /// Adds `count` bytes, and some for their alignment, to the size of the message.
    ///
    /// Returns `false` if the message is too large, or if an earlier value could not be written.
    private mutating func grow(by count: Int) -> Bool {
        guard error == nil else { return false }
        size += min(count, Self.maximumSize) + 8
        guard size <= Self.maximumSize else {
            fail("more than a message may hold", as: .limitsExceeded)
            return false
        }
        return true
    }

    private mutating func basic<Value: BitwiseCopyable>(_ code: Int32, _ value: Value) {
        guard grow(by: MemoryLayout<Value>.size) else { return }
        var value = value
        if dbus_message_iter_append_basic(&iterator, code, &value) == 0 { fail("out of memory", as: .failed) }
    }

    private mutating func text(_ code: Int32, _ value: String) {
        guard grow(by: value.utf8.count) else { return }
        let done = value.withCString { pointer in
            var pointer: UnsafePointer<CChar>? = pointer
            return dbus_message_iter_append_basic(&iterator, code, &pointer)
        }
        if done == 0 { fail("out of memory", as: .failed) }
    }

    /// Appends bytes as the elements of the `ay` that is being written.
    private mutating func fixed(_ bytes: [UInt8]) {
        guard let count = Int32(exactly: bytes.count), grow(by: bytes.count) else {
            return fail("more than an array may hold", as: .limitsExceeded)
        }
        guard count > 0 else { return }
        let done = bytes.withUnsafeBufferPointer { buffer in
            var pointer = buffer.baseAddress
            return dbus_message_iter_append_fixed_array(&iterator, TypeCode.byte, &pointer, count)
        }
        if done == 0 { fail("out of memory", as: .failed) }
    }

    private mutating func container(
        _ code: Int32, _ signature: String?, _ body: (inout MessageWriter) -> Void
    ) {
        guard grow(by: 8) else { return }
        guard depth < Self.maximumDepth else {
            return fail("values nested too deeply", as: .limitsExceeded)
        }
        var inner = DBusMessageIter()
        guard dbus_message_iter_open_container(&iterator, code, signature, &inner) != 0 else {
            return fail("out of memory", as: .failed)
        }
        // libdbus allows copies of iterators; the current one is always `iterator`.
        var outer = iterator
        iterator = inner
        depth += 1
        body(&self)
        depth -= 1
        inner = iterator
        if error == nil {
            if dbus_message_iter_close_container(&outer, &inner) == 0 { fail("out of memory", as: .failed) }
        } else {
            dbus_message_iter_abandon_container(&outer, &inner)
        }
        iterator = outer
    }
}

extension MessageWriter {
    /// Appends any value.
    public mutating func append(_ value: DBusValue) {
        switch value {
        case .byte(let value): append(value)
        case .bool(let value): append(value)
        case .int16(let value): append(value)
        case .uint16(let value): append(value)
        case .int32(let value): append(value)
        case .uint32(let value): append(value)
        case .int64(let value): append(value)
        case .uint64(let value): append(value)
        case .double(let value): append(value)
        case .string(let value): append(value)
        case .objectPath(let value): append(value)
        case .signature(let value): appendSignature(value)
        case .fileDescriptor(let value): append(value)
        case .bytes(let value): appendBytes(value)
        case .array(let element, let elements):
            appendArray(of: element) { writer in
                for value in elements {
                    writer.append(value, expecting: element)
                }
            }
        case .dictionary(let key, let value, let entries):
            appendArray(of: "{" + key + value + "}") { writer in
                for entry in entries {
                    writer.appendEntry { writer in
                        writer.append(entry.key, expecting: key)
                        writer.append(entry.value, expecting: value)
                    }
                }
            }
        case .structure(let members):
            guard !members.isEmpty else { return fail("an empty struct") }
            appendStructure { writer in
                for value in members {
                    writer.append(value)
                }
            }
        case .variant(let value):
            appendVariant(value.signature) { $0.append(value) }
        }
    }

    /// Appends a value; fails if its type is not the expected one, because libdbus would end the process.
    private mutating func append(_ value: DBusValue, expecting signature: String) {
        guard value.signature == signature else {
            return fail("a value of type \(value.signature) where \(signature) is due")
        }
        append(value)
    }
}
