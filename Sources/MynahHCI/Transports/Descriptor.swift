import Glibc
import MynahSupport

/// The system calls on file descriptors.
enum Descriptor {
    /// The result of a call that reads or writes bytes.
    enum Outcome: Equatable {
        case moved(Int)
        /// The call would have blocked.
        case blocked
        /// The peer has closed the connection.
        case ended
        case failed(Int32)
    }

    /// Makes a descriptor non-blocking and close-on-exec.
    static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL, 0) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    /// Opens a socket of this kind, or returns the error.
    static func socket(_ domain: Int32, _ type: Int32, _ number: Int32 = 0) -> Result<Int32, SystemError> {
        let made = systemSocket(domain, type, number)
        guard made >= 0 else { return .failure(SystemError(errno)) }
        prepare(made)
        return .success(made)
    }

    /// `SOCK_STREAM` as `Int32`, because the constant's type differs between C libraries.
    static let stream = 1 as Int32
    static let datagrams = 2 as Int32
    static let raw = 3 as Int32
    static let sequencedPackets = 5 as Int32

    static func receive(_ descriptor: Int32, into buffer: inout [UInt8], flags: Int32 = 0) -> Outcome {
        outcome(recv(descriptor, &buffer, buffer.count, flags), endsAtZero: true)
    }

    static func send(_ descriptor: Int32, _ bytes: [UInt8]) -> Outcome {
        outcome(systemSend(descriptor, bytes), endsAtZero: false)
    }

    static func outcome(_ count: Int, endsAtZero: Bool) -> Outcome {
        if count > 0 || count == 0 && !endsAtZero { return .moved(count) }
        if count == 0 { return .ended }
        switch errno {
        case EAGAIN, EINTR: return .blocked
        case EPIPE, ECONNRESET: return .ended
        default: return .failed(errno)
        }
    }
}

extension Descriptor {
    /// Returns the contents of a file under /proc or /sys, or `nil` if the file cannot be opened.
    static func contents(of path: String) -> String? {
        let descriptor = systemOpen(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { systemClose(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = systemRead(descriptor, &buffer)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
