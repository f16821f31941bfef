import ArgumentParser
import MynahControl
import MynahRun
import MynahSupport

import Glibc

/// The option of a run that another program has started for itself.
struct ParentOptions: ParsableArguments {
    @Flag(
        help: """
            Ends the run, as SIGTERM would, when the process that started it has ended, however that ended. \
            It also makes the directory of --control unix:PATH if it is missing, and then removes it at the \
            end, if nothing else is in it.
            """)
    var withParent = false

    /// Interrupts a command when the process that started this one has ended.
    func follow(in surroundings: Surroundings) {
        // A command on a stage has no process of its own.
        guard withParent, surroundings.texts == nil else { return }
        let obstacle = ParentProcess.whenEnded {
            surroundings.say("the process that started this one has ended (--with-parent)")
            surroundings.interruption.interrupt(by: .terminated)
        }
        if let obstacle { surroundings.say("warning: --with-parent has no effect: \(obstacle)") }
    }

    /// A directory that a run has made for the socket of its control API.
    struct MadeDirectory {
        fileprivate var path: String

        /// Removes it, unless something is in it.
        func remove() { rmdir(path) }
    }

    /// Makes the directory of the control API's socket; returns `nil` if it was there.
    ///
    /// If it cannot be made, the socket cannot either, and that is the error.
    func makeDirectory(for control: ControlPlan?) -> MadeDirectory? {
        guard withParent, case .unix(let path)? = control?.address else { return nil }
        let directory = Directory.parent(of: path)
        return mkdir(directory, 0o700) == 0 ? MadeDirectory(path: directory) : nil
    }
}

/// The process that has started this one.
private enum ParentProcess {
    private typealias SystemCall = @convention(c) (Int, Int, Int) -> Int

    /// Calls `body` once, when it has ended; returns why that cannot be known, or `nil`.
    ///
    /// The kernel's signal for this, PR_SET_PDEATHSIG, comes when the thread that started this process ends.
    /// A process descriptor becomes readable when the process has ended.
    static func whenEnded(_ body: @escaping @Sendable () -> Void) -> String? {
        let parent = getppid()
        guard parent != 0 else { return "the process that started this one is in another PID namespace" }
        let descriptor = open(parent)
        let number = errno
        // It has ended meanwhile, and its number may be another process's.
        guard getppid() == parent else {
            if descriptor >= 0 { close(descriptor) }
            body()
            return nil
        }
        guard descriptor >= 0 else {
            return number == ENOSYS
                ? "this kernel cannot tell when a process has ended, as Linux 5.3 and later can"
                : "the process that started this one cannot be watched: \(String(cString: strerror(number)))"
        }
        let isWatched = SystemThread.attempt {
            SystemThread.blockSignals()
            var end = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            while poll(&end, 1, -1) < 0 {
                guard errno == EINTR else { return }
            }
            body()
        }
        if !isWatched { close(descriptor) }
        return isWatched ? nil : "no thread could be started for it"
    }

    /// A descriptor of a process, or -1 and `errno`: pidfd_open(2), which C libraries have since glibc 2.36.
    private static func open(_ process: pid_t) -> Int32 {
        guard let address = dlsym(nil, "syscall") else {
            errno = ENOSYS
            return -1
        }
        // The same number on every architecture.
        return Int32(unsafeBitCast(address, to: SystemCall.self)(434, Int(process), 0))
    }
}
