/// What an exported object says about one of its interfaces; calls that do not fit it never reach the object.
public struct DBusInterface: Sendable {
    /// A method and the types of its arguments and results.
    public struct Method: Sendable {
        let name: StaticString
        let arguments: StaticString
        let results: StaticString

        /// A method, by name and signatures.
        public init(_ name: StaticString, _ arguments: StaticString = "", returns results: StaticString = "")
        {
            self.name = name
            self.arguments = arguments
            self.results = results
        }
    }

    /// A property, its type and whether it may be set.
    public struct Property: Sendable {
        let name: String
        let type: String
        let isWritable: Bool

        /// A property, by name and signature.
        public init(_ name: String, _ type: String, writable: Bool = false) {
            self.name = name
            self.type = type
            isWritable = writable
        }
    }

    /// A signal and the types of its arguments.
    public struct Signal: Sendable {
        let name: StaticString
        let arguments: StaticString

        /// A signal, by name and signature.
        public init(_ name: StaticString, _ arguments: StaticString = "") {
            self.name = name
            self.arguments = arguments
        }
    }

    /// The name: `org.bluez.GattService1`.
    public let name: StaticString
    let methods: [Method]
    let properties: [Property]
    let signals: [Signal]

    /// An interface.
    public init(
        _ name: StaticString, methods: [Method] = [], properties: [Property] = [], signals: [Signal] = []
    ) {
        self.name = name
        self.methods = methods
        self.properties = properties
        self.signals = signals
    }
}

/// An object that peers can call.
///
/// Everything here is called on the executor and must not block.
public protocol DBusObject: AnyObject, Sendable {
    /// What the object can do; asked for at each call, so best a constant.
    var interfaces: [DBusInterface] { get }

    /// Answers a call of a declared method whose arguments have the declared types, now or later.
    func handle(_ call: MethodCall)

    /// A declared property's value; nil: the object has none at present.
    func property(_ name: String, of interface: String) -> DBusValue?

    /// Sets a declared, writable property; `value` has the declared type.
    func setProperty(_ name: String, of interface: String, to value: DBusValue) throws(DBusError)
}

extension DBusObject {
    /// Has no properties.
    public func property(_ name: String, of interface: String) -> DBusValue? { nil }

    /// Refuses.
    public func setProperty(_ name: String, of interface: String, to value: DBusValue) throws(DBusError) {
        throw DBusError(.propertyReadOnly, "\(name) cannot be set")
    }
}
