package import MynahCore
import MynahSupport

extension AdvertisingReport {
    /// The properties and PHYs of the advertising set in words, or `nil` for connectable legacy advertising.
    package var kindInWords: String? {
        var words: [String] = []
        if let extended {
            let primary = extended.isPrimaryCoded ? "Coded" : "1M"
            words.append("extended on LE \(primary), data on LE \(Self.word(extended.secondaryPHY))")
        }
        if let periodic {
            let interval = periodic.interval
            let longest = interval.upperBound > interval.lowerBound ? " to \(interval.upperBound.text)" : ""
            words.append("periodic every \(interval.lowerBound.text)\(longest)")
        }
        if !isConnectable { words.append("not connectable") }
        if !isConnectable, !isScannable { words.append("not scannable") }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }

    private static func word(_ phy: AdvertisingPHY) -> String {
        switch phy {
        case .le1M: "1M"
        case .le2M: "2M"
        case .coded: "Coded"
        }
    }
}
