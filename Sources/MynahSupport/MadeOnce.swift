/// A table that makes the value of a key when it is first used, and keeps it.
@usableFromInline package final class MadeOnce<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline let made = Lock<[Key: Value]>([:])
    @usableFromInline let make: @Sendable (Key) -> Value?

    /// Makes a table whose values come from `make`.
    ///
    /// If `make` returns `nil`, the key has no value, and `make` is called again at its next use.
    ///
    /// A lock is held while `make` runs, so `make` must not use the same table.
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
