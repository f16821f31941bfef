package import MynahCore
import MynahSupport

/// Advertising data in words, which a screen shows beside the bytes.
package enum AirWords {
    /// The words, in the order of their use to a reader: a narrow terminal cuts the end.
    ///
    /// The bits of the services in `known` are looked for in an overflow area.
    package static func of(
        _ advertisement: AdvertisementData, among known: [BluetoothUUID], naming isNamed: Bool
    ) -> [String] {
        var words: [String] = []
        if isNamed, let name = advertisement.localName { words.append(name) }
        if !advertisement.serviceUUIDs.isEmpty {
            words.append(
                advertisement.serviceUUIDs.map { AssignedNumbers.name(of: $0) ?? $0.description }
                    .joined(separator: ", "))
        }
        for structure in advertisement.structures where isDescribed(structure) {
            let rest = structure.data.dropFirst(headerLength(structure))
            let hasBytes = OverflowArea(structure) == nil && !rest.isEmpty
            words.append(
                ADNames.describe(structure, among: known) + (hasBytes ? " " + Hex.encode(rest) : ""))
        }
        if let flags = advertisement.flags { words.append("flags " + Hex.encode([flags])) }
        if let power = advertisement.txPower { words.append("TX power \(power) dBm") }
        return words.map { PrintableText.of($0) }
    }

    /// Whether it is described as a whole: the rest has words of its own.
    private static func isDescribed(_ structure: ADStructure) -> Bool {
        switch structure.type.rawValue {
        case 0xFF, 0x16, 0x20, 0x21: true
        case 0x14, 0x15, 0x1F, 0x19: true
        default: false
        }
    }

    /// The number of bytes that the description names; the others follow it in hexadecimal.
    private static func headerLength(_ structure: ADStructure) -> Int {
        switch structure.type.rawValue {
        case 0xFF, 0x16: 2
        case 0x20: 4
        case 0x21: 16
        default: structure.data.count
        }
    }

    /// Words as one text.
    package static func joined(_ words: [String]) -> String { words.joined(separator: separator) }

    static let separator = " · "
}
