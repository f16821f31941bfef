/// A peer's call, which is answered once, by the handler or later from any thread.
///
/// A call that is released unanswered is answered with an error.
public final class MethodCall: @unchecked Sendable {
    // `@unchecked`: only the executor touches `isAnswered`, or the last owner.

    /// The D-Bus message of the call.
    public let message: DBusMessage
    private let connection: DBusConnection
    private var isAnswered: Bool

    init(_ message: DBusMessage, on connection: DBusConnection) {
        self.message = message
        self.connection = connection
        isAnswered = message.wantsNoReply
    }

    deinit {
        guard !isAnswered,
            let answer = try? message.makeError(DBusError(.failed, "The call was not answered"))
        else {
            return
        }
        let connection = connection
        GLibExecutor.shared.run { connection.send(answer) }
    }

    /// The method's name.
    public var member: String { message.member ?? "" }

    /// The caller's unique name.
    public var sender: String { message.sender ?? "" }

    /// The object that is called.
    public var path: ObjectPath { message.path ?? .root }

    /// Whether the caller asks for no reply.
    ///
    /// Replying is then allowed, and does nothing.
    public var wantsNoReply: Bool { message.wantsNoReply }

    /// Returns a reader of the arguments.
    public func reader() -> MessageReader { message.reader() }

    /// Replies with the arguments that `body` writes.
    public func reply(_ body: (inout MessageWriter) -> Void = { _ in }) {
        if message.wantsNoReply { return }
        do throws(DBusError) {
            send(try message.makeReply(body: body))
        } catch {
            fail(error)
        }
    }

    /// Replies with values.
    public func reply(_ values: DBusValue...) {
        reply { writer in
            for value in values {
                writer.append(value)
            }
        }
    }

    /// Replies with an error.
    ///
    /// An invalid error name is sent as `…Error.Failed`.
    public func fail(_ error: DBusError) {
        if message.wantsNoReply { return }
        if let answer = try? message.makeError(error) { send(answer) }
    }

    private func send(_ answer: DBusMessage) {
        GLibExecutor.shared.run {
            precondition(!self.isAnswered, "a D-Bus call was answered twice")
            self.isAnswered = true
            self.connection.send(answer)
        }
    }
}
