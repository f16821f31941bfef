public import Glibc
import MynahSupport

/// A process that a test has started and ends by its identifier.
public final class ChildProcess: Sendable {
    /// The process identifier.
    public let identifier: pid_t
    private let isRunning = Lock(true)

    /// Starts `name`, looked up in PATH, with descriptors of ours as descriptors of its own; nil when it cannot be started.
    public init?(_ name: String, _ arguments: [String], passing descriptors: [Int32: Int32] = [:]) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // A test's output is its own; what went wrong shows in what the process does.
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        for (ours, its) in descriptors {
            posix_spawn_file_actions_adddup2(&actions, ours, its)
        }
        var pointers: [UnsafeMutablePointer<CChar>?] = ([name] + arguments).map { strdup($0) } + [nil]
        defer {
            for pointer in pointers {
                free(pointer)
            }
        }
        var identifier = pid_t()
        guard posix_spawnp(&identifier, name, &actions, nil, &pointers, environ) == 0 else { return nil }
        self.identifier = identifier
    }

    deinit { stop() }

    /// Ends the process and waits for it; once.
    public func stop() {
        isRunning.withLock { isRunning in
            guard isRunning else { return }
            isRunning = false
            kill(identifier, SIGKILL)
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        }
    }
}
