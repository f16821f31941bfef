/// Values that are made when they are first asked for, and kept.
@usableFromInline package final class MadeOnce<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline let made = Lock<[Key: Value]>([:])
    @usableFromInline let make: @Sendable (Key) -> Value?

    /// `make` returns `nil` for a key that has no value, and is asked again for it.
    ///
    /// A lock is held while it runs, so it must not ask for a value of the same table.
    @inlinable package init(_ make: @escaping @Sendable (Key) -> Value?) { self.make = make }

    @inlinable package subscript(key: Key) -> Value? {
        made.withLock { made in
            if let value = made[key] { return value }
            let value = make(key)
            made[key] = value
            return value
        }
    }
}
