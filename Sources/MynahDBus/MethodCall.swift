/// A call from another connection, which is answered exactly once: by its handler, or later from any thread.
///
/// If the last reference to a call is released without an answer, an error is sent as the answer.
public final class MethodCall: @unchecked Sendable {
    // `@unchecked`: `isAnswered` is used only by the executor, or in `deinit`.

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

    /// The path of the called object.
    public var path: ObjectPath { message.path ?? .root }

    /// Whether the caller has requested no reply.
    ///
    /// `reply` and `fail` may be called for such a call, but send nothing.
    public var wantsNoReply: Bool { message.wantsNoReply }

    /// Returns a reader of the arguments.
    public func reader() -> MessageReader { message.reader() }

    /// Sends a reply, whose arguments `body` writes.
    public func reply(_ body: (inout MessageWriter) -> Void = { _ in }) {
        if message.wantsNoReply { return }
        do throws(DBusError) {
            send(try message.makeReply(body: body))
        } catch {
            fail(error)
        }
    }

    /// Sends a reply with these values.
    public func reply(_ values: DBusValue...) {
        reply { writer in
            for value in values {
                writer.append(value)
            }
        }
    }

    /// Sends an error as the reply.
    ///
    /// If the error's name is invalid, the name `org.freedesktop.DBus.Error.Failed` is sent.
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
