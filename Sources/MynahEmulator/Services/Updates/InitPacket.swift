import MynahSupport

/// The init packet of a secure DFU, which describes the firmware (Nordic, `dfu-cc.proto`).
///
/// The packet is encoded with Protocol Buffers.
struct InitPacket: Hashable, Sendable {
    enum FirmwareType {
        static let application: UInt64 = 0
        static let softDevice: UInt64 = 1
        static let bootloader: UInt64 = 2
        static let softDeviceAndBootloader: UInt64 = 3
    }

    /// The error for bytes that are not a valid Protocol Buffers message.
    struct Malformed: Error {}

    /// `true` if the packet has a signature.
    var isSigned = false
    var signatureType: UInt64 = 0
    /// The code of the command; 1 is an init command.
    var code: UInt64 = 0
    /// Whether the packet has an init command.
    var hasInit = false
    var version: UInt64?
    var hardware: UInt64?
    var type = FirmwareType.application
    var softDeviceLength: UInt64 = 0
    var bootloaderLength: UInt64 = 0
    var applicationLength: UInt64 = 0
    var hashType: UInt64 = 0
    /// The SHA-256 of the firmware, in reverse byte order.
    var hash: [UInt8] = []

    init(_ bytes: [UInt8]) throws(Malformed) {
        for field in try ProtocolBuffer.fields(of: bytes) {
            switch (field.number, field.value) {
            case (1, .bytes(let command)): try read(command: command)
            case (2, .bytes(let signed)):
                isSigned = true
                for field in try ProtocolBuffer.fields(of: signed) {
                    switch (field.number, field.value) {
                    case (1, .bytes(let command)): try read(command: command)
                    case (2, .number(let type)): signatureType = type
                    default: break
                    }
                }
            default: break
            }
        }
    }

    private mutating func read(command: [UInt8]) throws(Malformed) {
        for field in try ProtocolBuffer.fields(of: command) {
            switch (field.number, field.value) {
            case (1, .number(let code)): self.code = code
            case (2, .bytes(let bytes)):
                hasInit = true
                try read(initialization: bytes)
            default: break
            }
        }
    }

    private mutating func read(initialization bytes: [UInt8]) throws(Malformed) {
        for field in try ProtocolBuffer.fields(of: bytes) {
            switch (field.number, field.value) {
            case (1, .number(let number)): version = number
            case (2, .number(let number)): hardware = number
            case (4, .number(let number)): type = number
            case (5, .number(let number)): softDeviceLength = number
            case (6, .number(let number)): bootloaderLength = number
            case (7, .number(let number)): applicationLength = number
            case (8, .bytes(let bytes)): try read(hash: bytes)
            default: break
            }
        }
    }

    private mutating func read(hash bytes: [UInt8]) throws(Malformed) {
        for field in try ProtocolBuffer.fields(of: bytes) {
            switch (field.number, field.value) {
            case (1, .number(let number)): hashType = number
            case (2, .bytes(let bytes)): hash = bytes
            default: break
            }
        }
    }

    /// The longest accepted length; lengths in secure DFU have 32 bits.
    private static let longest = UInt64(UInt32.max)

    /// The length of the firmware in bytes, or 0 if the packet has no length for its firmware type.
    var length: UInt64 {
        switch type {
        case FirmwareType.application: applicationLength
        case FirmwareType.softDevice: softDeviceLength
        case FirmwareType.bootloader: bootloaderLength
        case FirmwareType.softDeviceAndBootloader:
            min(softDeviceLength, Self.longest) + min(bootloaderLength, Self.longest)
        default: 0
        }
    }
}

/// A reader of the fields in a Protocol Buffers message.
private enum ProtocolBuffer {
    enum Value {
        case number(UInt64)
        case bytes([UInt8])
    }

    static func fields(
        of bytes: [UInt8]
    ) throws(InitPacket.Malformed) -> [(number: UInt64, value: Value)] {
        var reader = ByteReader(bytes)
        var fields: [(number: UInt64, value: Value)] = []
        while !reader.isAtEnd {
            let key = try number(&reader)
            guard let value = try value(ofType: key & 7, &reader) else { throw InitPacket.Malformed() }
            fields.append((key >> 3, value))
        }
        return fields
    }

    private static func value(
        ofType type: UInt64, _ reader: inout ByteReader
    ) throws(InitPacket.Malformed) -> Value? {
        switch type {
        case 0: .number(try number(&reader))
        case 1: reader.readUInt64().map { .number($0) }
        case 2: reader.readBytes(Int(clamping: try number(&reader))).map { .bytes($0) }
        case 5: reader.readUInt32().map { .number(UInt64($0)) }
        default: nil
        }
    }

    /// Reads a varint, which has seven bits in each byte, lowest first.
    private static func number(_ reader: inout ByteReader) throws(InitPacket.Malformed) -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = reader.readUInt8() else { throw InitPacket.Malformed() }
            number |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return number }
        }
        throw InitPacket.Malformed()
    }
}
