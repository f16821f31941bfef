/// The reason that a control address cannot be used, or that a peer did not answer as expected.
package struct ControlError: Error, Hashable, Sendable {
    /// The kind of error.
    package enum Code: Hashable, Sendable {
        /// The text is not a control address, or the machine does not have this address.
        case invalidAddress
        /// Another process listens at the address, or the file at the path is not a socket.
        case inUse
        /// The user has no permission to use the address.
        case notPermitted
        /// The address requires a token.
        case tokenRequired
        /// The system refused to open the socket for another reason.
        case unavailable
        /// No server listens at the address.
        case unreachable
        /// The connection ended before the response was complete.
        case disconnected
        /// The response is not HTTP, or is too long.
        case protocolViolation
        /// The peer did not answer in time.
        case timedOut
    }

    /// The kind of error.
    package var code: Code
    /// A sentence about what happened, without its full stop.
    package var message: String
    /// A sentence or command with advice, or `nil` if no remedy is known.
    package var remedy: String?

    package init(_ code: Code, _ message: String, remedy: String? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }
}

extension ControlError: CustomStringConvertible {
    /// The message, followed by the remedy.
    package var description: String { remedy.map { "\(message); \($0)" } ?? message }
}
