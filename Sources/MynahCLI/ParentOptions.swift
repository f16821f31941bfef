import ArgumentParser
import MynahControl
import MynahRun
import MynahSupport

import Glibc

/// The options of a command that another program starts for its own use, and that ends with that program.
struct ParentOptions {
    var withParent: Bool
    var withPipe: Int32?

    /// Parses the number of a file descriptor.
    @Sendable static func pipe(_ text: String) throws -> Int32 {
        let descriptor = try Choice.number(text, in: 0...Int32.max)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw ValidationError("it is not open: the program that starts this one has to pass it on")
        }
        guard [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT) else {
            throw ValidationError("it is neither a pipe nor a socket, whose other end can be closed")
        }
        return descriptor
    }

    /// Interrupts the command when its parent process has ended, or its pipe is closed.
    func follow(in surroundings: Surroundings) {
        // A command without a process of its own has no parent process.
        guard surroundings.texts == nil else { return }
        let end: @Sendable (String) -> Void = { reason in
            surroundings.say(reason)
            surroundings.interruption.interrupt(by: .terminated)
        }
        var ends: [WatchedEnd] = []
        if let withPipe {
            ends.append(WatchedEnd(withPipe, 0, "the pipe of --with-pipe is closed"))
        }
        if withParent {
            switch ParentProcess.find() {
            case .running(let descriptor):
                ends.append(
                    WatchedEnd(
                        descriptor, Int16(POLLIN),
                        "the process that started this one has ended (--with-parent)"))
            case .ended(let reason): return end(reason)
            case .unknown(let reason):
                surroundings.say("warning: --with-parent has no effect: \(reason)")
            }
        }
        if !ends.isEmpty, !WatchedEnd.wait(for: ends, end) {
            surroundings.say(
                "warning: --with-parent and --with-pipe have no effect: no thread could be started for them")
        }
    }

    /// A directory that a run has created for the socket of its control API.
    struct MadeDirectory {
        fileprivate var path: String

        /// Removes the directory, if it is empty.
        func remove() { rmdir(path) }
    }

    /// Creates the directory for the control API's socket; returns `nil` if it existed.
    ///
    /// If this fails, the error is reported when the socket is created.
    func makeDirectory(for control: ControlPlan?) -> MadeDirectory? {
        guard withParent || withPipe != nil, case .unix(let path)? = control?.address else { return nil }
        let directory = Directory.parent(of: path)
        return mkdir(directory, 0o700) == 0 ? MadeDirectory(path: directory) : nil
    }
}

/// A file descriptor whose events show that a process has ended or a pipe was closed, and a message about it.
private struct WatchedEnd: Sendable {
    private var descriptor: Int32
    private var events: Int16
    private var reason: String

    /// Makes a watch for events; hangups and errors are always included.
    init(_ descriptor: Int32, _ events: Int16, _ reason: String) {
        (self.descriptor, self.events, self.reason) = (descriptor, events, reason)
    }

    /// Calls `body` once, with the message of the first process or pipe that ends.
    ///
    /// Returns `false` if no thread can be started.
    static func wait(for ends: [WatchedEnd], _ body: @escaping @Sendable (String) -> Void) -> Bool {
        SystemThread.attempt {
            SystemThread.blockSignals()
            var polled = ends.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
            while poll(&polled, nfds_t(polled.count), -1) < 0 {
                guard errno == EINTR else { return }
            }
            if let first = polled.firstIndex(where: { $0.revents != 0 }) { body(ends[first].reason) }
        }
    }
}

/// The process that has started this one.
private enum ParentProcess {
    private typealias SystemCall = @convention(c) (Int, Int, Int) -> Int

    case running(descriptor: Int32)
    case ended(String)
    case unknown(String)

    /// Finds the parent process, and opens a descriptor of it.
    ///
    /// The descriptor becomes readable when the process has ended.
    ///
    /// The kernel's signal for this, PR_SET_PDEATHSIG, is sent when the thread that started this process
    /// ends. That may be before the end of the parent process.
    static func find() -> ParentProcess {
        let parent = getppid()
        guard parent != 0 else {
            return .unknown("the process that started this one is in another PID namespace")
        }
        let descriptor = open(parent)
        let number = errno
        // The parent may have ended meanwhile, and its number may belong to another process.
        guard getppid() == parent, !isAdopter(parent) else {
            if descriptor >= 0 { close(descriptor) }
            return .ended("the process that started this one has ended (--with-parent)")
        }
        guard descriptor >= 0 else {
            return .unknown(
                number == ENOSYS
                    ? "this kernel cannot tell when a process has ended, as Linux 5.3 and later can"
                    : "the process that started this one cannot be watched: "
                        + String(cString: strerror(number)))
        }
        return .running(descriptor: descriptor)
    }

    /// Whether the parent has adopted this process, after the process that started it had ended.
    ///
    /// Process 1, or the nearest ancestor that requested this, such as a user's systemd, adopts such a
    /// process. A process is in the session of the process that started it, which may be process 1, for
    /// example in a container. If this process leads a session, the result is `false`, because this cannot be
    /// determined.
    private static func isAdopter(_ parent: pid_t) -> Bool {
        let own = getsid(0)
        guard own != getpid() else { return false }
        let session = getsid(parent)
        return session < 0 ? errno == ESRCH : session != own
    }

    /// Opens a descriptor of a process, or returns -1 and sets `errno`.
    ///
    /// C libraries have pidfd_open(2) only since glibc 2.36.
    private static func open(_ process: pid_t) -> Int32 {
        guard let address = dlsym(nil, "syscall") else {
            errno = ENOSYS
            return -1
        }
        // The number of the system call is the same on every architecture.
        return Int32(unsafeBitCast(address, to: SystemCall.self)(434, Int(process), 0))
    }
}
