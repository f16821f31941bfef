package import MynahCore
import MynahSupport
import MynahValues

/// AD structures in words.
package enum ADNames {
    /// A structure in words; the bits of `known` services are looked for in an overflow area.
    package static func describe(_ structure: ADStructure, among known: [BluetoothUUID] = []) -> String {
        let data = structure.data
        if let area = OverflowArea(structure) { return describe(area, among: known) }
        if let info = NearbyInfo(structure) { return "Apple's Nearby Info: " + Hex.encode(info.bytes) }
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
        case 0x12: "Peripheral Connection Interval Range: " + intervals(data)
        case 0x16: "Service Data: " + serviceData(data, width: 2)
        case 0x20: "Service Data: " + serviceData(data, width: 4)
        case 0x21: "Service Data: " + serviceData(data, width: 16)
        case 0x19: "Appearance: " + number(data) { AssignedNumbers.appearanceName(of: $0) }
        case 0x1A: "Advertising Interval: " + advertisingInterval(data)
        case 0x24: "URI" + (data.isEmpty ? "" : ": " + uri(data))
        case 0xFF: "Manufacturer Specific Data: " + company(data)
        default: "AD type 0x" + Hex.encode([structure.type.rawValue])
        }
    }

    /// The words of the bits (Core Specification Supplement, Part A, 1.3).
    static func flags(_ data: [UInt8]) -> String {
        let names: [(UInt8, String)] = [
            (0x01, "limited discoverable"), (0x02, "general discoverable"), (0x04, "no BR/EDR"),
            (0x18, "simultaneous LE and BR/EDR"),
        ]
        let bits = data.first ?? 0
        let words = names.filter { bits & $0.0 != 0 }.map(\.1)
        return words.isEmpty ? "none set" : words.joined(separator: ", ")
    }

    /// The service, and the fields of its data if the SIG defines a layout; bits that are not set are left
    /// out.
    private static func serviceData(_ data: [UInt8], width: Int) -> String {
        guard data.count >= width, let service = BluetoothUUID(littleEndian: data[..<width]) else {
            return "cut off"
        }
        let fields = KnownLayouts.serviceData(of: service)?.decode(Array(data[width...])) ?? []
        let words = FieldsText.of(fields.filter { $0.value != .boolean(false) })
        return name(of: service) + (words.isEmpty ? "" : ": " + words)
    }

    /// The company's name, if it is known, and its identifier.
    private static func company(_ data: [UInt8]) -> String {
        var reader = ByteReader(data)
        guard let number = reader.readUInt16() else { return "cut off" }
        let identifier = "0x" + Hex.encode(data.prefix(2).reversed())
        return AssignedNumbers.companyName(of: number).map { "\($0) (\(identifier))" } ?? identifier
    }

    /// Two times in units of 1.25 ms; 0xFFFF means no specific value (1.9).
    private static func intervals(_ data: [UInt8]) -> String {
        var reader = ByteReader(data)
        guard let least = reader.readUInt16(), let most = reader.readUInt16() else { return "cut off" }
        return [least, most].map { $0 == 0xFFFF ? "any" : NumberText.of(Double($0) * 1.25) + " ms" }
            .joined(separator: " to ")
    }

    /// A time in units of 0.625 ms (1.15).
    private static func advertisingInterval(_ data: [UInt8]) -> String {
        var reader = ByteReader(data)
        return reader.readUInt16().map { NumberText.of(Double($0) * 0.625) + " ms" } ?? "cut off"
    }

    /// A code for the scheme, and the rest as it is (1.18).
    private static func uri(_ data: [UInt8]) -> String {
        let schemes: [UInt8: String] = [0x16: "http:", 0x17: "https:"]
        guard let scheme = schemes[data[0]] else { return String(decoding: data, as: UTF8.self) }
        return scheme + String(decoding: data.dropFirst(), as: UTF8.self)
    }

    private static func describe(_ area: OverflowArea, among known: [BluetoothUUID]) -> String {
        let found = known.filter { area.contains($0) }
        let bits = area.mask.reduce(0) { $0 + $1.nonzeroBitCount }
        let others = bits - Set(found.map { OverflowArea.index(of: $0) }).count
        var words = found.map { "\(name(of: $0)) (bit \(OverflowArea.index(of: $0)))" }
        if others > 0 {
            words.append(others.counting(words.isEmpty ? "bit" : "more bit"))
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
