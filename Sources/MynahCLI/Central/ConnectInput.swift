import MynahConsole
import MynahSupport

/// The source of the commands for `mynah connect`: options, a prompt, or a pipe.
///
/// A line of a pipe is read when those before it are carried out.
final class ConnectInput: Sendable {
    private let commands: Lock<[String]>
    private let feed: LineFeed

    init(commands: [String], terminal: LineTerminal?) {
        self.commands = Lock(commands.reversed())
        feed = terminal?.lines ?? (commands.isEmpty ? StandardInput.lines() : LineFeed())
        if terminal == nil, !commands.isEmpty { feed.finish() }
    }

    /// The next line; `nil` at the end.
    func next() async throws(ConnectRequest.Problem) -> String? {
        if let command = commands.withLock({ $0.popLast() }) { return command }
        return try await feed.next()
    }

    /// No more lines are wanted.
    func end() {
        commands.withLock { $0 = [] }
        feed.close()
    }
}
