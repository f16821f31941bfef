public import Glibc

/// A value that only one thread at a time can use.
///
/// The lock is a POSIX mutex, because ThreadSanitizer knows it and reports false races for
/// `Synchronization.Mutex`.
public final class Lock<Value>: @unchecked Sendable {
    // `@unchecked`: the memory at `value` is read and written only between `pthread_mutex_lock` and
    // `…_unlock`. It is a pointer, because Swift would check each access to a stored property for
    // exclusivity.
    @usableFromInline let value: UnsafeMutablePointer<Value>
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>

    /// Makes a lock that owns `value` from now on.
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

    /// Runs `body` with the value while no other thread can use it; `body` must not lock it again.
    @inlinable public func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}
