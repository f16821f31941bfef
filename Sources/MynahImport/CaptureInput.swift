import Glibc

/// Reads the file to import.
package enum CaptureInput {
    /// The size limit, in bytes; a phone's log of a day is smaller.
    package static let maximumSize = 256 << 20

    /// The bytes of a regular file.
    package static func contents(of path: String) throws(ImportProblem) -> [UInt8] {
        // A pipe that nobody writes to must not be waited for.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw ImportProblem("cannot be read: \(reason)") }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw ImportProblem("cannot be read: \(reason)") }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw ImportProblem("is a folder; name a capture in it")
        default: throw ImportProblem("is not a regular file; write it to a file first")
        }
        guard status.st_size <= maximumSize else { throw tooLarge }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(status.st_size))
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw ImportProblem("cannot be read: \(reason)") }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= maximumSize else { throw tooLarge }
        }
    }

    private static var tooLarge: ImportProblem {
        ImportProblem(
            "is larger than \(maximumSize >> 20) MiB; cut it, as in editcap -A TIME -B TIME FILE PART.pcapng")
    }

    private static var reason: String {
        switch errno {
        case ENOENT: "there is no such file"
        case EACCES: "this user may not read it"
        default: String(cString: strerror(errno))
        }
    }
}
