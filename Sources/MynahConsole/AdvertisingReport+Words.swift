package import MynahCore

extension AdvertisingReport {
    /// What centrals and scanners can do with the set, and its PHYs; `nil` if it is usual: legacy advertising
    /// that centrals can connect to.
    package var kindInWords: String? {
        var words: [String] = []
        if let extended {
            let primary = extended.isPrimaryCoded ? "Coded" : "1M"
            words.append("extended on LE \(primary), data on LE \(Self.word(extended.secondaryPHY))")
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
