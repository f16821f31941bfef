package import MynahEmulator
import MynahProfiles
import MynahSupport

/// Events as server-sent events (WHATWG HTML, section 9.2).
///
/// An event has `id: EPOCH-SEQ`, `event: NAME` and `data: {…}`, with the JSON of the journal. `event: lost`
/// with `{"event": "lost", "count": N}` reports events that were dropped before they could be sent; its
/// identifier is that of the last dropped event.
package struct EventStreamFrames: Hashable, Sendable {
    /// The epoch of the journal that has the events.
    package var epoch: String
    private let match: EventMatch?

    /// Makes the frames of all events of a run, or of those that match.
    package init(epoch: String, match: EventMatch? = nil) {
        self.epoch = epoch
        self.match = match
    }

    /// A comment, which clients ignore.
    ///
    /// The comment keeps the connection open, and shows whether the client is still connected.
    package static let keepAlive = Array(":\n\n".utf8)

    /// The comment that is sent after a change without an event.
    ///
    /// Such a change is a mark, a cleared journal, or a new time of the `manual` clock.
    package static let change = Array(": changed\n\n".utf8)

    /// Returns the frames for a slice of the journal; empty if no event matches.
    package func frames(of slice: Journal.Slice) -> [UInt8] {
        var bytes: [UInt8] = []
        if slice.lost > 0 {
            // The requested events before the first one in the slice were lost.
            let first = slice.entries.first?.seq ?? slice.next
            let members: [JSON.Member] = [
                .init("event", "lost"), .init("count", .integer(Int(clamping: slice.lost))),
            ]
            append(first - 1, "lost", .object(members), to: &bytes)
        }
        for entry in slice.entries where match?.matches(entry.event) ?? true {
            append(entry.seq, entry.event.name.rawValue, entry.json, to: &bytes)
        }
        return bytes
    }

    private func append(_ seq: UInt64, _ name: String, _ data: JSON, to bytes: inout [UInt8]) {
        bytes += "id: \(epoch)-\(seq)\nevent: \(name)\ndata: ".utf8
        // JSON on one line has no line breaks, which would end the field.
        data.write(to: &bytes)
        bytes += "\n\n".utf8
    }

    /// Returns the number at which a stream continues after `Last-Event-ID`.
    ///
    /// `kept` is the range of the journal's event numbers. If the identifier is invalid or belongs to
    /// another run, the stream begins with the oldest event.
    package func position(after lastEventID: String, kept: Range<UInt64>) -> UInt64 {
        guard lastEventID.hasPrefix(epoch + "-") else { return kept.lowerBound }
        let digits = lastEventID.dropFirst(epoch.count + 1)
        guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let seq = UInt64(digits),
            seq < kept.upperBound
        else { return kept.lowerBound }
        return seq + 1
    }
}
