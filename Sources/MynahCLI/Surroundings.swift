import ArgumentParser
import MynahConsole
import MynahCore
import MynahRun
import MynahSupport

/// The environment of a command: its input and output, its interruption, and its time.
struct Surroundings: Sendable {
    /// The output and input of a command that runs inside another process, for example in a test.
    struct Texts: Sendable {
        /// Receives the text for standard output.
        var output: @Sendable (String) -> Void
        /// Receives the messages for standard error.
        var error: @Sendable (String) -> Void
        /// The lines for standard input.
        var input = LineFeed()
    }

    /// Interrupts the command.
    let interruption = Interruption()
    /// The output and input of a command that runs inside another process, or `nil` if it has a process of
    /// its own.
    let texts: Texts?
    /// The `RunTime` that the command shares with other commands, or `nil` if it has its own.
    private let time: RunTime?

    /// The surroundings of a command with a process of its own.
    static var process: Surroundings { Surroundings(texts: nil, time: nil) }

    /// The surroundings of a command that shares its time and radio range with other commands, as in a test.
    static func stage(_ time: RunTime, _ texts: Texts) -> Surroundings {
        Surroundings(texts: texts, time: time)
    }

    private init(texts: Texts?, time: RunTime?) {
        self.texts = texts
        self.time = time
    }

    /// Begins to handle the signals of the process; returns `nil` if the command has no process of its own.
    func hearSignals() -> Signals? { texts == nil ? Signals(interruption) : nil }

    /// Begins to write log lines of at least this level, and to queue messages and log lines.
    ///
    /// The queue prevents a slow reader from stopping the radio. Does nothing if the command runs inside
    /// another process.
    func beginLogs(_ level: LogLevel) {
        if texts == nil { Logs.begin(level) }
    }

    /// Returns the shared `RunTime`, or makes one for a choice of clock if there is none.
    ///
    /// The new one uses `seed`, or a random seed if `seed` is `nil`.
    func time(_ choice: ClockChoice, seed: UInt64? = nil) -> RunTime {
        time ?? RunTime(choice, seed: seed ?? .random(in: 0...UInt64.max))
    }

    /// Ends a command's `RunTime`, unless the command shares it with other commands.
    func end(_ time: RunTime) {
        if self.time == nil { time.end() }
    }

    // MARK: Texts

    /// Prints a result to standard output.
    func print(_ text: String, terminator: String = "\n") {
        guard let texts else { return StandardOutput.print(text, terminator: terminator) }
        texts.output(text + terminator)
    }

    /// Prints a message to standard error.
    func say(_ message: String) {
        guard let texts else { return StandardError.print(message) }
        texts.error(message)
    }

    /// Prints a warning of a radio to standard error.
    func say(_ warning: RadioWarning) {
        // The warning says that later runs may not find this process, which does not matter for a short
        // command.
        guard warning.code != "airNotWatched" else { return }
        say(warning.isWait ? warning.message : "warning: \(warning.message)")
    }

    /// Makes the output for events; `whenGone` is called once, when the reader has closed the output.
    func eventOutput(whenGone: @escaping @Sendable () -> Void) -> EventOutput {
        texts.map { EventOutput(to: $0.output) } ?? EventOutput(whenGone: whenGone)
    }

    /// Makes the output for events, which interrupts the command when the reader has closed the output.
    func eventOutput() -> EventOutput { eventOutput { [interruption] in interruption.interrupt() } }
}

/// A command that can run in any surroundings.
protocol StagedCommand: AsyncParsableCommand {
    func play(in surroundings: Surroundings) async throws
}

extension StagedCommand {
    func run() async throws { try await play(in: .process) }
}

extension RadioWarning {
    /// Whether the warning only reports that a radio waits, for example for the bus or for a controller.
    var isWait: Bool { code.hasPrefix("waitingFor") }
}
