/// Reads a journal from a number on, and waits at its end.
package struct JournalReader: Sendable {
    private let journal: Journal
    private let key: UInt64
    /// The number to go on from.
    package private(set) var position: UInt64

    /// A reader that begins with this number.
    package init(_ journal: Journal, from seq: UInt64) {
        self.journal = journal
        key = journal.newKey()
        position = seq
    }

    /// Lets `next` return an empty part, if it waits.
    var waker: @Sendable () -> Void { { [journal, key] in journal.wake(key) } }

    /// The next part, with events or with the number of lost ones.
    ///
    /// It is empty if the reader was woken, and `nil` after the journal's end, or if the task is cancelled.
    package mutating func next(limit: Int = 1000) async -> Journal.Slice? {
        guard !Task.isCancelled else { return nil }
        guard await journal.changed(from: position, key: key) || !(journal.isEnded || Task.isCancelled) else {
            return nil
        }
        let slice = journal.read(from: position, limit: limit)
        position = slice.next
        return slice
    }
}
