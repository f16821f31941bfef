/// The error of a request to a peripheral: an ATT error, or an error of the radio.
public enum RequestError: Error, Hashable, Sendable {
    /// The peripheral answered with this error.
    case refused(ATTError)
    /// The radio failed, the link ended, or the peripheral did not answer in time.
    case failed(RadioError)
}

extension RequestError: CustomStringConvertible {
    /// The error as a sentence without its full stop.
    public var description: String {
        switch self {
        case .refused(let error): "the peripheral answered \(error)"
        case .failed(let error): error.description
        }
    }

    /// Whether pairing may help: the error is 0x05, 0x0F or 0x0C (Core Specification, Vol 3, Part C,
    /// 10.3.2), or the request requires more security.
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
