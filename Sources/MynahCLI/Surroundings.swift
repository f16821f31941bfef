import ArgumentParser
import MynahConsole
import MynahCore
import MynahRun
import MynahSupport

/// The environment of a command: its input and output, its interruption, and its time.
struct Surroundings: Sendable {
    /// The output and input of a command without a process of its own.
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
    /// The output and input of a command without a process of its own, or `nil` if it has one.
    let texts: Texts?
    /// The time that the command shares with others, or `nil` if it has its own.
    private let time: RunTime?

    /// The surroundings of a command with a process of its own.
    static var process: Surroundings { Surroundings(texts: nil, time: nil) }

    /// The surroundings of a command, for example in a test, that shares its time and radio range with
    /// others.
    static func stage(_ time: RunTime, _ texts: Texts) -> Surroundings {
        Surroundings(texts: texts, time: time)
    }

    private init(texts: Texts?, time: RunTime?) {
        self.texts = texts
        self.time = time
    }

    /// Begins to handle the signals of the process; returns `nil` if the command has no process of its own.
    func hearSignals() -> Signals? { texts == nil ? Signals(interruption) : nil }

    /// Begins to write log lines of at least this level.
    ///
    /// In a process of its own, the command also queues messages, so that their reader cannot stop the radio.
    func beginLogs(_ level: LogLevel) {
        if texts == nil { Logs.begin(level) }
    }

    /// The time for the chosen clock, with the seed, or with a random one.
    func time(_ choice: ClockChoice, seed: UInt64? = nil) -> RunTime {
        time ?? RunTime(choice, seed: seed ?? .random(in: 0...UInt64.max))
    }

    /// Ends a command's time, unless the command shares it with others.
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
    /// Whether the warning only reports that a radio waits.
    var isWait: Bool { code.hasPrefix("waitingFor") }
}
