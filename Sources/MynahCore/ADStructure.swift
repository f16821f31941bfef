import MynahSupport

/// The type of an AD structure (Assigned Numbers, 2.3).
public struct ADType: Hashable, Sendable {
    /// The number on the air.
    public let rawValue: UInt8

    /// Makes the type with this number.
    public init(_ rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Flags (0x01).
    public static let flags = ADType(0x01)
    /// Shortened Local Name (0x08).
    public static let shortenedLocalName = ADType(0x08)
    /// Complete Local Name (0x09).
    public static let completeLocalName = ADType(0x09)
    /// Tx Power Level, in dBm (0x0A).
    public static let txPowerLevel = ADType(0x0A)
    /// Appearance (0x19).
    public static let appearance = ADType(0x19)
    /// Manufacturer Specific Data, which begins with the company identifier (0xFF).
    public static let manufacturerSpecificData = ADType(0xFF)

    /// Returns the type for a list of service UUIDs of one width (0x02 to 0x07).
    public static func serviceUUIDs(_ width: BluetoothUUID.Width, isComplete: Bool) -> ADType {
        let incomplete: UInt8 =
            switch width {
            case .bits16: 0x02
            case .bits32: 0x04
            case .bits128: 0x06
            }
        return ADType(isComplete ? incomplete + 1 : incomplete)
    }

    /// Returns the type for a list of solicited service UUIDs of one width (0x14, 0x1F, 0x15).
    public static func solicitedServiceUUIDs(_ width: BluetoothUUID.Width) -> ADType {
        switch width {
        case .bits16: ADType(0x14)
        case .bits32: ADType(0x1F)
        case .bits128: ADType(0x15)
        }
    }

    /// Returns the type for service data with a UUID of one width (0x16, 0x20, 0x21).
    public static func serviceData(_ width: BluetoothUUID.Width) -> ADType {
        switch width {
        case .bits16: ADType(0x16)
        case .bits32: ADType(0x20)
        case .bits128: ADType(0x21)
        }
    }
}

/// One entry of advertising data: length, type, data (Core Specification, Vol 3, Part C, 11).
public struct ADStructure: Hashable, Sendable {
    /// The type, which determines the format of the data.
    public var type: ADType
    /// The data after the type, at most 254 bytes.
    public var data: [UInt8]

    /// The most bytes of data that the length of a structure can express.
    package static let longestData = 254

    /// Makes a structure with this type and data.
    public init(type: ADType, data: [UInt8]) {
        self.type = type
        self.data = data
    }

    /// The length of the structure on the air, in bytes: the data and two bytes of header.
    package var byteCount: Int { data.count + 2 }
}

extension [ADStructure] {
    /// The total length of the structures on the air, in bytes.
    package var byteCount: Int { reduce(0) { $0 + $1.byteCount } }

    /// The bytes on the air, in order.
    ///
    /// Traps if a structure has more than 254 bytes of data, so the caller must check the lengths first.
    package var bytes: [UInt8] {
        var writer = ByteWriter(capacity: byteCount)
        for structure in self {
            writer.write(UInt8(structure.data.count + 1))
            writer.write(structure.type.rawValue)
            writer.write(structure.data)
        }
        return writer.bytes
    }

    /// Parses advertising data.
    ///
    /// A length of zero ends the data early, as the specification requires. A structure that is longer than
    /// the remaining data is left out. `rest` is the number of bytes after the last complete structure.
    package static func decode(_ bytes: [UInt8]) -> (structures: [ADStructure], rest: Int) {
        var reader = ByteReader(bytes)
        var structures: [ADStructure] = []
        while let length = reader.readUInt8(), length > 0 {
            let behind = reader.remaining
            guard let type = reader.readUInt8(), let data = reader.readBytes(Int(length) - 1) else {
                return (structures, behind + 1)
            }
            structures.append(ADStructure(type: ADType(type), data: data))
        }
        return (structures, 0)
    }
}
