/// The declaration of an interface of an exported object.
///
/// A call that does not match the declaration is answered with an error, without calling the object.
public struct DBusInterface: Sendable {
    /// A method and the types of its arguments and results.
    public struct Method: Sendable {
        let name: StaticString
        let arguments: StaticString
        let results: StaticString
        /// A number with which the object can recognize the method without comparing names.
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

    /// The name, such as `org.bluez.GattService1`.
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
    /// The interfaces of the object; they are read for each call, so they should be a constant.
    var interfaces: [DBusInterface] { get }

    /// Answers a call, immediately or later.
    ///
    /// `method` is the declaration of the called method; the arguments have the declared types.
    func handle(_ call: MethodCall, _ method: DBusInterface.Method)

    /// Returns the value of a declared property, or `nil` if it currently has none.
    func property(_ name: String, of interface: String) -> DBusValue?

    /// Sets a declared, writable property; `value` has the declared type.
    func setProperty(_ name: String, of interface: String, to value: DBusValue) throws(DBusError)
}

extension DBusObject {
    /// Returns `nil`: by default, properties have no value.
    public func property(_ name: String, of interface: String) -> DBusValue? { nil }

    /// Throws `propertyReadOnly`: by default, properties cannot be set.
    public func setProperty(_ name: String, of interface: String, to value: DBusValue) throws(DBusError) {
        throw DBusError(.propertyReadOnly, "\(name) cannot be set")
    }
}
