import MynahSupport

/// Converts packets of MIDI over Bluetooth LE (MIDI over Bluetooth Low Energy 1.0a) to fields and back.
///
/// The fields are `timestamps`, in milliseconds of a 13-bit clock, and `messages`, a text such as `note on
/// channel 1 note 60 velocity 100; timing clock`.
enum MIDIPacket {
    /// The MIDI 1.0 messages by their status, with the names of their data.
    private static let names: [(status: UInt8, name: String, data: [String])] = [
        (0x80, "note off", ["note", "velocity"]), (0x90, "note on", ["note", "velocity"]),
        (0xA0, "polyphonic key pressure", ["note", "pressure"]),
        (0xB0, "control change", ["controller", "value"]), (0xC0, "program change", ["program"]),
        (0xD0, "channel pressure", ["pressure"]), (0xE0, "pitch bend", ["value"]),
        (0xF0, "system exclusive", []), (0xF1, "quarter frame", ["value"]),
        (0xF2, "song position", ["value"]), (0xF3, "song select", ["song"]), (0xF6, "tune request", []),
        (0xF7, "end of exclusive", []), (0xF8, "timing clock", []), (0xFA, "start", []),
        (0xFB, "continue", []), (0xFC, "stop", []), (0xFE, "active sensing", []), (0xFF, "system reset", []),
    ]
    private static let channel = "channel"
    /// The name for the data of a system exclusive message that began in an earlier packet.
    private static let more = "exclusive data"
    private static let exclusive: UInt8 = 0xF0
    /// The number of milliseconds after which the packet's clock wraps, and after which a message's part of
    /// it does.
    private static let (clock, low) = (8192, 128)

    /// Whether the data of a message is one 14-bit number, with the lower 7 bits first.
    private static func isWide(_ status: UInt8) -> Bool { status == 0xE0 || status == 0xF2 }

    /// Returns a message's status without its channel number.
    private static func kind(_ status: UInt8) -> UInt8 { status < 0xF0 ? status & 0xF0 : status }

    // MARK: From bytes

    /// Returns the fields of a packet, or `nil` if the packet has no messages or is incomplete.
    static func fields(of packet: [UInt8]) -> [NamedField]? {
        var reader = Reader(rest: packet.dropFirst())
        guard let header = packet.first, header & 0xC0 == 0x80, packet.count > 1 else { return nil }
        reader.high = Int(header & 0x3F)
        while !reader.rest.isEmpty {
            guard reader.readMessage() else { return nil }
        }
        return [
            NamedField("timestamps", .list(reader.timestamps.map { .integer($0) }), "ms"),
            NamedField("messages", .text(reader.messages.joined(separator: "; "))),
        ].filter { $0.value != .list([]) }
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>
        var high = 0
        /// The low part of the last timestamp, and the running status; both are `nil` before the first one.
        private var last: Int?
        private var running: UInt8?
        private var isExclusive = true
        var timestamps: [Int] = []
        var messages: [String] = []

        init(rest: ArraySlice<UInt8>) { self.rest = rest }

        /// Reads a message with its timestamp, or returns `false` if there is none.
        mutating func readMessage() -> Bool {
            guard rest[rest.startIndex] >= 0x80 else { return readData() }
            let time = Int(rest.removeFirst() & 0x7F)
            // A smaller low part means that it has wrapped.
            if let last, time < last { high += 1 }
            last = time
            guard let next = rest.first else { return false }
            guard next >= 0x80 else { return running != nil && readData() }
            rest.removeFirst()
            return read(next)
        }

        /// Reads data without a status byte, which continues the running status or a system exclusive
        /// message.
        private mutating func readData() -> Bool {
            if let running { return read(running) }
            guard isExclusive else { return false }
            add(MIDIPacket.more + MIDIPacket.hex(takeData()))
            return true
        }

        private mutating func read(_ status: UInt8) -> Bool {
            let kind = MIDIPacket.kind(status)
            guard let entry = MIDIPacket.names.first(where: { $0.status == kind }) else { return false }
            // In a packet, only a system exclusive message ends the running status. Real-time messages may be
            // anywhere.
            if status < 0xF0 { running = status }
            if status == MIDIPacket.exclusive { running = nil }
            if status < 0xF8 { isExclusive = status == MIDIPacket.exclusive }
            var text = entry.name
            if isExclusive, status == MIDIPacket.exclusive {
                text += MIDIPacket.hex(takeData())
            } else {
                if status < 0xF0 { text += " \(MIDIPacket.channel) \(status & 0x0F + 1)" }
                guard let numbers = takeNumbers(MIDIPacket.isWide(kind) ? 2 : entry.data.count) else {
                    return false
                }
                let values = MIDIPacket.isWide(kind) ? [numbers[0] + numbers[1] << 7] : numbers
                for (name, value) in zip(entry.data, values) { text += " \(name) \(value)" }
            }
            add(text)
            return true
        }

        private mutating func add(_ text: String) {
            if let last { timestamps.append((high * MIDIPacket.low + last) % MIDIPacket.clock) }
            messages.append(text)
        }

        private mutating func takeNumbers(_ count: Int) -> [Int]? {
            let numbers = rest.prefix(count).map { Int($0) }
            guard numbers.count == count, numbers.allSatisfy({ $0 < 0x80 }) else { return nil }
            rest = rest.dropFirst(count)
            return numbers
        }

        private mutating func takeData() -> [UInt8] {
            let data = Array(rest.prefix { $0 < 0x80 })
            rest = rest.dropFirst(data.count)
            return data
        }
    }

    private static func hex(_ data: [UInt8]) -> String {
        data.map { " " + Hex.encode([$0]) }.joined()
    }

    // MARK: To bytes

    /// Encodes a packet with these fields; without `timestamps`, each message has the timestamp 0.
    static func packet(of fields: [NamedField]) throws(LayoutProblem) -> [UInt8] {
        guard case .text(let text)? = fields.first(where: { $0.name == "messages" })?.value else {
            throw LayoutProblem("messages", "messages is text, as in note on channel 1 note 60 velocity 100")
        }
        var messages: [[UInt8]] = []
        for part in text.split(separator: ";") { messages.append(try message(String(part))) }
        guard !messages.isEmpty else {
            throw LayoutProblem("messages", "messages is empty; a packet has at least one message")
        }
        let times = try timestamps(of: fields, count: messages.count)
        var packet = [0x80 | UInt8(times[0] / low)]
        var running: UInt8?
        for (index, message) in messages.enumerated() {
            let step = index == 0 ? 0 : (times[index] - times[index - 1] + clock) % clock
            guard step < low else {
                throw LayoutProblem(
                    "timestamps", "a timestamp is at most 127 ms after the one before it, and not \(step) ms")
            }
            packet.append(0x80 | UInt8(times[index] % low))
            let status = message[0]
            packet += status == running ? message[1...] : message[...]
            if status < 0xF8 { running = status < 0xF0 ? status : nil }
        }
        return packet
    }

    private static func timestamps(of fields: [NamedField], count: Int) throws(LayoutProblem) -> [Int] {
        guard let field = fields.first(where: { $0.name == "timestamps" }) else {
            return [Int](repeating: 0, count: count)
        }
        guard case .list(let values) = field.value, values.count == count else {
            throw LayoutProblem("timestamps", "timestamps is a list with a number for each message: \(count)")
        }
        var times: [Int] = []
        for value in values {
            guard let number = value.number, number >= 0, let whole = Int(exactly: number.rounded()) else {
                throw LayoutProblem("timestamps", "a timestamp is a number of milliseconds, 0 or more")
            }
            times.append(whole % clock)
        }
        return times
    }

    /// Parses the text of a message, and returns its status byte and data bytes.
    private static func message(_ text: String) throws(LayoutProblem) -> [UInt8] {
        let words = text.split(separator: " ").map(String.init)
        guard
            let entry = names.first(where: { entry in
                let name = entry.name.split(separator: " ").map(String.init)
                return words.starts(with: name)
            })
        else {
            let known = names.map(\.name)
            let near = NearestName.of(text, among: known).map { "; did you mean \"\($0)\"?" }
            let list = ": they are \(known.joined(separator: ", "))"
            throw LayoutProblem("messages", "\"\(text)\" is no MIDI message\(near ?? list)")
        }
        let rest = Array(words.dropFirst(entry.name.split(separator: " ").count))
        if entry.status == exclusive {
            guard let data = Hex.decode(rest.joined()), data.allSatisfy({ $0 < 0x80 }) else {
                throw LayoutProblem(
                    "messages",
                    "the data of system exclusive is bytes below 80 in hexadecimal, as in 7E 7F 09 01")
            }
            return [exclusive] + data
        }
        let hasChannel = entry.status < 0xF0
        let wanted = (hasChannel ? [channel] : []) + entry.data
        guard rest.count == 2 * wanted.count, wanted.indices.allSatisfy({ rest[2 * $0] == wanted[$0] }) else {
            let form = ([entry.name] + wanted.map { "\($0) NUMBER" }).joined(separator: " ")
            throw LayoutProblem("messages", "\"\(text)\" has another form than \(form)")
        }
        var message = [entry.status]
        for (index, name) in wanted.enumerated() {
            let isChannel = hasChannel && index == 0
            let range = isChannel ? 1...16 : isWide(entry.status) ? 0...16_383 : 0...127
            guard let number = Int(rest[2 * index + 1]), range.contains(number) else {
                let limits = "\(range.lowerBound) to \(range.upperBound)"
                throw LayoutProblem(
                    "messages", "\(name) is \(rest[2 * index + 1]), and must be \(limits)")
            }
            if isChannel {
                message[0] |= UInt8(number - 1)
            } else if isWide(entry.status) {
                message += [UInt8(number % low), UInt8(number / low)]
            } else {
                message.append(UInt8(number))
            }
        }
        return message
    }
}
