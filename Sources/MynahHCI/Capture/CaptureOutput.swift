import Glibc
import MynahCore
import MynahSupport

/// The file descriptor of a capture, with its system calls.
///
/// One thread writes, and other threads wake it.
final class CaptureOutput: Sendable {
    enum Outcome: Equatable {
        case done
        /// The reader of the pipe does not read, although the capture must end.
        case unread
        /// The reader has closed the pipe.
        case closed
        case failed(String)
    }

    private let descriptor: Int32
    /// `true` if this object has opened the descriptor, and must close it.
    private let isOurs: Bool
    private let isRegular: Bool
    private let wakes: (reading: Int32, writing: Int32)
    private let ends: (reading: Int32, writing: Int32)

    /// The time for which a pipe may remain unread when the capture must end, in milliseconds.
    private static let patience: Int32 = 1000
    /// The least free space of a writable pipe, so that a write of this size does not block (PIPE_BUF).
    private static let pipeRoom = 4096

    /// The most bytes in one write.
    var batchSize: Int { isRegular ? 65536 : Self.pipeRoom }

    /// Opens a file and truncates it; throws an error if another capture is being written to the file.
    convenience init(path: String) throws(RadioError) {
        // The file is truncated later, after it is certain that no other capture is being written to it.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0o600)
        guard descriptor >= 0 else {
            let code = errno
            throw RadioError(
                .captureFailed, "the capture \(path) cannot be opened: \(String(cString: strerror(code)))",
                remedy: code == ENXIO ? "start the program that reads it first" : nil)
        }
        guard !Self.isRegular(descriptor) || flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
        else {
            systemClose(descriptor)
            throw RadioError(
                .captureFailed,
                "the capture \(path) cannot be opened: another capture is being written to it",
                remedy: "give each command a file of its own")
        }
        do throws(RadioError) {
            try self.init(descriptor, isOurs: true)
        } catch {
            systemClose(descriptor)
            throw error
        }
        if isRegular { _ = ftruncate(descriptor, 0) }
    }

    private static func isRegular(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Makes an output for a descriptor that the caller owns and closes.
    convenience init(borrowing descriptor: Int32) throws(RadioError) {
        try self.init(descriptor, isOurs: false)
    }

    private init(_ descriptor: Int32, isOurs: Bool) throws(RadioError) {
        wakes = try Self.pipe()
        do throws(RadioError) {
            ends = try Self.pipe()
        } catch {
            for end in [wakes.reading, wakes.writing] { systemClose(end) }
            throw error
        }
        self.descriptor = descriptor
        self.isOurs = isOurs
        isRegular = Self.isRegular(descriptor)
    }

    deinit {
        for end in [wakes.reading, wakes.writing, ends.reading] { systemClose(end) }
    }

    private static func pipe() throws(RadioError) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else {
            let code = errno
            throw RadioError(
                .captureFailed, "the capture cannot be written: \(String(cString: strerror(code)))",
                remedy: code == EMFILE ? OpenFiles.remedy : nil)
        }
        for end in ends { Descriptor.prepare(end) }
        return (ends[0], ends[1])
    }

    // MARK: - For other threads

    /// Ends `sleep`, and makes `write` check whether the capture must end.
    func wake() { _ = systemWrite(wakes.writing, [0]) }

    /// Waits until the writing thread has closed the output; returns `false` if the time elapses first.
    func waitForEnd(milliseconds: Int32) -> Bool {
        var end = pollfd(fd: ends.reading, events: Int16(POLLIN), revents: 0)
        return poll(&end, 1, milliseconds) > 0
    }

    // MARK: - For the writing thread

    /// Closes the output; no other call may follow.
    func close() {
        if isOurs { systemClose(descriptor) }
        systemClose(ends.writing)
    }

    /// Waits for `wake`, or until the reader has closed the pipe.
    func sleep() -> Outcome {
        let (ready, _) = wait(for: 0, -1)
        return ready == 0 ? .done : .closed
    }

    /// Writes whole blocks.
    ///
    /// If `isEnding` returns `true`, gives up after waiting a second for the reader.
    func write(_ bytes: [UInt8], _ isEnding: () -> Bool) -> Outcome {
        var rest = bytes[...]
        while !rest.isEmpty {
            let (ready, isOverdue) = wait(for: Int16(POLLOUT), isEnding() ? Self.patience : -1)
            if isOverdue { return .unread }
            guard ready != 0 else { continue }
            let piece = rest.prefix(batchSize)
            let count = piece.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else {
                let code = count < 0 ? errno : EIO
                if code == EPIPE || code == ECONNRESET { return .closed }
                withdrawPartialBlock(bytes[..<rest.startIndex])
                return .failed(String(cString: strerror(code)))
            }
            rest = rest.dropFirst(count)
        }
        return .done
    }

    /// Waits for events of the descriptor.
    ///
    /// Returns the events, and whether the time elapsed without an event or a call of `wake`.
    private func wait(for events: Int16, _ milliseconds: Int32) -> (ready: Int16, isOverdue: Bool) {
        var waits = [
            pollfd(fd: descriptor, events: events, revents: 0),
            pollfd(fd: wakes.reading, events: Int16(POLLIN), revents: 0),
        ]
        let count = poll(&waits, 2, milliseconds)
        if waits[1].revents != 0 {
            var buffer = [UInt8](repeating: 0, count: 64)
            _ = systemRead(wakes.reading, &buffer)
        }
        return (waits[0].revents, count == 0)
    }

    /// Removes the last block of the file if the disk was full before the whole block was written.
    private func withdrawPartialBlock(_ written: ArraySlice<UInt8>) {
        let part = written.count - Pcapng.wholeBlocks(in: written)
        guard isRegular, part > 0 else { return }
        let end = lseek(descriptor, 0, SEEK_CUR)
        if end >= part { _ = ftruncate(descriptor, end - off_t(part)) }
    }
}
