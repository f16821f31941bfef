/// Finds the time between events that come regularly.
enum UsualTime {
    /// Returns the usual time between two events, or `nil` if there is none.
    ///
    /// A pause, a missed event or a clock that was set does not change the result, as long as most of the
    /// times are alike. If they are not, the result is the mean without times that are far longer than the
    /// others.
    static func between(_ gaps: [Int64]) -> Int64? {
        guard !gaps.isEmpty else { return nil }
        let sorted = gaps.sorted()
        let median = sorted[(sorted.count - 1) / 2]
        let near = sorted.filter { $0 >= median / 2 && $0 <= median * 2 }
        if median > 0, near.count * 4 >= sorted.count * 3 { return mean(near) }
        let trimmed = mean(Array(sorted.dropLast(max(1, sorted.count / 20)))) ?? 0
        let kept =
            trimmed > 0 ? sorted.filter { $0 <= trimmed.multipliedReportingOverflow(by: 5).partialValue } : []
        return mean(kept.isEmpty ? sorted : kept)
    }

    private static func mean(_ times: [Int64]) -> Int64? {
        guard !times.isEmpty else { return nil }
        return times.reduce(0, &+) / Int64(times.count)
    }
}
