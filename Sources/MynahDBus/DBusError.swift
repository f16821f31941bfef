/// An error with a D-Bus error name and a text.
///
/// The error comes from the bus, from another connection, or from this module.
public struct DBusError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of a D-Bus error.
    public struct Name: Hashable, Sendable, RawRepresentable, ExpressibleByStringLiteral,
        CustomStringConvertible
    {
        /// The name in D-Bus notation: `org.freedesktop.DBus.Error.Failed`.
        public let rawValue: String

        /// Makes a name from its text.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Makes a name from a literal.
        public init(stringLiteral value: String) { rawValue = value }

        /// The name in D-Bus notation.
        public var description: String { rawValue }
    }

    /// The error's name.
    public var name: Name
    /// The text for people, which is often empty.
    public var message: String

    /// Makes an error with a name and a text.
    public init(_ name: Name, _ message: String = "") {
        self.name = name
        self.message = message
    }

    /// Name and text.
    public var description: String { message.isEmpty ? name.rawValue : "\(name): \(message)" }
}

extension DBusError.Name {
    /// Any failure without a more specific name.
    public static let failed: Self = "org.freedesktop.DBus.Error.Failed"
    /// No reply arrived in time.
    public static let noReply: Self = "org.freedesktop.DBus.Error.NoReply"
    /// The connection to the bus is closed.
    public static let disconnected: Self = "org.freedesktop.DBus.Error.Disconnected"
    /// The bus cannot be reached.
    public static let noServer: Self = "org.freedesktop.DBus.Error.NoServer"
    /// The socket of the bus does not exist.
    package static let fileNotFound: Self = "org.freedesktop.DBus.Error.FileNotFound"
    /// The policy of the bus does not allow the request.
    public static let accessDenied: Self = "org.freedesktop.DBus.Error.AccessDenied"
    /// The arguments of a call are not valid.
    public static let invalidArguments: Self = "org.freedesktop.DBus.Error.InvalidArgs"
    /// No connection owns this well-known name.
    public static let nameHasNoOwner: Self = "org.freedesktop.DBus.Error.NameHasNoOwner"
    /// No connection owns this well-known name, and the bus knows no service for it.
    public static let serviceUnknown: Self = "org.freedesktop.DBus.Error.ServiceUnknown"
    /// The object has no such method.
    public static let unknownMethod: Self = "org.freedesktop.DBus.Error.UnknownMethod"
    /// There is no such object.
    public static let unknownObject: Self = "org.freedesktop.DBus.Error.UnknownObject"
    /// The object has no such interface.
    public static let unknownInterface: Self = "org.freedesktop.DBus.Error.UnknownInterface"
    /// The interface has no such property.
    public static let unknownProperty: Self = "org.freedesktop.DBus.Error.UnknownProperty"
    /// The property cannot be set.
    public static let propertyReadOnly: Self = "org.freedesktop.DBus.Error.PropertyReadOnly"
    /// There is already an object at the path.
    public static let objectPathInUse: Self = "org.freedesktop.DBus.Error.ObjectPathInUse"
    /// A limit of the bus would be exceeded.
    public static let limitsExceeded: Self = "org.freedesktop.DBus.Error.LimitsExceeded"
    /// The waiting task was cancelled.
    public static let cancelled: Self = "org.freedesktop.DBus.Error.Cancelled"
}
