/// The declaration of an interface that an exported object has.
///
/// A call that does not fit the declaration never reaches the object.
public struct DBusInterface: Sendable {
    /// A method and the types of its arguments and results.
    public struct Method: Sendable {
        let name: StaticString
        let arguments: StaticString
        let results: StaticString
        /// A number that the object has chosen for the method, so that it need not compare names in a call.
        public let tag: Int

        /// Declares a method by its name and signatures.
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

        /// Declares a property by its name and signature.
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

        /// Declares a signal by its name and signature.
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

    /// Makes an interface.
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
    /// The object's interfaces, which are read at each call and should be a constant.
    var interfaces: [DBusInterface] { get }

    /// Answers a call, now or later.
    ///
    /// `method` is the declaration of the called method; the arguments have the declared types.
    func handle(_ call: MethodCall, _ method: DBusInterface.Method)

    /// Returns a declared property's value, or `nil` if the object has none at present.
    func property(_ name: String, of interface: String) -> DBusValue?

    /// Sets a declared, writable property; `value` has the declared type.
    func setProperty(_ name: String, of interface: String, to value: DBusValue) throws(DBusError)
}

extension DBusObject {
    /// Returns `nil`, for an object without properties.
    public func property(_ name: String, of interface: String) -> DBusValue? { nil }

    /// Throws `propertyReadOnly`.
    public func setProperty(_ name: String, of interface: String, to value: DBusValue) throws(DBusError) {
        throw DBusError(.propertyReadOnly, "\(name) cannot be set")
    }
}
