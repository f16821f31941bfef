import MynahSupport

/// The lines of a recording in order of time, limited to the size of a file that a profile can use.
///
/// A line is made only when it is written, because all lines together may have 16 MiB.
package struct RecordingText: Sendable {
    /// The values of one characteristic, with the JSON members that identify the characteristic in each line.
    struct Flow {
        var names: [JSON.Member]
        var values: [ImportedProfile.RecordedValue]
    }

    /// A line, as the index of a flow and of a value in it.
    private struct Line {
        /// The time from the subscription to the value, in microseconds.
        var time: Int64
        var flow: Int32
        var place: Int32
    }

    /// A flow, with the text between the time and the value in its lines.
    private struct Source {
        var middle: [UInt8]
        var values: [ImportedProfile.RecordedValue]
    }

    private let sources: [Source]
    private let lines: [Line]
    /// A note about omitted lines, without a full stop, or `nil` if no lines were omitted.
    let note: String?

    /// Makes an empty recording.
    init() {
        self.init([], 0)
    }

    /// Makes a recording with the lines that fit in `maximumSize` bytes.
    ///
    /// The first line of each characteristic has priority, because the characteristic would have no value
    /// without it. Then the earliest other lines are added.
    init(_ flows: [Flow], _ maximumSize: Int) {
        let sources = flows.map { flow in
            let names = JSON.object(flow.names).text.dropFirst().dropLast()
            return Source(middle: Array(",\(names),\"value\":\"".utf8), values: flow.values)
        }
        self.sources = sources
        var lines: [Line] = []
        lines.reserveCapacity(flows.reduce(0) { $0 + $1.values.count })
        var room = maximumSize
        for (index, flow) in flows.enumerated() {
            for (place, value) in flow.values.enumerated() {
                let line = Line(time: value.time, flow: Int32(index), place: Int32(place))
                if place == 0 { room -= Self.size(of: line, sources) }
                lines.append(line)
            }
        }
        // The index keeps the order of values with the same time.
        lines.sort { ($0.time, $0.flow, $0.place) < ($1.time, $1.flow, $1.place) }
        var end: Int64?
        var leftOut = 0
        lines.removeAll { line in
            if line.place == 0 { return false }
            if end == nil { room -= Self.size(of: line, sources) }
            if room >= 0 { return false }
            end = end ?? line.time
            leftOut += 1
            return true
        }
        self.lines = lines
        note = end.map { end in
            """
            the recording ends after \(end / 1_000_000) s: with \(leftOut.counting("value")) more it would \
            be larger than \(maximumSize >> 20) MiB
            """
        }
    }

    /// `true` if the recording has no lines.
    package var isEmpty: Bool { lines.isEmpty }

    /// All lines as one text.
    package var text: String {
        var text: [UInt8] = []
        for line in lines { Self.write(line, sources, to: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Passes the lines to a function, in blocks of whole lines.
    package func write<Failure: Error>(to sink: ([UInt8]) throws(Failure) -> Void) throws(Failure) {
        var block: [UInt8] = []
        for line in lines {
            Self.write(line, sources, to: &block)
            guard block.count >= Self.blockSize else { continue }
            try sink(block)
            block.removeAll(keepingCapacity: true)
        }
        if !block.isEmpty { try sink(block) }
    }

    /// Returns the members of a line that identify its characteristic.
    ///
    /// `path` distinguishes the characteristic from others with the same UUIDs.
    static func names(_ service: String, _ characteristic: String, path: String?) -> [JSON.Member] {
        [.init("service", .string(service)), .init("characteristic", .string(characteristic))]
            + (path.map { [.init("path", .string($0))] } ?? [])
    }

    /// Returns the largest length of a characteristic's lines without the value, in bytes.
    static func longest(_ service: String, _ characteristic: String, hasPath: Bool) -> Int {
        // In the path, a service or a characteristic with a repeated UUID is followed by a number.
        let path = hasPath ? "\(service)[65535]/\(characteristic)[65535]" : nil
        let names = JSON.object(names(service, characteristic, path: path)).text
        return head.count + "604800.000001".utf8.count + names.utf8.count + tail.count
            + #","value":""#.utf8.count
    }

    private static let blockSize = 1 << 16
    private static let head = Array(#"{"at":"#.utf8)
    private static let tail = Array("\"}\n".utf8)

    private static func time(_ line: Line) -> String { JSON.number(Double(line.time) / 1_000_000).text }

    /// Returns the length of a line including its line feed, in bytes.
    private static func size(of line: Line, _ sources: [Source]) -> Int {
        let source = sources[Int(line.flow)]
        return head.count + time(line).utf8.count + source.middle.count
            + 2 * source.values[Int(line.place)].value.count + tail.count
    }

    private static func write(_ line: Line, _ sources: [Source], to bytes: inout [UInt8]) {
        let source = sources[Int(line.flow)]
        bytes += head
        bytes += time(line).utf8
        bytes += source.middle
        bytes += Hex.encode(source.values[Int(line.place)].value).utf8
        bytes += tail
    }
}
