public import Glibc

/// A value that one thread at a time may touch.
///
/// A POSIX mutex rather than `Synchronization.Mutex`: ThreadSanitizer knows it, and reports false races for
/// the other.
public final class Lock<Value>: @unchecked Sendable {
    // `@unchecked`: what `value` points to is read and written only between `pthread_mutex_lock` and
    // `…_unlock`. A pointer, because who has the lock is alone, which need not be checked at each access once
    // more.
    @usableFromInline let value: UnsafeMutablePointer<Value>
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>

    /// Guards `value`, which the lock owns from now on.
    public init(_ value: sending Value) {
        self.value = .allocate(capacity: 1)
        self.value.initialize(to: value)
        mutex = .allocate(capacity: 1)
        let code = pthread_mutex_init(mutex, nil)
        precondition(code == 0, "a mutex could not be made")
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
        value.deinitialize(count: 1)
        value.deallocate()
    }

    /// Runs `body` alone with the value; do not lock again inside it.
    @inlinable public func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}
