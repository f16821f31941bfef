package import MynahCore
import MynahSupport
import MynahValues

/// Describes advertising data in words.
package enum AirWords {
    /// The words for each part of the data, the most useful first, because a narrow terminal cuts the end.
    ///
    /// `known` are the services that can be recognized in an overflow area. With `isNamed`, the local name is
    /// the first part.
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
            let rest = ADNames.bytesWithoutWords(of: structure)
            words.append(
                ADNames.describe(structure, among: known) + (rest.isEmpty ? "" : " " + Hex.encode(rest)))
        }
        if let power = advertisement.txPower { words.append("TX power \(power) dBm") }
        if let flags = advertisement.flags {
            words.append("flags \(Hex.encode([flags])): \(ADNames.flags([flags]))")
        }
        return words.map { PrintableText.of($0) }
    }

    /// Whether the words for a structure are made from all of its bytes.
    ///
    /// Service UUIDs, names, flags and the TX power have words of their own.
    private static func isDescribed(_ structure: ADStructure) -> Bool {
        !(0x01...0x0A).contains(structure.type.rawValue)
    }

    /// Joins words to one text.
    package static func joined(_ words: [String]) -> String { words.joined(separator: separator) }

    static let separator = " · "
}
