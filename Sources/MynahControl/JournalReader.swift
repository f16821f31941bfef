/// Reads a journal from a number on, and waits at its end.
package struct JournalReader: Sendable {
    private let journal: Journal
    private let key: UInt64
    private var place: Journal.Place
    /// How often the journal had changed otherwise than by an event, or `nil` if that is not noticed.
    private var changes: UInt64?

    /// The number to go on from.
    package var position: UInt64 { place.seq }
    /// The epoch of the journal that the position is in.
    package var epoch: String { place.epoch }

    /// A reader that begins with this number, of an epoch if the journal may have begun anew since.
    ///
    /// With `noticesChanges`, changes that are no events end its waiting as well; `takeChange` reports them.
    package init(
        _ journal: Journal, from seq: UInt64, of epoch: String? = nil, noticesChanges: Bool = false
    ) {
        self.journal = journal
        key = journal.newKey()
        place = journal.place(of: seq, in: epoch)
        changes = noticesChanges ? 0 : nil
    }

    /// Whether something changed that is no event since the last call, or ever before the first one.
    package mutating func takeChange() -> Bool {
        guard let known = changes else { return false }
        let now = journal.changes
        changes = now
        return now != known
    }

    /// Lets `next` return an empty part, if it waits.
    var waker: @Sendable () -> Void { { [journal, key] in journal.wake(key) } }

    /// Returns the next part, with events or with the number of lost ones.
    ///
    /// The part is empty if the reader was woken. It is `nil` after the journal's end, or if the task is
    /// cancelled. After the journal has begun anew, the reader returns the remaining old events, and then
    /// goes on with the first new one. If the journal has begun anew twice, it returns the number of missed
    /// events instead.
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
        // A reader that has much to catch up with lets others go on.
        if slice.entries.count == limit { await Task.yield() }
        return slice
    }
}
