import MynahCore
import MynahSupport

/// AD structures in words.
enum ADNames {
    static func describe(_ structure: ADStructure) -> String {
        switch structure.type.rawValue {
        case 0x01: "Flags"
        case 0x02, 0x03: "16-bit service UUIDs: " + uuids(structure.data, width: 2)
        case 0x04, 0x05: "32-bit service UUIDs: " + uuids(structure.data, width: 4)
        case 0x06, 0x07: "128-bit service UUIDs: " + uuids(structure.data, width: 16)
        case 0x08: "Shortened Local Name: " + String(decoding: structure.data, as: UTF8.self)
        case 0x09: "Complete Local Name: " + String(decoding: structure.data, as: UTF8.self)
        case 0x0A: "Tx Power Level"
        case 0x14: "16-bit solicited UUIDs: " + uuids(structure.data, width: 2)
        case 0x15: "128-bit solicited UUIDs: " + uuids(structure.data, width: 16)
        case 0x1F: "32-bit solicited UUIDs: " + uuids(structure.data, width: 4)
        case 0x16, 0x20, 0x21: "Service Data"
        case 0x19: "Appearance"
        case 0xFF: "Manufacturer Specific Data"
        default: "AD type 0x" + Hex.encode([structure.type.rawValue])
        }
    }

    private static func uuids(_ bytes: [UInt8], width: Int) -> String {
        stride(from: 0, to: bytes.count, by: width).compactMap { start in
            BluetoothUUID(littleEndian: bytes[start..<min(start + width, bytes.count)])
                .map { AssignedNumbers.name(of: $0) ?? $0.description }
        }.joined(separator: ", ")
    }
}
