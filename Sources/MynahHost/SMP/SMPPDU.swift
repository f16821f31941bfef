import MynahCore
import MynahSupport

/// A PDU of the Security Manager Protocol (Core Specification, Vol 3, Part H, 3.3).
///
/// Descriptions of PDUs contain no keys, because logs show them.
enum SMPPDU: Hashable, Sendable {
    /// The first byte of a PDU, which identifies its kind.
    enum Code: UInt8, Hashable, Sendable, CaseIterable {
        case pairingRequest = 0x01
        case pairingResponse = 0x02
        case pairingConfirm = 0x03
        case pairingRandom = 0x04
        case pairingFailed = 0x05
        case encryptionInformation = 0x06
        case centralIdentification = 0x07
        case identityInformation = 0x08
        case identityAddressInformation = 0x09
        case signingInformation = 0x0A
        case securityRequest = 0x0B
        case pairingPublicKey = 0x0C
        case pairingDHKeyCheck = 0x0D
        case pairingKeypressNotification = 0x0E

        /// The length of a PDU with this code, including the code, in bytes.
        var length: Int {
            switch self {
            case .pairingRequest, .pairingResponse: 7
            case .pairingConfirm, .pairingRandom, .encryptionInformation, .identityInformation,
                .signingInformation, .pairingDHKeyCheck:
                17
            case .pairingFailed, .securityRequest, .pairingKeypressNotification: 2
            case .centralIdentification: 11
            case .identityAddressInformation: 8
            case .pairingPublicKey: 65
            }
        }
    }

    case pairingRequest(PairingFeatures)
    case pairingResponse(PairingFeatures)
    case pairingConfirm([UInt8])
    case pairingRandom([UInt8])
    case pairingFailed(SMPReason)
    case encryptionInformation(SecretKey)
    case centralIdentification(ediv: UInt16, rand: UInt64)
    case identityInformation(SecretKey)
    case identityAddressInformation(DeviceAddress)
    case signingInformation(SecretKey)
    case securityRequest(AuthenticationRequirements)
    case pairingPublicKey(x: [UInt8], y: [UInt8])
    case pairingDHKeyCheck([UInt8])
    case pairingKeypressNotification(UInt8)

    /// Parses a PDU, or returns `nil` if its code is reserved, because such PDUs are ignored (3.3).
    static func decode(_ bytes: [UInt8]) throws(SMPReason) -> SMPPDU? {
        var reader = ByteReader(bytes)
        guard let first = reader.readUInt8(), let code = Code(rawValue: first) else { return nil }
        guard bytes.count == code.length else { throw .invalidParameters }
        switch code {
        case .pairingRequest: return .pairingRequest(try PairingFeatures(reading: &reader))
        case .pairingResponse: return .pairingResponse(try PairingFeatures(reading: &reader))
        case .pairingConfirm: return .pairingConfirm(reader.readRest())
        case .pairingRandom: return .pairingRandom(reader.readRest())
        case .pairingFailed: return .pairingFailed(SMPReason(rawValue: reader.readUInt8() ?? 0))
        case .encryptionInformation: return .encryptionInformation(SecretKey(fitting: reader.readRest()))
        case .centralIdentification:
            guard let ediv = reader.readUInt16(), let rand = reader.readUInt64() else {
                throw .invalidParameters
            }
            return .centralIdentification(ediv: ediv, rand: rand)
        case .identityInformation: return .identityInformation(SecretKey(fitting: reader.readRest()))
        case .identityAddressInformation:
            guard let kind = reader.readUInt8(), kind <= 1,
                let address = DeviceAddress(
                    littleEndian: reader.readRest(), kind: kind == 0 ? .public : .random),
                address.isIdentity
            else { throw .invalidParameters }
            return .identityAddressInformation(address)
        case .signingInformation: return .signingInformation(SecretKey(fitting: reader.readRest()))
        case .securityRequest:
            return .securityRequest(AuthenticationRequirements(rawValue: reader.readUInt8() ?? 0))
        case .pairingPublicKey:
            guard let x = reader.readBytes(32), let y = reader.readBytes(32) else {
                throw .invalidParameters
            }
            return .pairingPublicKey(x: x, y: y)
        case .pairingDHKeyCheck: return .pairingDHKeyCheck(reader.readRest())
        case .pairingKeypressNotification:
            guard let kind = reader.readUInt8(), kind <= 4 else { throw .invalidParameters }
            return .pairingKeypressNotification(kind)
        }
    }

    var code: Code {
        switch self {
        case .pairingRequest: .pairingRequest
        case .pairingResponse: .pairingResponse
        case .pairingConfirm: .pairingConfirm
        case .pairingRandom: .pairingRandom
        case .pairingFailed: .pairingFailed
        case .encryptionInformation: .encryptionInformation
        case .centralIdentification: .centralIdentification
        case .identityInformation: .identityInformation
        case .identityAddressInformation: .identityAddressInformation
        case .signingInformation: .signingInformation
        case .securityRequest: .securityRequest
        case .pairingPublicKey: .pairingPublicKey
        case .pairingDHKeyCheck: .pairingDHKeyCheck
        case .pairingKeypressNotification: .pairingKeypressNotification
        }
    }

    /// The bytes of the PDU.
    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: code.length)
        writer.write(code.rawValue)
        switch self {
        case .pairingRequest(let features), .pairingResponse(let features): writer.write(features.bytes)
        case .pairingConfirm(let value), .pairingRandom(let value), .pairingDHKeyCheck(let value):
            writer.write(value)
        case .pairingFailed(let reason): writer.write(reason.rawValue)
        case .encryptionInformation(let key), .identityInformation(let key), .signingInformation(let key):
            writer.write(key.bytes)
        case .centralIdentification(let ediv, let rand):
            writer.write(ediv)
            writer.write(rand)
        case .identityAddressInformation(let address):
            writer.write(address.typeByte)
            writer.write(address.littleEndianBytes)
        case .securityRequest(let requirements): writer.write(requirements.rawValue)
        case .pairingPublicKey(let x, let y):
            writer.write(x)
            writer.write(y)
        case .pairingKeypressNotification(let kind): writer.write(kind)
        }
        return writer.bytes
    }
}
