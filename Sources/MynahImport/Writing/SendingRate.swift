/// The rate of the values that a device sent by itself.
///
/// A frame is a number of values that are sent in quick succession.
struct SendingRate {
    /// The mean time between two values, in microseconds, or `nil` if there is only one value.
    private(set) var interval: Int64?
    /// The values of the first frame, or an empty list if the values did not come in frames.
    private(set) var frame: [ArraySlice<UInt8>] = []
    /// The time between the starts of two frames, in microseconds.
    private(set) var framePeriod: Int64 = 0

    /// The most values of a frame that a profile lists.
    private static let longestFrame = 32

    /// Measures the rate of values, which must be in order of time.
    init(_ values: [ImportedProfile.RecordedValue]) {
        guard let first = values.first, let last = values.last, values.count > 1 else { return }
        interval = (last.time - first.time) / Int64(values.count - 1)
        guard let starts = Self.frames(values), starts.count > 1, let final = starts.last else { return }
        let length = starts[1]
        framePeriod = (values[final].time - first.time) / Int64(starts.count - 1)
        interval = framePeriod / Int64(length)
        frame = values[..<length].map(\.value)
    }

    /// Returns the indices of the first values of frames with equally many values, or `nil` if there are
    /// none.
    ///
    /// The times between the values of a frame are short, and the times between frames are at least four
    /// times as long. The last frame may be incomplete.
    private static func frames(_ values: [ImportedProfile.RecordedValue]) -> [Int]? {
        let gaps = zip(values.dropFirst(), values).map { $0.time - $1.time }
        let sorted = gaps.sorted()
        // The largest ratio of successive sorted times separates the short times from the long ones.
        let steps = zip(sorted.dropFirst(), sorted).map { Double($0) / Double(max($1, 1000)) }
        guard let step = steps.indices.max(by: { (steps[$0], $1) < (steps[$1], $0) }), steps[step] >= 4
        else { return nil }
        let limit = sorted[step + 1]
        let starts = [0] + gaps.indices.filter { gaps[$0] >= limit }.map { $0 + 1 }
        let lengths = zip(starts.dropFirst(), starts).map { $0 - $1 }
        guard let length = lengths.first, length > 1, length <= longestFrame,
            lengths.allSatisfy({ $0 == length }), values.count - (starts.last ?? 0) <= length
        else { return nil }
        return starts
    }
}
