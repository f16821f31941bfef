import MynahCore
import MynahProfiles

/// The values of a device's advertisement that change over time.
///
/// This type has no state: the values depend only on the time since the device's start, so runs are
/// reproducible.
struct AdvertisedValues: Sendable {
    private struct Entry: Sendable {
        var value: AdvertisedValue
        var generator: any ValueGenerator

        /// Returns the number of the value at a time, counted from 0.
        func tick(at elapsed: Duration) -> Int64 { TickSchedule.number(at: elapsed, every: value.every) }
    }

    private var entries: [Entry] = []

    /// Makes an empty list of values.
    init() {}

    /// Makes the values of a profile, which depend only on `seed` and `clockStart`.
    init(_ values: [AdvertisedValue], seed: UInt64, clockStart: Int64) {
        entries = values.enumerated().map { index, value in
            let run = GeneratorRun(
                seed: ValueSeed.of(seed, "advertising[\(index)]"), interval: value.every, start: clockStart)
            return Entry(value: value, generator: value.definition.makeGenerator(for: run))
        }
    }

    /// `true` if the advertisement has no changing values.
    var isEmpty: Bool { entries.isEmpty }

    /// Writes the values for a time into an advertisement, except those that `change` replaces.
    func fill(
        _ advertisement: inout Advertisement, at elapsed: Duration, _ variables: Variables,
        after change: AdvertisingChange, firstSet: String?
    ) {
        for entry in entries {
            let isReplaced = change.sets.contains {
                ($0.set ?? firstSet) == entry.value.set && $0.replaces(entry.value)
            }
            if isReplaced { continue }
            let tick = UInt64(entry.tick(at: elapsed))
            var bytes = entry.generator.value(at: tick)
            if let reader = entry.generator as? any VariableReader, !reader.names.isEmpty,
                let read = try? reader.value(at: tick, variables)
            {
                bytes = read
            }
            entry.value.put(bytes, in: &advertisement)
        }
    }

    /// Returns the time of the next change of a value, or `nil` if no value changes.
    func next(after elapsed: Duration) -> Duration? {
        entries.map { $0.value.every * ($0.tick(at: elapsed) + 1) }.min()
    }
}
