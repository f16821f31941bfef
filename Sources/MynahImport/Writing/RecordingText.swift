/// The lines of a recording in the order of time, as many as a profile may name.
struct RecordingText {
    /// A line with its line feed.
    struct Line {
        /// In microseconds after the subscription.
        var time: Int64
        var text: String
        /// Whether it is the first of its characteristic, which has no value without it.
        var isFirst: Bool
    }

    let text: String
    /// A note about what was left out, without a full stop, or `nil` if everything is there.
    let note: String?

    /// The lines that fit into so many bytes: the first of each characteristic, and of the others the
    /// earliest.
    init(_ lines: [Line], _ maximumSize: Int) {
        // Sorting is stable only with the place as well.
        let sorted = lines.enumerated().sorted {
            ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
        }.map(\.element)
        var room = maximumSize - lines.filter(\.isFirst).reduce(0) { $0 + $1.text.utf8.count }
        var end: Int64?
        var leftOut = 0
        text = sorted.filter { line in
            if line.isFirst { return true }
            room -= line.text.utf8.count
            if room >= 0 { return true }
            end = end ?? line.time
            leftOut += 1
            return false
        }.map(\.text).joined()
        note = end.map { end in
            """
            the recording ends after \(end / 1_000_000) s: \(leftOut) values more would make it larger than \
            \(maximumSize >> 20) MiB
            """
        }
    }
}
