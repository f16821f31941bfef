import Glibc

/// A file descriptor with an owner: the last reference closes it.
public final class DBusFileDescriptor: Sendable, Hashable {
    /// The number; valid as long as this object lives.
    public let rawValue: Int32

    /// Takes over `rawValue`, which nobody else may close.
    public init(owning rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Copies `rawValue`, which stays its owner's.
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

    /// The same descriptor object.
    public static func == (left: DBusFileDescriptor, right: DBusFileDescriptor) -> Bool {
        left === right
    }

    /// Hashes the number.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(rawValue)
    }
}
