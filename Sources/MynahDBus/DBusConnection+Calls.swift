import MynahSupport

extension DBusConnection {
    /// The default time limit of a call, as in libdbus.
    public static let defaultTimeout: Duration = .seconds(25)

    /// Calls a method and returns the reply.
    ///
    /// If the peer replies with an error, throws that error. If the task is cancelled, this ends immediately
    /// and throws `cancelled`.
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

    /// Calls a method from the executor; the reply is passed to `completion` on the executor.
    ///
    /// Throws if the message cannot be made.
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

    /// Calls a method from the executor without requesting a reply.
    ///
    /// Returns the message's serial, or `nil` if the connection is closed.
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

    /// Sends a reply to a message even if its sender requested none, for tests.
    package func sendReply(to message: DBusMessage) throws(DBusError) {
        send(try message.makeReply { _ in })
    }

    /// Sends a call, and returns its serial, or `nil` if the connection is closed and `completion` was
    /// already called.
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

    /// The state of a call that is shared with the handler of its task's cancellation.
    ///
    /// The task may be cancelled before the call has a serial.
    private struct Waiting {
        var serial: UInt32?
        var isCancelled = false
    }

    private func cancel(_ serial: UInt32?) {
        guard let serial else { return }
        calls.remove(serial)?.completion(.failure(DBusError(.cancelled, "the task was cancelled")))
    }
}

/// Methods that call the bus itself, or read and set properties of a peer's objects.
extension DBusConnection {
    /// Requests a well-known name for this connection.
    ///
    /// Throws `failed` if another connection owns the name.
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

    /// Releases a well-known name.
    public func releaseName(_ name: String) async throws(DBusError) {
        _ = try await call(Bus.name, Bus.path, Bus.interface, "ReleaseName") { $0.append(name) }
    }

    /// Returns whether a connection owns a well-known name.
    ///
    /// If no connection owns the name, the bus does not start the service that would own it.
    public func nameHasOwner(_ name: String) async throws(DBusError) -> Bool {
        let reply = try await call(Bus.name, Bus.path, Bus.interface, "NameHasOwner") { $0.append(name) }
        var reader = reply.reader()
        return try reader.readBool()
    }

    /// Returns a property of a peer's object.
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
