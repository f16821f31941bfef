import MynahCore
import MynahProfiles
import MynahValues

/// The values of a device's advertisement that change over time.
///
/// The values depend only on the time since the device's start, so runs are reproducible.
struct AdvertisedValues: Sendable {
    private struct Entry: Sendable {
        var value: AdvertisedValue
        var generator: any ValueGenerator
        /// The last bytes that fitted, or `nil` if none were needed yet.
        var last: [UInt8]?
        /// `true` after it was reported that the current value does not fit.
        var isReported = false

        /// Returns the index of the value that is advertised at a time.
        func tick(at elapsed: Duration) -> Int64 { TickSchedule.number(at: elapsed, every: value.every) }

        /// The bytes at a time; throws if a variable does not fit its field.
        func bytes(at elapsed: Duration, _ variables: Variables) throws(LayoutProblem) -> [UInt8] {
            let tick = UInt64(tick(at: elapsed))
            guard let reader = generator as? any VariableReader, !reader.names.isEmpty else {
                return generator.value(at: tick)
            }
            return try reader.value(at: tick, variables)
        }
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

    /// Forgets the last bytes; called when the device starts.
    mutating func begin() {
        for index in entries.indices { (entries[index].last, entries[index].isReported) = (nil, false) }
    }

    /// Puts the values at this time into the advertisement, except into fields that `change` replaces.
    ///
    /// A value that does not fit its field, or for which there is no room, keeps its last bytes. Returns a
    /// message for each value that begins to keep its last bytes.
    mutating func fill(
        _ advertisement: inout Advertisement, at elapsed: Duration, _ variables: Variables,
        after change: AdvertisingChange, firstSet: String?
    ) -> [String] {
        var messages: [String] = []
        for index in entries.indices {
            let entry = entries[index]
            let isReplaced = change.sets.contains {
                ($0.set ?? firstSet) == entry.value.set && $0.replaces(entry.value)
            }
            if isReplaced { continue }
            do throws(LayoutProblem) {
                let bytes = try entry.bytes(at: elapsed, variables)
                advertisement = try Self.filled(advertisement, with: bytes, entry.value)
                (entries[index].last, entries[index].isReported) = (bytes, false)
            } catch {
                if !entry.isReported {
                    let field = "\(entry.value.location): \(entry.value.fieldWords)"
                    messages.append("\(field) keeps its last value: \(error.message)")
                }
                entries[index].isReported = true
                let tick = UInt64(entry.tick(at: elapsed))
                entry.value.put(entry.last ?? entry.generator.value(at: tick), in: &advertisement)
            }
        }
        return messages
    }

    private static func filled(
        _ advertisement: Advertisement, with bytes: [UInt8], _ value: AdvertisedValue
    ) throws(LayoutProblem) -> Advertisement {
        var filled = advertisement
        value.put(bytes, in: &filled)
        guard let set = filled.sets.first(where: { $0.name == value.set }) else { return filled }
        do throws(AdvertisementError) {
            _ = try AccessoryAdvertising.compose(set)
        } catch {
            throw LayoutProblem(nil, "\(error)")
        }
        return filled
    }

    /// Returns the time of the next change of a value, or `nil` if no value changes.
    func next(after elapsed: Duration) -> Duration? {
        entries.map { $0.value.every * ($0.tick(at: elapsed) + 1) }.min()
    }
}
