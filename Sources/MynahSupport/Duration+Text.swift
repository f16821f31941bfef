extension Duration {
    /// The units of time by name, each with its length in nanoseconds, the shortest first.
    package static let namedUnits: [(name: String, nanoseconds: Int64)] = [
        ("us", 1000), ("ms", 1_000_000), ("s", 1_000_000_000), ("min", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ]

    /// The shortest text for the duration, such as `100 ms`, `2 min` or `7.5 ms`.
    package var text: String {
        let (seconds, attoseconds) = components
        let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !isTooLong else { return "\(seconds) s" }
        let nanoseconds = whole &+ attoseconds / 1_000_000_000
        for unit in Self.namedUnits.reversed() where nanoseconds != 0 && nanoseconds % unit.nanoseconds == 0 {
            // Intervals of Bluetooth are multiples of 0.625 ms.
            if unit.name == "us", abs(nanoseconds) > 1_000_000 { break }
            return "\(nanoseconds / unit.nanoseconds) \(unit.name)"
        }
        var decimals = String(1_000_000 + abs(nanoseconds % 1_000_000)).dropFirst()
        while decimals.last == "0" { decimals.removeLast() }
        return nanoseconds == 0 ? "0 s" : "\(nanoseconds / 1_000_000).\(decimals) ms"
    }
}
