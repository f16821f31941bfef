/// A request that was refused with an error before it reached the program.
public struct RefusedRequest: Hashable, Sendable {
    /// The kind of request.
    public enum Access: String, Hashable, Sendable {
        /// A read.
        case read
        /// A write.
        case write
    }

    /// The reason for the error.
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// The app is suspended, and the request does not wake it.
        case suspended
        /// The app is in the background without the background mode.
        case background
        /// The app is not running.
        case notRunning
        /// The app ended before it answered.
        case ended
        /// The permissions do not allow the access, or require a link with more security.
        case permission
        /// The value is longer than the attribute allows.
        case length
        /// The offset is past the end of the value.
        case offset
        /// The central has prepared more writes than the queue holds.
        case queueFull
        /// Another reason, which the error describes.
        case other

        /// Makes the reason for an error with which a radio has refused a request (Core Specification, Vol
        /// 3, Part F, 3.4.1.1).
        package init(_ error: ATTError) {
            self =
                switch error {
                case .readNotPermitted, .writeNotPermitted, .insufficientAuthentication,
                    .insufficientAuthorization,
                    .insufficientEncryption, .insufficientEncryptionKeySize:
                    .permission
                case .invalidAttributeValueLength: .length
                case .invalidOffset: .offset
                case .prepareQueueFull: .queueFull
                default: .other
                }
        }
    }

    /// The central that sent the request.
    public var central: Peer.ID
    /// The attribute that the request accesses.
    public var attribute: AttributeKey
    /// The kind of request.
    public var access: Access
    /// The ATT error of the response.
    public var error: ATTError
    /// The reason for the error.
    public var reason: Reason

    /// Makes a refused request; by default, the reason is derived from the error.
    package init(
        central: Peer.ID, attribute: AttributeKey, access: Access, error: ATTError, reason: Reason? = nil
    ) {
        self.central = central
        self.attribute = attribute
        self.access = access
        self.error = error
        self.reason = reason ?? Reason(error)
    }
}
