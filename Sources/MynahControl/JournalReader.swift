/// Reads a journal from a number on, and waits at its end.
package struct JournalReader: Sendable {
    private let journal: Journal
    /// The number to go on from.
    package private(set) var position: UInt64

    /// A reader that begins with this number.
    package init(_ journal: Journal, from seq: UInt64) {
        self.journal = journal
        position = seq
    }

    /// The next part, with events or with the number of lost ones; `nil` after the journal's end, or if the
    /// task is cancelled.
    package mutating func next(limit: Int = 1000) async -> Journal.Slice? {
        guard !Task.isCancelled, await journal.changed(from: position) else { return nil }
        let slice = journal.read(from: position, limit: limit)
        position = slice.next
        return slice
    }
}
