/// A peer's call, to be answered once: from the handler, or later from anywhere.
///
/// Let go unanswered, it answers with an error.
public final class MethodCall: @unchecked Sendable {
    // `@unchecked`: `isAnswered` is touched on the executor, or by the last owner.

    /// The call as it came.
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

    /// The method.
    public var member: String { message.member ?? "" }

    /// Who calls: a unique name.
    public var sender: String { message.sender ?? "" }

    /// The object that is called.
    public var path: ObjectPath { message.path ?? .root }

    /// Whether the caller wants no answer; replying is then allowed, and does nothing.
    public var wantsNoReply: Bool { message.wantsNoReply }

    /// Reads the arguments from the first.
    public func reader() -> MessageReader { message.reader() }

    /// Answers with what `body` writes.
    public func reply(_ body: (inout MessageWriter) -> Void = { _ in }) {
        if message.wantsNoReply { return }
        do throws(DBusError) {
            send(try message.makeReply(body: body))
        } catch {
            fail(error)
        }
    }

    /// Answers with values.
    public func reply(_ values: DBusValue...) {
        reply { writer in
            for value in values {
                writer.append(value)
            }
        }
    }

    /// Answers with an error; a name that is none travels as `…Error.Failed`.
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
