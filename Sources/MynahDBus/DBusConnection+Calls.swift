import MynahSupport

extension DBusConnection {
    /// How long a call waits for its answer unless said otherwise, as libdbus does.
    public static let defaultTimeout: Duration = .seconds(25)

    /// Calls a method and waits for the answer without blocking; an error that the peer answers is thrown.
    ///
    /// A cancelled task stops waiting.
    public func call(
        _ destination: String, _ path: ObjectPath, _ interface: String, _ member: String,
        timeout: Duration = defaultTimeout, body: (inout MessageWriter) -> Void = { _ in }
    ) async throws(DBusError) -> DBusMessage {
        let message = try DBusMessage.methodCall(
            to: destination, path: path, interface: interface, member: member, body: body)
        let waiting = Lock<Waiting>(Waiting())
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                GLibExecutor.shared.run {
                    let serial = self.start(message, timeout: timeout) { continuation.resume(returning: $0) }
                    let isCancelled = waiting.withLock { waiting in
                        waiting.serial = serial
                        return waiting.isCancelled
                    }
                    if isCancelled { self.cancel(serial) }
                }
            }
        } onCancel: {
            let serial = waiting.withLock { waiting in
                waiting.isCancelled = true
                return waiting.serial
            }
            GLibExecutor.shared.run { self.cancel(serial) }
        }
        return try result.get()
    }

    /// Calls a method from the executor; `completion` gets the answer there, later.
    ///
    /// Throws when the call cannot be put together.
    public func send(
        _ destination: String, _ path: ObjectPath, _ interface: String, _ member: String,
        timeout: Duration = defaultTimeout, body: (inout MessageWriter) -> Void = { _ in },
        completion: @escaping @Sendable (Result<DBusMessage, DBusError>) -> Void
    ) throws(DBusError) {
        checkExecutor()
        let message = try DBusMessage.methodCall(
            to: destination, path: path, interface: interface, member: member, body: body)
        start(message, timeout: timeout, completion: completion)
    }

    /// Calls a method from the executor and asks for no answer; returns the call's serial, nil when the connection is closed.
    @discardableResult
    public func sendWithoutReply(
        _ destination: String, _ path: ObjectPath, _ interface: String, _ member: String,
        body: (inout MessageWriter) -> Void = { _ in }
    ) throws(DBusError) -> UInt32? {
        checkExecutor()
        let message = try DBusMessage.methodCall(
            to: destination, path: path, interface: interface, member: member, body: body)
        message.setNoReply()
        return send(message)
    }

    /// Answers a message even when it wants no answer: for a test of who notices.
    package func sendReply(to message: DBusMessage) throws(DBusError) {
        send(try message.makeReply { _ in })
    }

    /// Sends a call; nil when it has failed already.
    @discardableResult
    private func start(
        _ message: DBusMessage, timeout: Duration, completion: @escaping PendingCalls.Completion
    ) -> UInt32? {
        guard let serial = send(message) else {
            completion(.failure(DBusError(.disconnected, "the connection to the bus is closed")))
            return nil
        }
        let call = PendingCalls.Call(
            timeout: timeout, deadline: .monotonicNow(plus: timeout), completion: completion)
        if calls.add(serial, call) { source.setReadyTime(call.deadline) }
        return serial
    }

    /// What a call and its cancellation, which may come first, share.
    private struct Waiting {
        var serial: UInt32?
        var isCancelled = false
    }

    private func cancel(_ serial: UInt32?) {
        guard let serial else { return }
        calls.take(serial)?.completion(.failure(DBusError(.cancelled, "the task was cancelled")))
    }
}

/// What is asked of the bus itself, and of every object.
extension DBusConnection {
    /// Takes a well-known name; throws when somebody else has it.
    public func requestName(_ name: String) async throws(DBusError) {
        let doNotQueue: UInt32 = 4
        let reply = try await call(Bus.name, Bus.path, Bus.interface, "RequestName") { body in
            body.append(name)
            body.append(doNotQueue)
        }
        var reader = reply.reader()
        let answer = try reader.readUInt32()
        guard answer == 1 || answer == 4 else { throw DBusError(.failed, "\(name) is taken") }
    }

    /// Gives a well-known name back.
    public func releaseName(_ name: String) async throws(DBusError) {
        _ = try await call(Bus.name, Bus.path, Bus.interface, "ReleaseName") { $0.append(name) }
    }

    /// Whether somebody has a well-known name; nobody is started for it.
    public func nameHasOwner(_ name: String) async throws(DBusError) -> Bool {
        let reply = try await call(Bus.name, Bus.path, Bus.interface, "NameHasOwner") { $0.append(name) }
        var reader = reply.reader()
        return try reader.readBool()
    }

    /// A property of a peer's object.
    public func property(
        _ name: String, of interface: String, at path: ObjectPath, on destination: String
    ) async throws(DBusError) -> DBusValue {
        let reply = try await call(destination, path, "org.freedesktop.DBus.Properties", "Get") { body in
            body.append(interface)
            body.append(name)
        }
        var reader = reply.reader()
        return try reader.readVariant { value throws(DBusError) in try value.readValue() }
    }

    /// Sets a property of a peer's object.
    public func setProperty(
        _ name: String, of interface: String, at path: ObjectPath, on destination: String, to value: DBusValue
    ) async throws(DBusError) {
        _ = try await call(destination, path, "org.freedesktop.DBus.Properties", "Set") { body in
            body.append(interface)
            body.append(name)
            body.append(.variant(value))
        }
    }
}
