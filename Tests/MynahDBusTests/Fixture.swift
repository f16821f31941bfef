import MynahDBus
import MynahSupport
import MynahTestSupport

/// Two connections to a bus of their own, and an object that one of them exports.
struct Pair {
    let bus: PrivateBus
    let server: DBusConnection
    let client: DBusConnection
    let object: TestObject

    static let path: ObjectPath = "/test/object"
    static let interface = "test.Interface"

    init() async throws {
        bus = try PrivateBus()
        server = try await DBusConnection.connect(to: .address(bus.address))
        client = try await DBusConnection.connect(to: .address(bus.address))
        object = TestObject()
        try await export(object, at: Self.path)
    }

    func export(_ object: any DBusObject, at path: ObjectPath) async throws(DBusError) {
        let server = server
        try await GLibExecutor.shared.perform { () throws(DBusError) in try server.export(object, at: path) }
    }

    /// Calls the object.
    func call(
        _ member: String, path: ObjectPath = Pair.path, interface: String = Pair.interface,
        timeout: Duration = .seconds(25), body: (inout MessageWriter) -> Void = { _ in }
    ) async throws(DBusError) -> DBusMessage {
        try await client.call(server.uniqueName, path, interface, member, timeout: timeout, body: body)
    }
}

/// Hands every call to a closure, on the executor.
final class TestObject: DBusObject {
    typealias Handler = @Sendable (MethodCall) -> Void
    /// The tags of the methods that were called.
    let tags = Mailbox<Int>("the methods that are called")
    private let handler = Lock<Handler> { call in
        if let values = try? call.message.values() {
            call.reply { body in values.forEach { body.append($0) } }
        }
    }
    private let values = Lock<[String: DBusValue]>(["Name": "first"])

    /// Sets the handler; the default one echoes.
    func answer(_ handler: @escaping Handler) {
        self.handler.withLock { $0 = handler }
    }

    let interfaces = [
        DBusInterface(
            "test.Interface",
            methods: [
                .init("EchoVariant", "v", returns: "v"), .init("EchoBytes", "ay", returns: "ay"),
                .init("Nothing", tag: 1),
                .init("Number", "u", returns: "u", tag: 2), .init("Descriptor", "h", returns: "h"),
            ],
            properties: [
                .init("Name", "s", writable: true), .init("Constant", "u"), .init("Absent", "s"),
            ]),
        DBusInterface("test.Other", methods: [.init("Only", tag: 3)]),
    ]

    func handle(_ call: MethodCall, _ method: DBusInterface.Method) {
        tags.put(method.tag)
        handler.withLock { $0 }(call)
    }

    func property(_ name: String, of interface: String) -> DBusValue? {
        name == "Constant" ? .uint32(7) : values.withLock { $0[name] }
    }

    func setProperty(_ name: String, of interface: String, to value: DBusValue) throws(DBusError) {
        guard value != "refused" else { throw DBusError("test.Error.Refused", "not that") }
        values.withLock { $0[name] = value }
    }
}

/// Takes the error out of what must throw one.
func error(_ body: () async throws(DBusError) -> Void) async -> DBusError? {
    do throws(DBusError) {
        try await body()
        return nil
    } catch {
        return error
    }
}
