/// Reads the events of a journal in order, and waits for new events at its end.
package struct JournalReader: Sendable {
    private let journal: Journal
    private let key: UInt64
    private var place: Journal.Place
    /// The number of changes without an event that were seen, or `nil` if such changes are ignored.
    private var changes: UInt64?

    /// The number of the next event to read.
    package var position: UInt64 { place.seq }
    /// The epoch of the position.
    package var epoch: String { place.epoch }

    /// Makes a reader that begins with the event that has the number `seq`.
    ///
    /// `epoch` is the epoch of this number; it is needed if the journal may have been restarted since. With
    /// `noticesChanges`, changes without an event (`Journal.changes`) also end a waiting call; `takeChange`
    /// reports them.
    package init(
        _ journal: Journal, from seq: UInt64, of epoch: String? = nil, noticesChanges: Bool = false
    ) {
        self.journal = journal
        key = journal.newKey()
        place = journal.place(of: seq, in: epoch)
        changes = noticesChanges ? 0 : nil
    }

    /// Returns whether `Journal.changes` has increased since the last call.
    ///
    /// The first call returns whether it has ever increased. A reader without `noticesChanges` gets `false`.
    package mutating func takeChange() -> Bool {
        guard let known = changes else { return false }
        let now = journal.changes
        changes = now
        return now != known
    }

    /// A function that ends a waiting call of `next`, which then returns an empty slice.
    var waker: @Sendable () -> Void { { [journal, key] in journal.wake(key) } }

    /// Returns the next slice, with events or with the number of lost ones.
    ///
    /// The slice is empty if the reader was woken. It is `nil` after the journal's end, or if the task is
    /// cancelled. After a restart of the journal, the reader returns the remaining old events, and then
    /// continues with the first new one. After two restarts, it returns the number of missed events instead.
    package mutating func next(limit: Int = 1000) async -> Journal.Slice? {
        guard !Task.isCancelled else { return nil }
        guard
            await journal.changed(from: position, key: key, changes: changes, epoch: epoch)
                || !(journal.isEnded || Task.isCancelled)
        else {
            return nil
        }
        let (slice, next) = journal.read(from: place, limit: limit)
        place = next
        // A reader with many unread events lets other tasks run.
        if slice.entries.count == limit { await Task.yield() }
        return slice
    }
}
