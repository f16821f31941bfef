package import MynahCore
import MynahSupport

/// AD structures in words.
package enum ADNames {
    /// A structure in words; the bits of `known` services are looked for in an overflow area.
    package static func describe(_ structure: ADStructure, among known: [BluetoothUUID] = []) -> String {
        let data = structure.data
        if let area = OverflowArea(structure) { return describe(area, among: known) }
        return switch structure.type.rawValue {
        case 0x01: "Flags: " + flags(data)
        case 0x02, 0x03: "16-bit service UUIDs: " + uuids(data, width: 2)
        case 0x04, 0x05: "32-bit service UUIDs: " + uuids(data, width: 4)
        case 0x06, 0x07: "128-bit service UUIDs: " + uuids(data, width: 16)
        case 0x08: "Shortened Local Name: " + String(decoding: data, as: UTF8.self)
        case 0x09: "Complete Local Name: " + String(decoding: data, as: UTF8.self)
        case 0x0A: "Tx Power Level" + (data.first.map { ": \(Int8(bitPattern: $0)) dBm" } ?? "")
        case 0x14: "16-bit solicited UUIDs: " + uuids(data, width: 2)
        case 0x15: "128-bit solicited UUIDs: " + uuids(data, width: 16)
        case 0x1F: "32-bit solicited UUIDs: " + uuids(data, width: 4)
        case 0x16: "Service Data: " + uuids(Array(data.prefix(2)), width: 2)
        case 0x20: "Service Data: " + uuids(Array(data.prefix(4)), width: 4)
        case 0x21: "Service Data: " + uuids(Array(data.prefix(16)), width: 16)
        case 0x19: "Appearance: " + number(data) { AssignedNumbers.appearanceName(of: $0) }
        case 0xFF: "Manufacturer Specific Data: " + number(data) { _ in nil }
        default: "AD type 0x" + Hex.encode([structure.type.rawValue])
        }
    }

    /// The words of the bits (Core Specification Supplement, Part A, 1.3).
    private static func flags(_ data: [UInt8]) -> String {
        let names: [(UInt8, String)] = [
            (0x01, "limited discoverable"), (0x02, "general discoverable"), (0x04, "no BR/EDR"),
            (0x18, "simultaneous LE and BR/EDR"),
        ]
        let bits = data.first ?? 0
        let words = names.filter { bits & $0.0 != 0 }.map(\.1)
        return words.isEmpty ? "none set" : words.joined(separator: ", ")
    }

    private static func describe(_ area: OverflowArea, among known: [BluetoothUUID]) -> String {
        let found = known.filter { area.contains($0) }
        let bits = area.mask.reduce(0) { $0 + $1.nonzeroBitCount }
        let others = bits - Set(found.map { OverflowArea.index(of: $0) }).count
        var words = found.map { "\(name(of: $0)) (bit \(OverflowArea.index(of: $0)))" }
        if others > 0 {
            words.append("\(others)\(words.isEmpty ? "" : " more") \(others == 1 ? "bit" : "bits")")
        }
        return "Apple's overflow area: " + (words.isEmpty ? "empty" : words.joined(separator: ", "))
    }

    private static func name(of uuid: BluetoothUUID) -> String {
        AssignedNumbers.name(of: uuid) ?? uuid.description
    }

    private static func uuids(_ bytes: [UInt8], width: Int) -> String {
        stride(from: 0, to: bytes.count, by: width).compactMap { start in
            BluetoothUUID(littleEndian: bytes[start..<min(start + width, bytes.count)])
                .map { name(of: $0) }
        }.joined(separator: ", ")
    }

    /// The number in front of the data, by its name where it has one.
    private static func number(_ bytes: [UInt8], name: (UInt16) -> String?) -> String {
        var reader = ByteReader(bytes)
        guard let value = reader.readUInt16() else { return "cut off" }
        return name(value) ?? "0x" + Hex.encode(bytes.prefix(2).reversed())
    }
}
