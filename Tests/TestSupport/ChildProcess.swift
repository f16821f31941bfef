import Dispatch
public import Glibc
import MynahSupport

/// A process that a test has started and ends by its identifier; it ends with the test process, however that
/// ends.
public final class ChildProcess: Sendable {
    /// How it ended.
    public enum Status: Hashable, Sendable {
        /// By itself, with this code.
        case exited(Int32)
        /// By this signal.
        case killed(Int32)
    }

    /// The process identifier.
    public let identifier: pid_t
    private let name: String
    private let status = Lock<Status?>(nil)

    /// Starts `name`, looked up in PATH, with descriptors of ours as descriptors of its own, and with these
    /// variables beside ours (nil: without it); nil when it cannot be started.
    ///
    /// Standard input is empty, and standard output and error are unseen, unless passed. No signal is blocked
    /// or ignored in it.
    public init?(
        _ name: String, _ arguments: [String], passing descriptors: KeyValuePairs<Int32, Int32> = [:],
        environment: [String: String?] = [:]
    ) {
        guard let identifier = Spawn.start(name, arguments, passing: descriptors, environment) else {
            return nil
        }
        self.identifier = identifier
        self.name = ([name] + arguments).joined(separator: " ")
        Watchdog.shared.add(identifier)
    }

    deinit { stop() }

    /// Sends a signal, unless it has ended.
    public func send(_ signal: Int32) {
        status.withLock { status in
            if status == nil { kill(identifier, signal) }
        }
    }

    /// Ends the process and waits for it; once.
    public func stop() {
        status.withLock { status in
            guard status == nil else { return }
            kill(identifier, SIGKILL)
            status = reap()
        }
    }

    /// Returns when it has ended, without holding up other tests.
    ///
    /// A process that does not end is killed, and the wait fails.
    @discardableResult
    public func end() async throws -> Status {
        do {
            return try await waiting(for: "the end of \(name)") { waiter in
                DispatchQueue(label: "mynah.child").async { [self] in
                    var information = siginfo_t()
                    // Not reaped here: until then the identifier is nobody else's.
                    while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) < 0, errno == EINTR
                    {}
                    let ended = status.withLock { status in
                        let ended = status ?? reap()
                        status = ended
                        return ended
                    }
                    waiter.resume(returning: ended)
                }
            }
        } catch {
            stop()
            throw error
        }
    }

    private func reap() -> Status {
        var code: Int32 = 0
        while waitpid(identifier, &code, 0) < 0, errno == EINTR {}
        Watchdog.shared.remove(identifier)
        return code & 0x7F == 0 ? .exited(code >> 8 & 0xFF) : .killed(code & 0x7F)
    }
}

/// Makes a pipe of which no process of another test inherits an end, and returns 0, or -1 if it cannot.
package func makePipe(_ ends: inout [Int32]) -> Int32 {
    Spawn.turn.withLock { _ in
        let code = pipe(&ends)
        for end in ends where code == 0 { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return code
    }
}

/// `posix_spawnp`, and pipes that no other child inherits.
enum Spawn {
    /// Held while a pipe is made and while a process is started: a child would inherit an end that is not yet
    /// close-on-exec, and its reader would wait for that child.
    fileprivate static let turn = Lock(())

    static func pipe() -> (reader: Int32, writer: Int32)? {
        var ends: [Int32] = [-1, -1]
        return makePipe(&ends) == 0 ? (ends[0], ends[1]) : nil
    }

    static func start(
        _ name: String, _ arguments: [String], passing descriptors: KeyValuePairs<Int32, Int32>,
        _ environment: [String: String?] = [:]
    ) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        // A test's output is its own; what went wrong shows in what the process does.
        for descriptor: Int32 in 1...2 {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
        }
        for (ours, its) in descriptors { posix_spawn_file_actions_adddup2(&actions, ours, its) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Threads that run tests block signals, and a child would inherit that.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var all = sigset_t()
        sigemptyset(&all)
        // Numbers above 31 belong to the C library.
        for signal in Int32(1)...31 { sigaddset(&all, signal) }
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var words = strings([name] + arguments)
        var variables = strings(variables(with: environment))
        defer { for pointer in words + variables { free(pointer) } }
        return turn.withLock { _ in
            var identifier = pid_t()
            let code = posix_spawnp(&identifier, name, &actions, &attributes, &words, &variables)
            return code == 0 ? identifier : nil
        }
    }

    private static func strings(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        texts.map { strdup($0) } + [nil]
    }

    private static func variables(with changes: [String: String?]) -> [String] {
        var variables: [String] = []
        var next = environ
        while let pointer = next.pointee {
            let text = String(cString: pointer)
            if !changes.keys.contains(where: { text.hasPrefix($0 + "=") }) { variables.append(text) }
            next += 1
        }
        return variables + changes.compactMap { name, value in value.map { "\(name)=\($0)" } }
    }
}
