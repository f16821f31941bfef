package import Glibc

/// A file that is open for reading.
///
/// Opening never blocks; a pipe without a writer is read as empty.
package struct InputFile: ~Copyable {
    /// The kind of an open file.
    package enum Kind: Hashable, Sendable {
        case regular, directory
        /// A pipe, a socket or a device.
        case other
    }

    /// The reason why a file cannot be read.
    package enum Problem: Error, Hashable, Sendable {
        /// An error of the system, as its `errno`.
        case system(Int32)
        /// The file is larger than the reader's limit.
        case tooLarge

        /// The error for a path at which there is no file.
        package static var missing: Problem { .system(ENOENT) }

        /// The text of `strerror` for the error, or Mynah's own text for `tooLarge`.
        package var text: String {
            switch self {
            case .system(let number): String(cString: strerror(number))
            case .tooLarge: "it is too large"
            }
        }

        /// The reason for a user: plainer words than `text` for the most common errors, and `text` for the
        /// others.
        package var reason: String {
            switch self {
            case .system(ENOENT): "there is no such file"
            case .system(EACCES): "this user may not read it"
            default: text
            }
        }
    }

    private let descriptor: Int32
    private let status: stat

    /// Opens the file at a path; a symbolic link leads to its target.
    package init(_ path: String) throws(Problem) {
        let opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard opened >= 0 else { throw .system(errno) }
        var status = stat()
        guard fstat(opened, &status) == 0 else {
            let problem = Problem.system(errno)
            close(opened)
            throw problem
        }
        descriptor = opened
        self.status = status
    }

    deinit {
        close(descriptor)
    }

    package var kind: Kind {
        switch status.st_mode & S_IFMT {
        case S_IFREG: .regular
        case S_IFDIR: .directory
        default: .other
        }
    }

    /// The size of a regular file, in bytes.
    package var size: Int { Int(status.st_size) }

    /// The user who owns the file.
    package var owner: uid_t { status.st_uid }

    /// Whether group or other users have any permission on the file.
    package var isOpenToOthers: Bool { status.st_mode & 0o077 != 0 }

    /// Reads the rest of the file.
    ///
    /// - Parameter limit: The largest number of bytes; throws `tooLarge` if there are more.
    package borrowing func read(atMost limit: Int) throws(Problem) -> [UInt8] {
        let bytes = try prefix(limit + 1)
        guard bytes.count <= limit else { throw .tooLarge }
        return bytes
    }

    /// Reads to the end of the file, but at most `count` bytes.
    package borrowing func prefix(_ count: Int) throws(Problem) -> [UInt8] {
        // If a pipe has a writer, the read waits for it.
        if kind == .other { _ = fcntl(descriptor, F_SETFL, 0) }
        var bytes: [UInt8] = []
        if kind == .regular { bytes.reserveCapacity(min(size, count)) }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < count {
            let got = Glibc.read(descriptor, &buffer, min(buffer.count, count - bytes.count))
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw .system(errno) }
            if got == 0 { break }
            bytes += buffer[..<got]
        }
        return bytes
    }
}
