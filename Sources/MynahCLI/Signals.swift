import MynahRun
import MynahSupport

import Glibc

// The kernel may interrupt any thread, because Dispatch keeps a thread that blocks no signal. So blocking the
// signals in the other threads and waiting for them would end the process. Instead the handler writes the
// signal's number to this pipe.
private let arrivals: (read: Int32, write: Int32) = {
    var ends: [Int32] = [-1, -1]
    return pipe(&ends) == 0 ? (ends[0], ends[1]) : (-1, -1)
}()

private func tellOfArrival(_ number: Int32) {
    let before = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(arrivals.write, &byte, 1)
    errno = before
}

private func nextArrival() -> Int32 {
    var byte: UInt8 = 0
    while read(arrivals.read, &byte, 1) != 1 {}
    return Int32(byte)
}

/// Handles the signals that end the command, and those that stop and continue the process.
final class Signals: Sendable {
    /// The object through which a signal interrupts the run.
    let interruption: Interruption
    private let terminal = Lock<TerminalUse?>(nil)

    init(_ interruption: Interruption) {
        self.interruption = interruption
        signal(SIGPIPE, SIG_IGN)
        let ends = arrivals
        precondition(ends.read >= 0, "no pipe for signals could be made")
        for number in [SIGINT, SIGTERM] { signal(number, tellOfArrival) }
        Self.hearUnlessIgnored(SIGHUP)
        var thread = pthread_t()
        let box = Unmanaged.passRetained(self)
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                let signals = Unmanaged<Signals>.fromOpaque(context).takeRetainedValue()
                Signals.unblock([SIGINT, SIGTERM])
                let first = signals.nextEnd()
                signals.interruption.interrupt(by: first == SIGINT ? .quit : .terminated)
                // A second signal ends the process at once, even while services are being withdrawn.
                let number = signals.nextEnd()
                signals.terminal.withLock { $0 }?.giveBack()
                _exit(128 + number)
            }, box.toOpaque())
        precondition(code == 0, "the signal thread could not be started")
        pthread_detach(thread)
    }

    /// Functions that restore the terminal before the process ends or stops, and set it again when it
    /// continues.
    ///
    /// The terminal must be set again because a shell changes its settings in the meantime.
    struct TerminalUse: Sendable {
        var giveBack: @Sendable () -> Void
        var takeAgain: @Sendable () -> Void
    }

    /// Sets the functions that restore and set the terminal, which are called on a separate thread.
    func looksAfter(_ use: TerminalUse) {
        terminal.withLock { $0 = use }
        for number in [SIGTSTP, SIGCONT] { Self.hearUnlessIgnored(number) }
    }

    /// Handles a signal, unless the process was started with the signal ignored, as `nohup` does with SIGHUP.
    private static func hearUnlessIgnored(_ number: Int32) {
        let before = signal(number, SIG_IGN)
        // Functions cannot be compared.
        if unsafeBitCast(before, to: Int.self) != unsafeBitCast(SIG_IGN, to: Int.self) {
            signal(number, tellOfArrival)
        }
    }

    /// Unblocks signals on this thread, even if the process was started with them blocked.
    private static func unblock(_ numbers: [Int32]) {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in numbers { sigaddset(&signals, number) }
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    /// Waits for the next signal that ends the run, and handles other signals until then.
    private func nextEnd() -> Int32 {
        while true {
            let number = nextArrival()
            let use = terminal.withLock { $0 }
            switch number {
            case SIGTSTP:
                use?.giveBack()
                stop()
                use?.takeAgain()
            // The process may have been stopped by SIGSTOP, which cannot be handled.
            case SIGCONT: use?.takeAgain()
            default: return number
            }
        }
    }

    /// Stops the process with SIGTSTP, which the kernel ignores if no shell could continue it.
    private func stop() {
        Self.unblock([SIGTSTP])
        signal(SIGTSTP, SIG_DFL)
        pthread_kill(pthread_self(), SIGTSTP)
        signal(SIGTSTP, tellOfArrival)
    }
}
