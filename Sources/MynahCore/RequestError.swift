/// Why a request to a peripheral came to nothing: its answer, or a radio that did not bring one.
public enum RequestError: Error, Hashable, Sendable {
    /// The peripheral refused it.
    case refused(ATTError)
    /// The radio could not carry it, the link ended, or nothing was answered in time.
    case failed(RadioError)
}

extension RequestError: CustomStringConvertible {
    /// The error in words.
    public var description: String {
        switch self {
        case .refused(let error): "the peripheral answered \(error)"
        case .failed(let error): error.description
        }
    }

    /// Whether a pairing may help: 0x05, 0x0F, or 0x0C (Core Specification, Vol 3, Part C, 10.3.2), or a
    /// channel that wants it.
    package var asksForSecurity: Bool {
        switch self {
        case .refused(.insufficientAuthentication), .refused(.insufficientEncryption),
            .refused(.insufficientEncryptionKeySize):
            true
        case .failed(let error): error.code == .insufficientSecurity
        default: false
        }
    }
}
