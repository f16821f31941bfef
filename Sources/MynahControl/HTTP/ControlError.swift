/// The reason that a control address cannot be used, or that the other side did not answer.
package struct ControlError: Error, Hashable, Sendable {
    /// The kind of error.
    package enum Code: Hashable, Sendable {
        /// The text is not a control address, or names one that this machine does not have.
        case invalidAddress
        /// Another process listens at the address, or the path is not a socket.
        case inUse
        /// The user has no permission to use the address.
        case notPermitted
        /// The address needs a token.
        case tokenRequired
        /// The system refused the socket for another reason.
        case unavailable
        /// Nobody listens there.
        case unreachable
        /// The connection ended before the response was complete.
        case disconnected
        /// The answer of the other side is not HTTP, or is too long.
        case protocolViolation
        /// The other side did not answer in time.
        case timedOut
    }

    /// The kind of error.
    package var code: Code
    /// A sentence that says what happened, without its full stop.
    package var message: String
    /// A sentence or a command that says what to do, or `nil` if no remedy is known.
    package var remedy: String?

    /// Makes an error.
    package init(_ code: Code, _ message: String, remedy: String? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }
}

extension ControlError: CustomStringConvertible {
    /// The message, and the remedy after it.
    package var description: String { remedy.map { "\(message); \($0)" } ?? message }
}
