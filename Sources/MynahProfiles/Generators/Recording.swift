import MynahCore
import MynahSupport

/// Values that a device sent, with their times since a central had subscribed.
///
/// The recording is repeated; the pause after the last value is the mean time between two values.
package struct RecordedValues: Hashable, Sendable {
    private var times: [Duration]
    private var values: [[UInt8]]
    /// The time after which the recording repeats, or `nil` if it has only one value.
    private var period: Duration?
    /// The value until the first recorded value is sent, or `nil` to use the first recorded value.
    private var initial: [UInt8]?

    /// Makes a recording of lines, which must be sorted by time; returns `nil` if there are none.
    init?(_ lines: [RecordedLine], initial: [UInt8]? = nil) {
        self.initial = initial
        guard let first = lines.first, let last = lines.last else { return nil }
        times = lines.map(\.time)
        values = lines.map(\.value)
        guard lines.count > 1 else { return }
        let mean = (last.time - first.time) / (lines.count - 1)
        // A recording has at most one value a millisecond on average, like every generator.
        period = max(last.time + mean, .milliseconds(lines.count))
    }

    /// The length of the longest value, in bytes.
    var maximumLength: Int { values.map(\.count).max() ?? 0 }

    /// Returns the time from the subscription to a tick, or `nil` if there is no such tick.
    ///
    /// Ticks are counted from 1.
    package func due(_ tick: Int64) -> Duration? {
        guard tick > 0 else { return nil }
        let (round, place) = (tick - 1).quotientAndRemainder(dividingBy: Int64(times.count))
        guard round > 0 else { return times[Int(place)] }
        guard let period, round < Self.lastRound else { return nil }
        return period * Int(round) + times[Int(place)]
    }

    /// An upper limit for the number of repetitions, which no run reaches.
    private static let lastRound: Int64 = 1 << 31

    /// Returns the value of a tick.
    func value(of tick: UInt64) -> [UInt8] {
        if tick == 0, let initial { return initial }
        return values[Int((tick == 0 ? 0 : tick - 1) % UInt64(values.count))]
    }
}

/// A line of a recording.
struct RecordedLine: Hashable, Sendable {
    var time: Duration
    /// The name of the characteristic, such as `180D/2A37`.
    var path: String
    var value: [UInt8]

    /// Parses the lines of a file; throws the first problem.
    ///
    /// The problem is a sentence about the file without its full stop.
    static func lines(of bytes: [UInt8]) throws(CSVColumn.Problem) -> [RecordedLine] {
        var lines: [RecordedLine] = []
        for (index, text) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            guard text.contains(where: { ![0x20, 0x09, 0x0D].contains($0) }) else { continue }
            let json: JSON
            do throws(JSON.ParseError) {
                json = try JSON(parsing: Array(text))
            } catch {
                throw CSVColumn.Problem(message: "is not JSON in line \(index + 1): \(error.message)")
            }
            guard let line = RecordedLine(json) else {
                throw CSVColumn.Problem(
                    message: """
                        has no value in line \(index + 1); write {"at": 1.5, "service": "180D", \
                        "characteristic": "2A37", "value": "0048"}
                        """)
            }
            guard lines.last.map({ $0.time <= line.time }) ?? true else {
                throw CSVColumn.Problem(message: "goes back in time in line \(index + 1)")
            }
            lines.append(line)
        }
        return lines
    }

    private init?(_ json: JSON) {
        let seconds: Double
        switch json["at"] {
        case .integer(let whole)?: seconds = Double(whole)
        case .number(let number)?: seconds = number
        default: return nil
        }
        guard seconds >= 0, seconds <= 31_622_400, let text = json["value"]?.stringValue,
            let value = Hex.decode(text),
            let service = json["service"]?.stringValue,
            let characteristic = json["characteristic"]?.stringValue
        else { return nil }
        time = .microseconds(Int64((seconds * 1_000_000).rounded()))
        path = (json["path"]?.stringValue ?? "\(service)/\(characteristic)").uppercased()
        self.value = value
    }
}

/// `generate: recorded`: the values in a file, which are sent at the recorded times.
package struct RecordedDefinition: GeneratorDefinition {
    package static let name = "recorded"

    /// The file's name in the profile.
    var file: String
    /// The value until the first recorded value is sent, or `nil` to use the first recorded value.
    var initial: [UInt8]?
    /// All lines of the file, before those of the characteristic are selected.
    var lines: [RecordedLine]
    /// The values of the characteristic, or `nil` until the names of the attributes are known.
    package internal(set) var values: RecordedValues?

    package var maximumLength: Int { max(values?.maximumLength ?? 0, initial?.count ?? 0) }

    package func makeGenerator(for run: GeneratorRun) -> any ValueGenerator { Generator(values: values) }

    private struct Generator: ValueGenerator {
        let values: RecordedValues?

        func value(at tick: UInt64) -> [UInt8] { values?.value(of: tick) ?? [] }
    }
}

extension RecordedDefinition: DeclaredGenerator {
    private static let file = Field(
        "file", .text, missing: "generate: recorded needs file",
        doc: "A recording by `mynah import`, from the profile's folder; up to 16 MiB.")
    private static let initial = Field(
        "initial", .bytes, doc: "The value before the first is sent; left out: the first value.")
    static let table = Section(
        "recorded", what: "generate: recorded", [ValueSection.generate(name), file, initial])

    static func read(_ fields: Fields, _ reader: FormatReader) -> RecordedDefinition? {
        guard let node = fields[file], let file = fields.read(file) else { return nil }
        let initial = fields.read(initial)
        if fields[Self.initial] != nil, initial == nil { return nil }
        return reader.contents(of: file, at: node) { files throws(CSVColumn.Problem) in
            RecordedDefinition(file: file, initial: initial, lines: try files.recording(file))
        }
    }
}

// Completes `generate: recorded` after the names of the attributes are known.
extension RecordedDefinition {
    /// Selects the lines of a recording for each characteristic.
    static func complete(_ profile: inout Profile, _ reader: FormatReader) {
        let tree = profile.attributeTree
        for (index, service) in profile.services.enumerated() {
            for (number, characteristic) in service.characteristics.enumerated() {
                guard case .generated(let generator) = characteristic.value,
                    var recording = generator as? RecordedDefinition
                else { continue }
                let path = tree.path(of: .init(service: index, characteristic: number))
                recording.values = RecordedValues(
                    recording.lines.filter { $0.path == path.uppercased() }, initial: recording.initial)
                recording.lines = []
                recording.check(characteristic, path, reader)
                profile.services[index].characteristics[number].value = .generated(recording)
            }
        }
    }

    private func check(_ characteristic: Profile.Characteristic, _ path: String, _ reader: FormatReader) {
        let mark = characteristic.marks["value"] ?? characteristic.mark
        let longest = values?.maximumLength ?? 0
        if values == nil {
            reader.error(at: mark, "the file \(Words.quote(file)) has no value of \(path)")
        }
        if longest > characteristic.maximumLength {
            reader.error(
                at: mark,
                """
                the file \(Words.quote(file)) has a value of \(longest) bytes, and \(path) can have \
                \(characteristic.maximumLength)
                """)
        }
        if characteristic.every != nil {
            reader.error(
                at: characteristic.marks["every"],
                "every has no effect: the values of a recording have their own times")
        }
        if characteristic.properties.isDisjoint(with: .anyUpdate) {
            reader.error(
                at: mark, "generate: recorded has no effect: \(path) has neither notify nor indicate")
        }
    }
}
