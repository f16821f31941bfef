package import MynahEmulator
import MynahProfiles
import MynahSupport

/// Events as server-sent events (WHATWG HTML, section 9.2).
///
/// An event is `id: EPOCH-SEQ`, `event: NAME` and `data: {…}`, as the journal has it. `event: lost` with
/// `{"event": "lost", "count": N}` reports events that were dropped before the reader got them; its
/// identifier is that of the last one.
package struct EventStreamFrames: Hashable, Sendable {
    /// The epoch of the journal that the events are from.
    package var epoch: String
    private let match: EventMatch?

    /// Frames of the events of one run, all or only those that match.
    package init(epoch: String, match: EventMatch? = nil) {
        self.epoch = epoch
        self.match = match
    }

    /// A comment, which clients ignore: it keeps the connection open and finds out whether it is.
    package static let keepAlive = Array(":\n\n".utf8)

    /// The comment after a change that is no event: a mark, an emptied journal, another time of `manual`.
    package static let change = Array(": changed\n\n".utf8)

    /// The frames of a part of the journal; empty if nothing in it matches.
    package func frames(of slice: Journal.Slice) -> [UInt8] {
        var bytes: [UInt8] = []
        if slice.lost > 0 {
            // No event of the part is before the first one that is kept.
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
        // JSON of one line has no line breaks, which would end the field.
        data.write(to: &bytes)
        bytes += "\n\n".utf8
    }

    /// The number to go on from after `Last-Event-ID`.
    ///
    /// `kept` has the numbers of the journal's events. After an identifier of another run, or an invalid one,
    /// the stream has everything that is kept.
    package func position(after lastEventID: String, kept: Range<UInt64>) -> UInt64 {
        guard lastEventID.hasPrefix(epoch + "-") else { return kept.lowerBound }
        let digits = lastEventID.dropFirst(epoch.count + 1)
        guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let seq = UInt64(digits),
            seq < kept.upperBound
        else { return kept.lowerBound }
        return seq + 1
    }
}
