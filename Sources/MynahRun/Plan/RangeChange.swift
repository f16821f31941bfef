/// A change of a device's range or distance, as `--at` plans it.
package enum RangeChange: Hashable, Sendable {
    /// The device neither hears other devices nor is heard.
    case outOfRange
    /// The device is back at its previous distance.
    case inRange
    /// The device is at this distance.
    case distance(metres: Double)

    /// The words for all of them.
    package static let words = ["outOfRange", "inRange", "distance 5 m"]

    /// The largest accepted distance, in metres.
    private static let farthest = 1_000_000.0

    /// Reads one of the words; `nil` if the text is none of them.
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
