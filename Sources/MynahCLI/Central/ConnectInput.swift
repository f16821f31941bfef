import Dispatch
import MynahSupport

/// Where the lines for `mynah connect` come from: options, a prompt, or a pipe.
final class ConnectInput: Sendable {
    /// The lines, in order.
    let lines: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation?
    private let terminal: LineTerminal?

    init(commands: [String], terminal: LineTerminal?) {
        self.terminal = terminal
        if let terminal {
            lines = terminal.lines
            continuation = nil
            return
        }
        let (lines, continuation) = AsyncStream<String>.makeStream()
        self.lines = lines
        self.continuation = continuation
        guard commands.isEmpty else {
            for command in commands { continuation.yield(command) }
            continuation.finish()
            return
        }
        // A thread of its own: standard input blocks, and may be any file.
        DispatchQueue(label: "mynah.input").async {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
    }

    /// No more lines are wanted.
    func end() {
        continuation?.finish()
        terminal?.finish()
    }
}
