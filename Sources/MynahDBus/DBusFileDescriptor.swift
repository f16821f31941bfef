import Glibc

/// A file descriptor that closes itself when this object is released.
public final class DBusFileDescriptor: Sendable, Hashable {
    /// The number of the descriptor, valid as long as this object exists.
    public let rawValue: Int32

    /// Takes ownership of `rawValue`, which no other code may close afterwards.
    public init(owning rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Duplicates `rawValue`, and takes ownership of the duplicate.
    public init(duplicating rawValue: Int32) throws(DBusError) {
        let copy = fcntl(rawValue, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else {
            throw DBusError(.failed, "a file descriptor could not be duplicated (errno \(errno))")
        }
        self.rawValue = copy
    }

    deinit {
        if rawValue >= 0 { close(rawValue) }
    }

    /// Whether both are the same object.
    public static func == (left: DBusFileDescriptor, right: DBusFileDescriptor) -> Bool {
        left === right
    }

    /// Hashes the number.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(rawValue)
    }
}
