/// A change of a device's distance, planned by `--at`.
package enum RangeChange: Hashable, Sendable {
    /// The device and all others do not receive each other.
    case outOfRange
    /// The device is at its previous distance again.
    case inRange
    /// The device is at this distance.
    case distance(metres: Double)

    /// The words for the changes.
    package static let words = ["outOfRange", "inRange", "distance 5 m"]

    /// The largest distance that is accepted, in metres.
    private static let farthest = 1_000_000.0

    /// Parses a word; `nil` if the text is not one of the words.
    package init?(_ text: String) {
        let words = text.split(separator: " ")
        switch words.first {
        case "outOfRange" where words.count == 1: self = .outOfRange
        case "inRange" where words.count == 1: self = .inRange
        case "distance":
            let rest = words.dropFirst().joined()
            guard rest.hasSuffix("m"), let metres = Double(rest.dropLast()), metres > 0,
                metres <= Self.farthest
            else { return nil }
            self = .distance(metres: metres)
        default: return nil
        }
    }
}
