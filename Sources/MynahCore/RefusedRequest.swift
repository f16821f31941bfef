/// A request that was answered with an error before the program could answer it.
public struct RefusedRequest: Hashable, Sendable {
    /// The kind of request.
    public enum Access: String, Hashable, Sendable {
        /// To read the attribute.
        case read
        /// To write it.
        case write
    }

    /// Why it was refused.
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// The app is suspended, and may not run for this.
        case suspended
        /// The app is in the background, and may not serve requests there.
        case background
        /// The app does not run.
        case notRunning
        /// The app ended before it answered.
        case ended
        /// The attribute does not allow it, or wants a link that is better protected.
        case permission
        /// The value is longer than the attribute takes.
        case length
        /// The offset is past the end of the value.
        case offset
        /// The central has prepared more writes than are kept.
        case queueFull
        /// Anything else that the error says.
        case other

        /// Why a radio refuses a request with an error (Core Specification, Vol 3, Part F, 3.4.1.1).
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
    /// The attribute that it named.
    public var attribute: AttributeKey
    /// The kind of request.
    public var access: Access
    /// The ATT error that it got.
    public var error: ATTError
    /// Why.
    public var reason: Reason

    /// A refusal; a radio's reason follows from the error.
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
