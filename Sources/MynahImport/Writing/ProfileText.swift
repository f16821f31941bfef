import MynahCore
import MynahSupport
import MynahValues

/// Writes an imported device as a profile, with comments about parts that are unknown.
struct ProfileText {
    private var profile: ImportedProfile
    private let tree: AttributeTree
    /// The name of the file with recorded values, or `nil` if there is none.
    private let recordingFile: String?
    private let source: Source
    private var lines: [String] = []
    /// The number of answers for which `turns(of:)` has named variables so far.
    private var turnCount = 0

    /// The source of an imported profile, for the first comment.
    enum Source {
        /// A file, by its name.
        case file(String)
        /// A connected device, by its address.
        case device(String)

        var heading: String {
            switch self {
            case .file(let name): "Imported from \(name). A comment says what the file does not show."
            case .device(let address): "Recorded from \(address). A comment says what was not seen."
            }
        }

        /// The command that made the profile.
        fileprivate var command: String {
            switch self {
            case .file: "mynah import"
            case .device: "mynah record"
            }
        }
    }

    /// The contents of the files of a profile.
    struct Files {
        var yaml: String
        /// The lines of the recording, or none if nothing was recorded.
        var recording = RecordingText()
        /// Notes about parts that were omitted because a file would have been too large.
        var leftOut: [String]
    }

    /// The largest size of a profile, and of a file to which it refers, in bytes; a larger file is not
    /// loaded.
    static let maximumSize = 1 << 20
    static let maximumRecordingSize = 16 << 20

    /// Returns the texts of a profile and of its recording.
    ///
    /// If `recordingFile` is `nil`, recorded values become constants.
    static func files(
        of profile: ImportedProfile, from source: Source, recordingFile: String?
    ) -> Files {
        var profile = profile
        var leftOut: [String] = []
        var recording = RecordingText()
        if recordingFile != nil {
            recording = RecordingText(ProfileText(profile, source, recordingFile).flows, maximumRecordingSize)
            if let note = recording.note { leftOut.append(note) }
        }
        var reduction = ProfileReduction()
        while true {
            var text = ProfileText(profile, source, recordingFile)
            text.profile.notes += leftOut + reduction.notes
            text.write()
            let yaml = text.lines.joined(separator: "\n") + "\n"
            if yaml.utf8.count <= maximumSize || !reduction.reduce(&profile) {
                return Files(yaml: yaml, recording: recording, leftOut: leftOut + reduction.notes)
            }
        }
    }

    private init(_ profile: ImportedProfile, _ source: Source, _ recordingFile: String?) {
        self.profile = profile
        self.source = source
        self.recordingFile = recordingFile
        tree = AttributeTree(
            of: profile.services, uuid: (\.uuid, \.uuid, \.uuid), characteristics: \.characteristics,
            descriptors: \.descriptors)
    }

    // MARK: The device

    private mutating func write() {
        add(0, "# \(Self.plain(source.heading))")
        note(0, profile.notes)
        add(0, "mynah: 1")
        add(0, "name: \(Self.quoted(profile.name))")
        writeIdentity()
        lines += AdvertisingText(of: profile).lines
        writeVariables()
        guard !profile.services.isEmpty else { return }
        add(0, "")
        add(0, "services:")
        for index in profile.services.indices { writeService(index) }
    }

    private mutating func writeIdentity() {
        let name = profile.deviceName.flatMap { $0 == profile.name ? nil : $0 }
        if name != nil || profile.appearance != nil {
            add(0, "")
            add(0, "device:")
            if let name { add(1, "name: \(Self.quoted(name))") }
            if let appearance = profile.appearance {
                add(1, "appearance: \(Self.hex(appearance))", AssignedNumbers.appearanceName(of: appearance))
            }
        }
        if let io = profile.io {
            add(0, "")
            add(0, "security: {io: \(io.rawValue)}")
        }
        guard let (range, delay) = profile.parameters else { return }
        let intervals = [range.shortestInterval, range.longestInterval].map { Self.milliseconds($0) }
        let interval = "{min: \(intervals[0]), max: \(intervals[1])}"
        add(0, "")
        add(
            0,
            """
            connection: {interval: \(interval), latency: \(range.latency), \
            timeout: \(range.supervisionTimeout.text), after: \(Self.time(max(delay, 1000)))}
            """)
    }

    /// Writes the variables for answers that differ from write to write (`ImportedProfile.Rule.turns`).
    ///
    /// A rule sets each of its variables to the value of the next one, and the last one to that of the first.
    /// Then it answers with the value of the last variable.
    private mutating func writeVariables() {
        let rules = profile.services.flatMap(\.characteristics).flatMap(\.rules)
        var turns: [Turn] = []
        for rule in rules { turns += self.turns(of: rule).compactMap { $0 }.joined() }
        turnCount = 0
        guard !turns.isEmpty || !profile.states.isEmpty else { return }
        defer {
            let ending = profile.endingVariables.joined(separator: ", ")
            if !ending.isEmpty { add(0, "on: {disconnect: [{set: {\(ending)}}]}") }
        }
        add(0, "")
        add(0, "variables:")
        for variable in profile.stateVariables { add(1, variable) }
        for turn in turns { add(1, "\(turn.name): \(Self.quoted(Hex.encode(turn.value)))") }
    }

    /// One of the values of an answer that differs from write to write, with the variable that contains it.
    private struct Turn {
        /// The name of the variable for the value.
        ///
        /// `next` is the name of the variable whose value this one gets for the next request.
        var name: String
        var next: String
        var value: [UInt8]
    }

    /// Returns the values of each answer of a rule, or `nil` for an answer that is the same for each write.
    private mutating func turns(of rule: ImportedProfile.Rule) -> [[Turn]?] {
        rule.answers.indices.map { place in
            let values = rule.turns.map { $0[place] }
            guard Set(values).count > 1 else { return nil }
            turnCount += 1
            func name(_ number: Int) -> String { "answer\(turnCount)turn\(number % values.count + 1)" }
            return values.enumerated().map { Turn(name: name($0), next: name($0 + 1), value: $1) }
        }
    }

    // MARK: Services

    private mutating func writeService(_ index: Int) {
        let service = profile.services[index]
        note(1, service.notes)
        add(1, "- uuid: \(service.uuid)", AssignedNumbers.name(of: service.uuid))
        if !service.isPrimary { add(2, "primary: false") }
        if !service.includes.isEmpty {
            let names = service.includes.map { tree.path(of: .init(service: $0)) }
            add(2, "includes: [\(names.joined(separator: ", "))]")
        }
        guard !service.characteristics.isEmpty else { return }
        add(2, "characteristics:")
        for characteristic in service.characteristics { write(characteristic) }
    }

    private mutating func write(_ characteristic: ImportedProfile.Characteristic) {
        note(3, characteristic.notes)
        add(3, "- uuid: \(characteristic.uuid)", AssignedNumbers.name(of: characteristic.uuid))
        add(4, "properties: [\(characteristic.properties.names.joined(separator: ", "))]")
        writePermissions(4, characteristic.permissions)
        switch characteristic.value {
        case .bytes(let bytes):
            add(4, "value: {\(Self.value(bytes))}", Self.words(bytes, characteristic.uuid))
        case .recorded(let values, let initial): write(values, initial)
        case nil: break
        }
        if let subscription = characteristic.subscription { add(4, "subscription: \(subscription.rawValue)") }
        let errors = [("read", characteristic.readError), ("write", characteristic.writeError)]
            .compactMap { key, code in code.map { "\(key): 0x\(Hex.encode([$0]))" } }
        if !errors.isEmpty { add(4, "errors: {\(errors.joined(separator: ", "))}") }
        writeReactions(characteristic)
        guard !characteristic.descriptors.isEmpty else { return }
        add(4, "descriptors:")
        for descriptor in characteristic.descriptors {
            note(5, descriptor.notes)
            add(5, "- uuid: \(descriptor.uuid)", AssignedNumbers.name(of: descriptor.uuid))
            if descriptor.properties != .read {
                add(6, "properties: [\(descriptor.properties.names.joined(separator: ", "))]")
            }
            writePermissions(6, descriptor.permissions)
            if let value = descriptor.value { add(6, "value: {\(Self.value(value))}") }
        }
    }

    private mutating func writePermissions(_ level: Int, _ permissions: AttributePermissions) {
        let entries = [
            ("read", permissions.read), ("write", permissions.write), ("notify", permissions.notify),
        ].filter { $0.1 != .open }
        guard !entries.isEmpty else { return }
        add(
            level,
            "permissions: {\(entries.map { "\($0.0): \($0.1.rawValue)" }.joined(separator: ", "))}")
    }

    private mutating func write(_ values: [ImportedProfile.RecordedValue], _ initial: [UInt8]?) {
        guard let first = values.first else { return }
        let count = values.count.counting("value was sent", "values were sent")
        if let recordingFile {
            let first = initial.map { ", initial: \(Self.hex($0))" } ?? ""
            add(4, "value: {generate: recorded, file: \(Self.quoted(recordingFile))\(first)}", count)
            return
        }
        if let initial {
            note(4, ["before the first of them it was read as \(Self.hex(initial))"])
        }
        note(4, ["\(count); \(source.command) --output DIR keeps them and their times"])
        let rate = SendingRate(values)
        if rate.frame.count > 1 {
            note(4, ["they came in frames of \(rate.frame.count), one every \(Self.time(rate.framePeriod))"])
            let frame = rate.frame.map { Self.quoted(Hex.encode($0)) }.joined(separator: ", ")
            add(4, "value: {layout: [{frame: bytes}], fields: {frame: {generate: list, values: [\(frame)]}}}")
        } else {
            add(4, "value: {\(Self.value(Array(first.value)))}")
        }
        if let interval = rate.interval { add(4, "every: \(Self.time(max(interval, 1000)))") }
    }

    /// Returns a time in microseconds as text, rounded to milliseconds.
    private static func time(_ microseconds: Int64) -> String {
        Duration.milliseconds((microseconds + 500) / 1000).text
    }

    private mutating func writeReactions(_ characteristic: ImportedProfile.Characteristic) {
        guard !characteristic.rules.isEmpty || !characteristic.greetings.isEmpty else { return }
        add(4, "on:")
        if !characteristic.rules.isEmpty { add(5, "write:") }
        for rule in characteristic.rules {
            add(6, "- match: {hex: \(Self.hex(rule.written))\(rule.isPrefix ? " .." : "")}")
            if let state = rule.before { add(7, "when: \(ImportedProfile.stateName(state)) == 0") }
            if let error = rule.error {
                add(7, "error: 0x\(Hex.encode([error]))")
            } else {
                write(rule)
            }
        }
        guard !characteristic.greetings.isEmpty else { return }
        add(5, "subscribe:")
        add(6, "- answer:")
        for answer in characteristic.greetings { write(answer, "{hex: \(Self.hex(answer.value))}") }
    }

    private mutating func write(_ rule: ImportedProfile.Rule) {
        let turns = self.turns(of: rule)
        let changes =
            (rule.begins.map { ["\(ImportedProfile.stateName($0)): 1"] } ?? [])
            + turns.compactMap { $0 }.joined().map { "\($0.name): \($0.next)" }
        if !changes.isEmpty { add(7, "set: {\(changes.joined(separator: ", "))}") }
        guard !rule.answers.isEmpty else { return }
        add(7, "answer:")
        for (answer, turn) in zip(rule.answers, turns) {
            // The variables are set before the answer is sent.
            let value = turn?.last.map {
                "{layout: [{answer: bytes}], fields: {answer: {from: \($0.name)}}}"
            }
            write(answer, value ?? "{hex: \(Self.hex(answer.value))}")
        }
    }

    private mutating func write(_ answer: ImportedProfile.Answer, _ value: String) {
        let target = AttributeTree.Position(service: answer.service, characteristic: answer.characteristic)
        let delay = Duration.milliseconds((answer.delay + 500) / 1000)
        let after = delay > .zero ? ", after: \(delay.text)" : ""
        add(8, "- {to: \(tree.shortName(of: target)), value: \(value)\(after)}")
    }

    // MARK: The recording

    /// The recorded values of each characteristic, with the JSON members that identify the characteristic in
    /// each line.
    private var flows: [RecordingText.Flow] {
        var flows: [RecordingText.Flow] = []
        for (index, service) in profile.services.enumerated() {
            for (number, characteristic) in service.characteristics.enumerated() {
                guard case .recorded(let values, _)? = characteristic.value else { continue }
                let path = tree.numberedPath(of: .init(service: index, characteristic: number))
                flows.append(
                    .init(
                        names: RecordingText.names(
                            service.uuid.description, characteristic.uuid.description, path: path),
                        values: values))
            }
        }
        return flows
    }

    // MARK: Words

    private mutating func add(_ level: Int, _ text: String, _ comment: String? = nil) {
        lines.append(Self.line(level, text, comment))
    }

    /// Returns a line with a comment at its end.
    static func line(_ level: Int, _ text: String, _ comment: String?) -> String {
        let line = String(repeating: "  ", count: level) + text
        return comment.map { "\(line)  # \(plain($0))" } ?? line
    }

    /// Writes notes as comments before the lines to which they refer.
    private mutating func note(_ level: Int, _ notes: [String]) { lines += Self.comments(level, notes) }

    /// Returns notes as lines of comments.
    static func comments(_ level: Int, _ notes: [String]) -> [String] {
        notes.map { note in
            let text = plain(note)
            return line(level, "# \(text.prefix(1).uppercased())\(text.dropFirst()).", nil)
        }
    }

    /// Returns a text without the characters that a comment cannot contain.
    static func plain(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { PlainText.isPlain($0) }))
    }

    static func quoted(_ text: String) -> String { JSON.string(text).text }

    static func hex(_ number: UInt16) -> String {
        "0x" + Hex.encode([UInt8(number >> 8), UInt8(number & 0xFF)])
    }

    /// Returns pairs of hexadecimal digits, which are separated by spaces if there are few.
    static func hex(_ bytes: [UInt8]) -> String {
        if bytes.isEmpty { return "\"\"" }
        return bytes.count > 24 ? Hex.encode(bytes) : bytes.map { Hex.encode([$0]) }.joined(separator: " ")
    }

    private static func value(_ bytes: [UInt8]) -> String {
        PlainText.text(bytes).map { "text: \(quoted($0))" } ?? "hex: \(hex(bytes))"
    }

    /// Returns the fields of a value as text, or `nil` if the value's layout is not known.
    private static func words(_ bytes: [UInt8], _ uuid: BluetoothUUID) -> String? {
        guard PlainText.text(bytes) == nil, let fields = KnownLayouts.layout(of: uuid)?.decode(bytes) else {
            return nil
        }
        return FieldsText.of(fields)
    }

    /// Returns an interval as people write it, such as `152.5 ms`.
    static func milliseconds(_ duration: Duration) -> String {
        let microseconds = Int64(duration / .microseconds(1))
        guard microseconds % 1000 != 0 else { return duration.text }
        var decimals = String(1000 + microseconds % 1000).dropFirst()
        while decimals.last == "0" { decimals.removeLast() }
        return "\(microseconds / 1000).\(decimals) ms"
    }
}
