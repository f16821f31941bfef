import MynahCore
import MynahProfiles

/// The values of a device's advertisement that change over time.
///
/// This type has no state: the values follow from the time since the device began, so that a run can be
/// repeated.
struct AdvertisedValues: Sendable {
    private struct Entry: Sendable {
        var value: AdvertisedValue
        var generator: any ValueGenerator

        /// The number of the value at a time, counted from 0.
        func tick(at elapsed: Duration) -> Int64 { TickSchedule.number(at: elapsed, every: value.every) }
    }

    private var entries: [Entry] = []

    /// No values.
    init() {}

    /// Makes the values of a profile; with the same `seed`, generated values are reproducible.
    init(_ values: [AdvertisedValue], seed: UInt64, clockStart: Int64) {
        entries = values.enumerated().map { index, value in
            let run = GeneratorRun(
                seed: ValueSeed.of(seed, "advertising[\(index)]"), interval: value.every, start: clockStart)
            return Entry(value: value, generator: value.definition.makeGenerator(for: run))
        }
    }

    /// Whether no value changes.
    var isEmpty: Bool { entries.isEmpty }

    /// Puts the values of this time in their places, except where a change has other bytes.
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

    /// The time of the next change of a value, or `nil` if there is none.
    func next(after elapsed: Duration) -> Duration? {
        entries.map { $0.value.every * ($0.tick(at: elapsed) + 1) }.min()
    }
}
