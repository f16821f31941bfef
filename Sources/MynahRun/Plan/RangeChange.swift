/// A change of a device's distance, planned with `--at`.
package enum RangeChange: Hashable, Sendable {
    /// The device and all other devices no longer receive each other.
    case outOfRange
    /// The device is again at its previous distance.
    case inRange
    /// The device is at this distance.
    case distance(metres: Double)

    /// The words for the changes, for messages.
    package static let words = ["outOfRange", "inRange", "distance 5 m"]

    /// The largest accepted distance, in metres.
    private static let farthest = 1_000_000.0

    /// Parses a change; the result is `nil` for any other text.
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
