import MynahCore
import MynahSupport

/// The section `connection:`, with the connection parameters that an accessory requests.
enum ConnectionSection {
    static let interval = Field(
        "interval",
        .node(
            "duration, 7.5 ms to 4 s, or a mapping of `min` and `max`",
            .anyOf([.ref("duration"), .ref("intervals")])),
        missing: "connection needs an interval, as in interval: {min: 15 ms, max: 30 ms}",
        doc: "The connection interval, in multiples of 1.25 ms: one, or the shortest and the longest.")
    static let latency = Field(
        "latency", .integer(0...499),
        doc: "How many connection events the device may skip; left out: 0.")
    static let timeout = Field(
        "timeout", .duration(.milliseconds(100), atMost: .seconds(32)),
        missing: "connection needs a supervision timeout, as in timeout: 4 s",
        doc: "The supervision timeout, in multiples of 10 ms.")
    static let after = Field(
        "after", .duration(), doc: "The time after the connection began; left out: 1 s.")
    static let table = Section("connection", [interval, latency, timeout, after])

    static let min = Field(
        "min", .connectionInterval, missing: "an interval needs min, as in {min: 15 ms, max: 30 ms}",
        doc: "The shortest interval.")
    static let max = Field(
        "max", .connectionInterval, missing: "an interval needs max, as in {min: 15 ms, max: 30 ms}",
        doc: "The longest interval.")
    static let intervals = Section("intervals", what: "an interval", [min, max])

    /// Parses a range of connection parameters; reports a range that a device cannot request, and returns
    /// `nil`.
    static func read(
        _ node: YAMLNode, isApp: Bool, _ reader: FormatReader
    ) -> Profile.ParameterRequest? {
        guard !isApp else {
            reader.error(
                at: node,
                "connection is for accessories; with app:, iOS chooses the connection parameters")
            return nil
        }
        guard let fields = reader.fields(node, table) else { return nil }
        let intervals = fields[interval].flatMap { self.intervals(of: $0, reader) }
        let latency = fields.read(latency) ?? 0
        let timeout = fields.read(timeout)
        let delay = fields.read(after) ?? .seconds(1)
        guard let intervals, let timeout,
            let timeout = reader.count(
                of: ConnectionParameterRange.timeoutUnit, in: timeout, "timeout", at: fields[Self.timeout])
        else { return nil }
        let wanted = ConnectionParameterRange(
            minimum: intervals.min, maximum: intervals.max, latency: UInt16(latency), timeout: timeout)
        guard wanted.isValid else {
            reader.error(
                at: fields[Self.timeout],
                """
                timeout must be longer than 2 × the longest interval × (latency + 1), which is \
                \((wanted.longestSilence * 2).text)
                """)
            return nil
        }
        return Profile.ParameterRequest(wanted: wanted, delay: delay)
    }

    /// Parses the shortest and the longest interval, in units of 1.25 ms.
    private static func intervals(
        of node: YAMLNode, _ reader: FormatReader
    ) -> (min: UInt16, max: UInt16)? {
        let unit = ConnectionParameterRange.intervalUnit
        guard case .mapping = node else {
            let one = Kind<Duration>.connectionInterval.read(node, "interval", reader)
            let count = one.flatMap { reader.count(of: unit, in: $0, "interval", at: node) }
            return count.map { ($0, $0) }
        }
        guard let fields = reader.fields(node, intervals) else { return nil }
        guard let shortest = fields.read(min), let longest = fields.read(max),
            let min = reader.count(of: unit, in: shortest, "min", at: fields[min]),
            let max = reader.count(of: unit, in: longest, "max", at: fields[max])
        else { return nil }
        guard min <= max else {
            reader.error(at: fields[Self.max], "max must not be below min")
            return nil
        }
        return (min, max)
    }
}

extension FormatReader {
    /// Returns the number of units in a duration; reports a number that is not an integer, and returns
    /// `nil`.
    fileprivate func count(
        of unit: Duration, in duration: Duration, _ what: String, at node: YAMLNode?
    ) -> UInt16? {
        let count = Int(duration / unit)
        guard unit * count == duration else {
            error(
                at: node,
                "\(what) must be a multiple of \(unit.text), as \((unit * Swift.max(1, count)).text)")
            return nil
        }
        return UInt16(exactly: count)
    }
}

extension Kind<Duration> {
    /// The format of a connection interval (Core Specification, Vol 6, Part B, 4.5.1).
    fileprivate static var connectionInterval: Kind { duration(.microseconds(7500), atMost: .seconds(4)) }
}
