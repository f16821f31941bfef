/// The declaration of an interface of an exported object.
///
/// A call that does not match never reaches the object.
public struct DBusInterface: Sendable {
    /// A method and the types of its arguments and results.
    public struct Method: Sendable {
        let name: StaticString
        let arguments: StaticString
        let results: StaticString
        /// The number that the object has given the method, by which it knows a call without comparing names.
        public let tag: Int

        /// A method, by name and signatures.
        public init(
            _ name: StaticString, _ arguments: StaticString = "", returns results: StaticString = "",
            tag: Int = 0
        ) {
            self.name = name
            self.arguments = arguments
            self.results = results
            self.tag = tag
        }
    }

    /// A property: its name, its type, and whether peers may set it.
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
/// All methods are called on the executor and must not block.
public protocol DBusObject: AnyObject, Sendable {
    /// The object's interfaces. Read at each call, so a constant is best.
    var interfaces: [DBusInterface] { get }

    /// Answers a call, now or later.
    ///
    /// `method` is the declared method that was called; the arguments have its types.
    func handle(_ call: MethodCall, _ method: DBusInterface.Method)

    /// Returns a declared property's value, or `nil` if the object has none at present.
    func property(_ name: String, of interface: String) -> DBusValue?

    /// Sets a declared, writable property; `value` has the declared type.
    func setProperty(_ name: String, of interface: String, to value: DBusValue) throws(DBusError)
}

extension DBusObject {
    /// Returns `nil`: the object has no properties.
    public func property(_ name: String, of interface: String) -> DBusValue? { nil }

    /// Throws `propertyReadOnly`.
    public func setProperty(_ name: String, of interface: String, to value: DBusValue) throws(DBusError) {
        throw DBusError(.propertyReadOnly, "\(name) cannot be set")
    }
}
