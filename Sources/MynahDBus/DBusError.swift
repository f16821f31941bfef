/// An error of the bus, of a peer on it, or of a call to this module: a D-Bus error name and a text.
public struct DBusError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A D-Bus error name.
    public struct Name: Hashable, Sendable, RawRepresentable, ExpressibleByStringLiteral,
        CustomStringConvertible
    {
        /// The name as it travels: `org.freedesktop.DBus.Error.Failed`.
        public let rawValue: String

        /// The name written so.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The name written so.
        public init(stringLiteral value: String) { rawValue = value }

        /// The name as it travels.
        public var description: String { rawValue }
    }

    /// The error's name.
    public var name: Name
    /// The text for people; often empty.
    public var message: String

    /// An error with a name and a text.
    public init(_ name: Name, _ message: String = "") {
        self.name = name
        self.message = message
    }

    /// Name and text.
    public var description: String { message.isEmpty ? name.rawValue : "\(name): \(message)" }
}

extension DBusError.Name {
    /// Something went wrong.
    public static let failed: Self = "org.freedesktop.DBus.Error.Failed"
    /// No answer came in time.
    public static let noReply: Self = "org.freedesktop.DBus.Error.NoReply"
    /// The connection to the bus is closed.
    public static let disconnected: Self = "org.freedesktop.DBus.Error.Disconnected"
    /// The bus cannot be reached.
    public static let noServer: Self = "org.freedesktop.DBus.Error.NoServer"
    /// The bus has no socket.
    package static let fileNotFound: Self = "org.freedesktop.DBus.Error.FileNotFound"
    /// The bus's policy refuses it.
    public static let accessDenied: Self = "org.freedesktop.DBus.Error.AccessDenied"
    /// The arguments of a call are not valid.
    public static let invalidArguments: Self = "org.freedesktop.DBus.Error.InvalidArgs"
    /// Nobody owns the name.
    public static let nameHasNoOwner: Self = "org.freedesktop.DBus.Error.NameHasNoOwner"
    /// Nobody owns the name, and it cannot be started.
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
    /// Something is already there.
    public static let objectPathInUse: Self = "org.freedesktop.DBus.Error.ObjectPathInUse"
    /// More than the bus carries.
    public static let limitsExceeded: Self = "org.freedesktop.DBus.Error.LimitsExceeded"
    /// The task that waited was cancelled.
    public static let cancelled: Self = "org.freedesktop.DBus.Error.Cancelled"
}
