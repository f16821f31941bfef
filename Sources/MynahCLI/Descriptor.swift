import MynahConsole
import MynahSupport

import Glibc

/// The file descriptors of standard input, output and error.
enum Descriptor {
    private static let outputWasClosed = Lock(false)

    /// Opens /dev/null for each of standard input, output and error that is closed.
    ///
    /// Otherwise the next opened file would get its number, and output would be written to that file.
    static func openStandardOnes() {
        for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 {
            if descriptor == 1 { outputWasClosed.withLock { $0 = true } }
            _ = open("/dev/null", O_RDWR)
        }
    }

    /// Whether standard output was closed when the program was started.
    static var isOutputClosed: Bool { outputWasClosed.withLock { $0 } }

    /// Whether standard output is a terminal that can move its cursor and has an alternate screen.
    static var isScreen: Bool {
        isatty(1) == 1 && TerminalType.takesEscapes(getenv("TERM").map { String(cString: $0) })
    }

    /// Writes all bytes; returns the error number if that fails.
    @discardableResult
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            let code = errno
            if count < 0, code == EINTR { continue }
            if count < 0, code == EAGAIN {
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&ready, 1, -1)
                continue
            }
            guard count > 0 else { return code }
            rest = rest.dropFirst(count)
        }
        return nil
    }
}

/// The standard output of commands that end by themselves.
enum StandardOutput {
    private static let failure = Lock<Int32?>(nil)

    /// Whether nothing more is written, because a write has failed or the reader has closed the output.
    static var isOver: Bool { failure.withLock { $0 } != nil }

    /// Waits until the reader has closed standard output, or the task is cancelled.
    static func waitUntilClosed() async {
        let (closing, closed) = AsyncStream.makeStream(of: Void.self)
        // If no thread can be started, the output ends when a write fails.
        _ = SystemThread.attempt {
            SystemThread.blockSignals()
            // poll(2) always reports errors and hangups.
            var output = pollfd(fd: 1, events: 0, revents: 0)
            while poll(&output, 1, -1) < 0 {
                guard errno == EINTR else { return }
            }
            closed.finish()
        }
        for await _ in closing {}
    }

    /// Writes a text; after a failure, nothing more is written.
    static func print(_ text: String, terminator: String = "\n") {
        failure.withLock { failure in
            guard failure == nil else { return }
            failure =
                Descriptor.isOutputClosed ? EBADF : Descriptor.write(Array((text + terminator).utf8), to: 1)
        }
    }

    /// The error that ended the output, or `nil` if there is none.
    ///
    /// If the reader has closed the output, this is no error.
    static var problem: String? {
        guard let code = failure.withLock({ $0 }), code != EPIPE else { return nil }
        return String(cString: strerror(code))
    }
}
