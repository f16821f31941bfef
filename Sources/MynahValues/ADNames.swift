package import MynahCore
import MynahSupport

/// Describes AD structures in words.
package struct ADNames {
    /// The services whose bits are looked up in an iPhone's overflow area (`OverflowArea`).
    private let known: [BluetoothUUID]
    /// Returns the name of a service, or `nil` if it has none.
    private let serviceName: (BluetoothUUID) -> String?

    /// Sets the services to look up in overflow areas, and the function that returns a service's name.
    ///
    /// A service's name is a text such as `heart-rate`.
    package init(
        among known: [BluetoothUUID] = [],
        serviceName: @escaping (BluetoothUUID) -> String? = AssignedNumbers.name(of:)
    ) {
        self.known = known
        self.serviceName = serviceName
    }

    /// Describes a structure in words.
    ///
    /// The description of an iPhone's overflow area lists the services of `known` whose bits are set.
    package static func describe(_ structure: ADStructure, among known: [BluetoothUUID] = []) -> String {
        let (name, text) = ADNames(among: known).words(of: structure)
        return text.isEmpty ? name : "\(name): \(text)"
    }

    /// Returns the name of a structure's type, and the description of its data.
    ///
    /// The description leaves out bytes that have no meaning known here; `bytesWithoutWords` returns them.
    package func words(of structure: ADStructure) -> (name: String, text: String) {
        let data = structure.data
        if let area = OverflowArea(structure) { return ("Apple's overflow area", words(of: area)) }
        if let info = NearbyInfo(structure) { return ("Apple's Nearby Info", Hex.encode(info.bytes)) }
        return switch structure.type.rawValue {
        case 0x01: ("Flags", Self.flags(data))
        case 0x02, 0x03: ("16-bit service UUIDs", uuids(data, width: 2))
        case 0x04, 0x05: ("32-bit service UUIDs", uuids(data, width: 4))
        case 0x06, 0x07: ("128-bit service UUIDs", uuids(data, width: 16))
        case 0x08: ("Shortened Local Name", String(decoding: data, as: UTF8.self))
        case 0x09: ("Complete Local Name", String(decoding: data, as: UTF8.self))
        case 0x0A: ("Tx Power Level", data.first.map { "\(Int8(bitPattern: $0)) dBm" } ?? "")
        case 0x14: ("16-bit solicited UUIDs", uuids(data, width: 2))
        case 0x15: ("128-bit solicited UUIDs", uuids(data, width: 16))
        case 0x1F: ("32-bit solicited UUIDs", uuids(data, width: 4))
        case 0x12: ("Peripheral Connection Interval Range", Self.intervals(data))
        case 0x16: ("Service Data", serviceData(data, width: 2))
        case 0x20: ("Service Data", serviceData(data, width: 4))
        case 0x21: ("Service Data", serviceData(data, width: 16))
        case 0x19: ("Appearance", Self.number(data) { AssignedNumbers.appearanceName(of: $0) })
        case 0x1A: ("Advertising Interval", Self.advertisingInterval(data))
        case 0x24: ("URI", data.isEmpty ? "" : Self.uri(data))
        case 0xFF: ("Manufacturer Specific Data", Self.company(data))
        default: ("AD type 0x" + Hex.encode([structure.type.rawValue]), "")
        }
    }

    /// Returns the bytes of a structure that the description by `words` leaves out.
    package static func bytesWithoutWords(of structure: ADStructure) -> [UInt8] {
        guard OverflowArea(structure) == nil, NearbyInfo(structure) == nil else { return [] }
        return switch structure.type.rawValue {
        case 0xFF, 0x16: Array(structure.data.dropFirst(2))
        case 0x20: Array(structure.data.dropFirst(4))
        case 0x21: Array(structure.data.dropFirst(16))
        case 0x01...0x0A, 0x12, 0x14, 0x15, 0x19, 0x1A, 0x1F, 0x24: []
        default: structure.data
        }
    }

    /// The Flags in words (Core Specification Supplement, Part A, 1.3).
    package static func flags(_ data: [UInt8]) -> String {
        let names: [(UInt8, String)] = [
            (0x01, "limited discoverable"), (0x02, "general discoverable"), (0x04, "no BR/EDR"),
            (0x18, "simultaneous LE and BR/EDR"),
        ]
        let bits = data.first ?? 0
        let words = names.filter { bits & $0.0 != 0 }.map(\.1)
        return words.isEmpty ? "none set" : words.joined(separator: ", ")
    }

    /// Describes Service Data: the service, and the fields of its data if their layout is known.
    ///
    /// Booleans that are `false` are left out.
    private func serviceData(_ data: [UInt8], width: Int) -> String {
        guard data.count >= width, let service = BluetoothUUID(littleEndian: data[..<width]) else {
            return "cut off"
        }
        let fields = KnownLayouts.serviceData(of: service)?.decode(Array(data[width...])) ?? []
        let words = FieldsText.of(fields.filter { $0.value != .boolean(false) })
        return name(of: service) + (words.isEmpty ? "" : ": " + words)
    }

    /// Returns the company of Manufacturer Specific Data: its name, if that is known, and its identifier.
    private static func company(_ data: [UInt8]) -> String {
        var reader = ByteReader(data)
        guard let number = reader.readUInt16() else { return "cut off" }
        let identifier = "0x" + Hex.encode(data.prefix(2).reversed())
        return AssignedNumbers.companyName(of: number).map { "\($0) (\(identifier))" } ?? identifier
    }

    /// Describes a Peripheral Connection Interval Range (Core Specification Supplement, Part A, 1.9).
    ///
    /// The data is two numbers in units of 1.25 ms, and 0xFFFF means any interval.
    private static func intervals(_ data: [UInt8]) -> String {
        var reader = ByteReader(data)
        guard let least = reader.readUInt16(), let most = reader.readUInt16() else { return "cut off" }
        return [least, most].map { $0 == 0xFFFF ? "any" : NumberText.of(Double($0) * 1.25) + " ms" }
            .joined(separator: " to ")
    }

    /// Describes an Advertising Interval, which is in units of 0.625 ms (Core Specification Supplement, Part
    /// A, 1.15).
    private static func advertisingInterval(_ data: [UInt8]) -> String {
        var reader = ByteReader(data)
        return reader.readUInt16().map { NumberText.of(Double($0) * 0.625) + " ms" } ?? "cut off"
    }

    /// Returns a URI, whose first byte can be a code for its scheme (Core Specification Supplement, Part A,
    /// 1.18).
    private static func uri(_ data: [UInt8]) -> String {
        let schemes: [UInt8: String] = [0x16: "http:", 0x17: "https:"]
        guard let scheme = schemes[data[0]] else { return String(decoding: data, as: UTF8.self) }
        return scheme + String(decoding: data.dropFirst(), as: UTF8.self)
    }

    private func words(of area: OverflowArea) -> String {
        let found = known.filter { area.contains($0) }
        let bits = area.mask.reduce(0) { $0 + $1.nonzeroBitCount }
        let others = bits - Set(found.map { OverflowArea.index(of: $0) }).count
        var words = found.map { "\(name(of: $0)) (bit \(OverflowArea.index(of: $0)))" }
        if others > 0 {
            words.append(others.counting(words.isEmpty ? "bit" : "more bit"))
        }
        return words.isEmpty ? "empty" : words.joined(separator: ", ")
    }

    private func name(of uuid: BluetoothUUID) -> String {
        serviceName(uuid) ?? uuid.description
    }

    private func uuids(_ bytes: [UInt8], width: Int) -> String {
        stride(from: 0, to: bytes.count, by: width).compactMap { start in
            BluetoothUUID(littleEndian: bytes[start..<min(start + width, bytes.count)])
                .map { name(of: $0) }
        }.joined(separator: ", ")
    }

    /// Returns the name of the 16-bit number at the beginning of the data, or the number if it has no name.
    private static func number(_ bytes: [UInt8], name: (UInt16) -> String?) -> String {
        var reader = ByteReader(bytes)
        guard let value = reader.readUInt16() else { return "cut off" }
        return name(value) ?? "0x" + Hex.encode(bytes.prefix(2).reversed())
    }
}
