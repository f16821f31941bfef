import MynahSupport

/// An error code of an ATT Error Response (Core Specification, Vol 3, Part F, 3.4.1.1).
///
/// The codes 0x01 to 0x13 are defined by the specification, 0x80 to 0x9F by applications, and 0xE0 to 0xFF
/// are common to all profiles (Core Specification Supplement, Part B).
public struct ATTError: Error, Hashable, Sendable {
    /// The code on the air.
    public let code: UInt8

    /// Makes an error with any code, including 0x00 and the reserved ranges, because a profile may require
    /// them.
    public init(code: UInt8) {
        self.code = code
    }

    /// 0x01: the handle is not valid on this server.
    public static let invalidHandle = ATTError(code: 0x01)
    /// 0x02: the attribute cannot be read.
    public static let readNotPermitted = ATTError(code: 0x02)
    /// 0x03: the attribute cannot be written.
    public static let writeNotPermitted = ATTError(code: 0x03)
    /// 0x04: the PDU was not valid.
    public static let invalidPDU = ATTError(code: 0x04)
    /// 0x05: the attribute requires authentication.
    public static let insufficientAuthentication = ATTError(code: 0x05)
    /// 0x06: the server does not support the request.
    public static let requestNotSupported = ATTError(code: 0x06)
    /// 0x07: the offset is past the end of the value.
    public static let invalidOffset = ATTError(code: 0x07)
    /// 0x08: the client is not authorised.
    public static let insufficientAuthorization = ATTError(code: 0x08)
    /// 0x09: too many prepared writes are queued.
    public static let prepareQueueFull = ATTError(code: 0x09)
    /// 0x0A: no attribute was found in the range.
    public static let attributeNotFound = ATTError(code: 0x0A)
    /// 0x0B: the attribute cannot be read with a Read Blob Request.
    public static let attributeNotLong = ATTError(code: 0x0B)
    /// 0x0C: the link's encryption key is too short.
    public static let insufficientEncryptionKeySize = ATTError(code: 0x0C)
    /// 0x0D: the length of the value is invalid for the attribute.
    public static let invalidAttributeValueLength = ATTError(code: 0x0D)
    /// 0x0E: an unlikely error occurred.
    public static let unlikelyError = ATTError(code: 0x0E)
    /// 0x0F: the attribute requires encryption.
    public static let insufficientEncryption = ATTError(code: 0x0F)
    /// 0x10: the attribute type is not a supported grouping attribute.
    public static let unsupportedGroupType = ATTError(code: 0x10)
    /// 0x11: the server has insufficient resources.
    public static let insufficientResources = ATTError(code: 0x11)
    /// 0x12: the client has to discover the database again.
    public static let databaseOutOfSync = ATTError(code: 0x12)
    /// 0x13: the value is not allowed.
    public static let valueNotAllowed = ATTError(code: 0x13)
    /// 0xFC: the write is rejected for a reason other than permissions.
    public static let writeRequestRejected = ATTError(code: 0xFC)
    /// 0xFD: the Client Characteristic Configuration is not configured as the profile requires.
    public static let cccdImproperlyConfigured = ATTError(code: 0xFD)
    /// 0xFE: the procedure is already in progress.
    public static let procedureAlreadyInProgress = ATTError(code: 0xFE)
    /// 0xFF: the value is out of range.
    public static let outOfRange = ATTError(code: 0xFF)

    /// The codes of application errors, 0x80 to 0x9F.
    public static let applicationCodes: ClosedRange<UInt8> = 0x80...0x9F
}

extension ATTError: CustomStringConvertible {
    static let words: [UInt8: String] = [
        0x01: "invalid handle", 0x02: "read not permitted", 0x03: "write not permitted", 0x04: "invalid PDU",
        0x05: "insufficient authentication", 0x06: "request not supported", 0x07: "invalid offset",
        0x08: "insufficient authorization", 0x09: "prepare queue full", 0x0A: "attribute not found",
        0x0B: "attribute not long", 0x0C: "insufficient encryption key size",
        0x0D: "invalid attribute value length", 0x0E: "unlikely error", 0x0F: "insufficient encryption",
        0x10: "unsupported group type", 0x11: "insufficient resources", 0x12: "database out of sync",
        0x13: "value not allowed", 0xFC: "write request rejected",
        0xFD: "client characteristic configuration improperly configured",
        0xFE: "procedure already in progress", 0xFF: "out of range",
    ]

    /// The code and its name, as in `0x0D (invalid attribute value length)`.
    public var description: String {
        let number = "0x" + Hex.encode([code])
        if let name = Self.words[code] { return "\(number) (\(name))" }
        return Self.applicationCodes.contains(code) ? "\(number) (application error)" : number
    }
}
