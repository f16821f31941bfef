import Dispatch
import Mynah
import MynahRun
import MynahSupport

import Glibc

/// The source of the commands for `mynah connect`: options, a prompt, or a pipe.
///
/// A pipe is read only after the earlier lines were carried out, so that its writer waits and no lines pile
/// up.
final class ConnectInput: ConnectLines {
    private let commands: Lock<[String]>
    private let feed: LineFeed
    private let terminal: LineTerminal?

    /// Makes an input; `texts`, if given, provides the lines instead of standard input.
    init(commands: [String], terminal: LineTerminal?, in texts: Surroundings.Texts?) {
        self.commands = Lock(commands.reversed())
        self.terminal = terminal
        feed = terminal?.lines ?? texts?.input ?? LineFeed()
        guard terminal == nil else { return }
        guard commands.isEmpty else {
            feed.finish()
            return
        }
        guard texts == nil else { return }
        // A separate thread, because reading standard input blocks.
        let queue = DispatchQueue(label: "mynah.input")
        feed.onEmpty { [feed] in queue.async { Self.read(into: feed) } }
    }

    /// Reads standard input until the waiting caller has its line.
    private static func read(into feed: LineFeed) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while feed.isAwaited {
            let count = Glibc.read(0, &buffer, buffer.count)
            let code = errno
            switch count {
            case 1...: feed.add(Array(buffer[..<count]))
            case 0: feed.finish()
            default:
                switch code {
                case EINTR: continue
                case EAGAIN:
                    var ready = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
                    _ = poll(&ready, 1, -1)
                // The kernel does not stop the process, because this thread blocks signals.
                case EIO where isatty(0) == 1 && !Keyboard.isInForeground:
                    feed.fail(
                        "a program in the background cannot read the terminal; use --command, or start it "
                            + "in the foreground")
                default: feed.fail(String(cString: strerror(code)))
                }
            }
        }
    }

    /// Whether the commands after a failed one are still carried out, which is so only at a prompt.
    var continuesAfterFailure: Bool { terminal != nil }

    func begin(_ device: String, services: @escaping @Sendable () -> [DiscoveredService]) {
        guard let terminal else { return }
        // A plain terminal edits its lines itself, and completes none.
        terminal.print("help lists commands" + (Descriptor.isScreen ? ", Tab completes them" : ""))
        terminal.begin(prompt: device) { ConnectRequest.completions(of: $0, in: services()) }
    }

    func next() async throws(ConnectRequest.Problem) -> String? {
        if let command = commands.withLock({ $0.popLast() }) { return command }
        return try await feed.next()
    }

    func end() {
        commands.withLock { $0 = [] }
        feed.close()
    }
}
