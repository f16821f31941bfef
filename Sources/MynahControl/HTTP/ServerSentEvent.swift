/// An event of a stream (HTML Living Standard, 9.2, server-sent events).
package struct ServerSentEvent: Hashable, Sendable {
    /// The id that a client resumes after, or `nil` if the event has none of its own.
    package var id: String?
    /// The type, or `nil` for `message`.
    package var event: String?
    /// The data, of any number of lines.
    package var data: String

    /// An event.
    package init(id: String? = nil, event: String? = nil, data: String) {
        self.id = id
        self.event = event
        self.data = data
    }

    /// A comment, which clients ignore: it keeps a connection from looking idle.
    package static let comment = ":\n\n"

    /// The event on the wire.
    ///
    /// A line break in the id or type, which cannot be sent, becomes a space.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        func field(_ name: String, _ value: some Sequence<UInt8>) {
            bytes += name.utf8
            bytes += ": ".utf8
            bytes += value
            bytes.append(UInt8(ascii: "\n"))
        }
        if let id { field("id", Self.oneLine(id)) }
        if let event { field("event", Self.oneLine(event)) }
        for line in Self.lines(of: data) { field("data", line) }
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    private static func isBreak(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
    }

    private static func oneLine(_ text: String) -> [UInt8] {
        text.utf8.map { isBreak($0) || $0 == 0 ? UInt8(ascii: " ") : $0 }
    }

    private static func lines(of text: String) -> [ArraySlice<UInt8>] {
        let bytes = Array(text.utf8)
        guard bytes.contains(UInt8(ascii: "\r")) else {
            return bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        }
        // A CR ends a line too, and CR LF is one end.
        var lines: [ArraySlice<UInt8>] = []
        var start = 0
        for (index, byte) in bytes.enumerated() where isBreak(byte) {
            if byte == UInt8(ascii: "\n"), index > 0, bytes[index - 1] == UInt8(ascii: "\r") {
                start = index + 1
                continue
            }
            lines.append(bytes[start..<index])
            start = index + 1
        }
        return lines + [bytes[start...]]
    }
}

/// Finds the events in a stream's bytes, however they are cut.
package struct ServerSentEventParser: Sendable {
    /// The stream has an event that is longer than the limit.
    package struct TooLong: Error, Hashable, Sendable {}

    /// The longest event, in bytes.
    private let limit: Int
    private var line: [UInt8] = []
    private var lastWasCR = false
    private var isFirstLine = true
    private var id: String?
    private var event: String?
    private var data: [UInt8] = []
    private var hasData = false

    /// A parser at the beginning of a stream.
    package init(limit: Int = 16 << 20) {
        self.limit = limit
    }

    /// Takes the next bytes and returns the events that they complete.
    package mutating func take(_ bytes: some Sequence<UInt8>) throws(TooLong) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for byte in bytes {
            defer { lastWasCR = byte == UInt8(ascii: "\r") }
            switch byte {
            case UInt8(ascii: "\n") where lastWasCR: continue
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                if let event = endLine() { events.append(event) }
            default:
                line.append(byte)
                guard line.count + data.count <= limit else { throw TooLong() }
            }
        }
        return events
    }

    private mutating func endLine() -> ServerSentEvent? {
        defer { line.removeAll(keepingCapacity: line.capacity <= 4096) }
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        }
        guard !line.isEmpty else { return dispatch() }
        let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        var value = parts.count > 1 ? parts[1] : []
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        switch String(decoding: parts[0], as: UTF8.self) {
        case "id" where !value.contains(0): id = String(decoding: value, as: UTF8.self)
        case "event": event = String(decoding: value, as: UTF8.self)
        case "data":
            if hasData { data.append(UInt8(ascii: "\n")) }
            data += value
            hasData = true
        default: break
        }
        return nil
    }

    /// The event at an empty line, or `nil` if it has no data.
    ///
    /// The id is kept: it holds for all events until the next id.
    private mutating func dispatch() -> ServerSentEvent? {
        defer {
            data = []
            hasData = false
            event = nil
        }
        guard hasData else { return nil }
        return ServerSentEvent(id: id, event: event, data: String(decoding: data, as: UTF8.self))
    }
}
