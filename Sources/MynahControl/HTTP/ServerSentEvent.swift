/// A server-sent event (HTML Living Standard, 9.2).
package struct ServerSentEvent: Hashable, Sendable {
    /// The identifier after which a client can resume, or `nil` if no event had one.
    package var id: String?
    /// The type of the event, or `nil` for `message`.
    package var event: String?
    /// The data, which may have several lines.
    package var data: String

    package init(id: String? = nil, event: String? = nil, data: String) {
        self.id = id
        self.event = event
        self.data = data
    }
}

/// Parses server-sent events from a stream, whose bytes can be passed in pieces of any length.
package struct ServerSentEventParser: Sendable {
    /// The error for an event that is longer than the limit.
    package struct TooLong: Error, Hashable, Sendable {}

    /// The largest length of an event, in bytes.
    private let limit: Int
    private var line: [UInt8] = []
    private var lastWasCR = false
    private var isFirstLine = true
    private var id: String?
    private var event: String?
    private var data: [UInt8] = []
    private var hasData = false

    /// Makes a parser at the beginning of a stream.
    package init(limit: Int = 16 << 20) {
        self.limit = limit
    }

    /// Parses the next bytes, and returns the events that are now complete.
    package mutating func decode(_ bytes: some Sequence<UInt8>) throws(TooLong) -> [ServerSentEvent] {
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

    /// Returns the event that an empty line completes, or `nil` if it has no data.
    ///
    /// An id applies to all following events until the next id.
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
