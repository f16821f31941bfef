import Glibc
import MynahCDBus

/// A message that was received from the bus or is sent to it.
public final class DBusMessage: @unchecked Sendable {
    // `@unchecked`: a message is not changed after it was received or passed to the connection, libdbus
    // counts references atomically, and the last reference is released on the executor.
    let raw: OpaquePointer

    /// The type of a message.
    public enum Kind: Int32, Sendable {
        /// A type that this module does not know.
        case unknown = 0
        /// A call.
        case methodCall = 1
        /// The answer to a call.
        case methodReturn = 2
        /// An error that answers a call.
        case error = 3
        /// A signal.
        case signal = 4
    }

    /// Makes a message from a reference, and takes ownership of the reference.
    init(adopting raw: OpaquePointer) {
        self.raw = raw
    }

    deinit {
        // Each message counts towards the connection's limit; its release may enable a watch again.
        nonisolated(unsafe) let raw = raw
        GLibExecutor.shared.run { dbus_message_unref(raw) }
    }

    /// The message's type.
    public var kind: Kind { Kind(rawValue: dbus_message_get_type(raw)) ?? .unknown }

    /// The path of the called object, or of the object that sends the signal.
    public var path: ObjectPath? {
        dbus_message_get_path(raw).map { ObjectPath(checked: String(cString: $0)) }
    }

    /// The interface.
    public var interface: String? { dbus_message_get_interface(raw).map { String(cString: $0) } }

    /// The name of the method or signal.
    public var member: String? { dbus_message_get_member(raw).map { String(cString: $0) } }

    /// The sender's unique name, which the bus has set.
    public var sender: String? { dbus_message_get_sender(raw).map { String(cString: $0) } }

    /// The destination's name.
    public var destination: String? { dbus_message_get_destination(raw).map { String(cString: $0) } }

    /// The signature of the body.
    public var signature: String { dbus_message_get_signature(raw).map { String(cString: $0) } ?? "" }

    /// The number that the sender has given to this message.
    public var serial: UInt32 { dbus_message_get_serial(raw) }

    /// The number of the call that this message answers.
    public var replySerial: UInt32 { dbus_message_get_reply_serial(raw) }

    /// Whether the caller has requested no reply (NO_REPLY_EXPECTED).
    public var wantsNoReply: Bool { dbus_message_get_no_reply(raw) != 0 }

    /// Whether the message has this interface.
    public func isInterface(_ name: StaticString) -> Bool {
        Self.equal(dbus_message_get_interface(raw), name)
    }

    /// Whether the message has this method or signal name.
    public func isMember(_ name: StaticString) -> Bool { Self.equal(dbus_message_get_member(raw), name) }

    /// Whether the body has exactly this signature.
    public func hasSignature(_ signature: StaticString) -> Bool {
        Self.equal(dbus_message_get_signature(raw), signature)
    }

    /// A reader that begins at the start of the body.
    public func reader() -> MessageReader { MessageReader(self) }

    /// Reads the whole body.
    public func values() throws(DBusError) -> [DBusValue] {
        var reader = reader()
        var values: [DBusValue] = []
        while !reader.isAtEnd {
            values.append(try reader.readValue())
        }
        return values
    }

    /// The error in this message, or `nil` if the message is not an error.
    public var error: DBusError? {
        guard let name = dbus_message_get_error_name(raw) else { return nil }
        var reader = reader()
        let text = try? reader.readString()
        return DBusError(DBusError.Name(rawValue: String(cString: name)), text ?? "")
    }

    private static func equal(_ pointer: UnsafePointer<CChar>?, _ name: StaticString) -> Bool {
        guard let pointer, name.hasPointerRepresentation else { return false }
        return name.withUTF8Buffer { buffer in
            strncmp(
                pointer, UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self), buffer.count)
                == 0
                && pointer[buffer.count] == 0
        }
    }
}

extension DBusMessage {
    static func methodCall(
        to destination: String?, path: ObjectPath, interface: String, member: String,
        body: (inout MessageWriter) -> Void
    ) throws(DBusError) -> DBusMessage {
        if let destination { try Syntax.require(Syntax.isBusName(destination), "a bus name", destination) }
        try Syntax.require(Syntax.isInterface(interface), "an interface name", interface)
        try Syntax.require(Syntax.isMember(member), "a member name", member)
        let message = DBusMessage(
            adopting: try made(dbus_message_new_method_call(destination, path.string, interface, member)))
        try message.fill(body)
        return message
    }

    static func signal(
        path: ObjectPath, interface: String, member: String, destination: String?,
        body: (inout MessageWriter) -> Void
    ) throws(DBusError) -> DBusMessage {
        try Syntax.require(Syntax.isInterface(interface), "an interface name", interface)
        try Syntax.require(Syntax.isMember(member), "a member name", member)
        let message = DBusMessage(adopting: try made(dbus_message_new_signal(path.string, interface, member)))
        if let destination {
            try Syntax.require(Syntax.isBusName(destination), "a bus name", destination)
            dbus_message_set_destination(message.raw, destination)
        }
        try message.fill(body)
        return message
    }

    func setNoReply() { dbus_message_set_no_reply(raw, 1) }

    func makeReply(body: (inout MessageWriter) -> Void) throws(DBusError) -> DBusMessage {
        let message = DBusMessage(adopting: try Self.made(dbus_message_new_method_return(raw)))
        try message.fill(body)
        return message
    }

    func makeError(_ error: DBusError) throws(DBusError) -> DBusMessage {
        let name = Syntax.isErrorName(error.name.rawValue) ? error.name : .failed
        let text = Syntax.isText(error.message) ? error.message : String(error.message.prefix { $0 != "\0" })
        return DBusMessage(adopting: try Self.made(dbus_message_new_error(raw, name.rawValue, text)))
    }

    private func fill(_ body: (inout MessageWriter) -> Void) throws(DBusError) {
        var writer = MessageWriter(self)
        body(&writer)
        if let error = writer.error { throw error }
    }

    private static func made(_ raw: OpaquePointer?) throws(DBusError) -> OpaquePointer {
        guard let raw else { throw DBusError(.failed, "out of memory") }
        return raw
    }
}
