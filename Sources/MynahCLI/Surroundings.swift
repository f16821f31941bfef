import ArgumentParser
import MynahConsole
import MynahCore
import MynahRun
import MynahSupport

/// The things around a command: its output and input, its end from outside, and its time.
struct Surroundings: Sendable {
    /// Where the texts of a command go that has no process of its own.
    struct Texts: Sendable {
        /// Receives what a process writes to standard output.
        var output: @Sendable (String) -> Void
        /// Receives a message, which a process writes to standard error as lines.
        var error: @Sendable (String) -> Void
        /// Has what a process reads from standard input.
        var input = LineFeed()
    }

    /// Ends the command from outside.
    let interruption = Interruption()
    /// The texts of a command that has no process of its own, or `nil` if it has one.
    let texts: Texts?
    /// The time that it shares with other commands, or `nil` if it has one of its own.
    private let time: RunTime?

    /// A process of the command's own.
    static var process: Surroundings { Surroundings(texts: nil, time: nil) }

    /// The surroundings of a command that shares time and air with others, such as a test stage.
    static func stage(_ time: RunTime, _ texts: Texts) -> Surroundings {
        Surroundings(texts: texts, time: time)
    }

    private init(texts: Texts?, time: RunTime?) {
        self.texts = texts
        self.time = time
    }

    /// Begins to hear the signals of the process; returns `nil` if it is not the command's own.
    func hearSignals() -> Signals? { texts == nil ? Signals(interruption) : nil }

    /// Writes log lines of this level and above from now on.
    ///
    /// In a process of the command's own it also queues messages, so that their reader does not stop the
    /// radio.
    func beginLogs(_ level: LogLevel) {
        if texts == nil { Logs.begin(level) }
    }

    /// The time of a command whose user chooses this one, with a seed or a random one.
    func time(_ choice: ClockChoice, seed: UInt64? = nil) -> RunTime {
        time ?? RunTime(choice, seed: seed ?? .random(in: 0...UInt64.max))
    }

    /// The command is over, and so is a time that only it has.
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

    /// Prints what the user should know of a radio to standard error.
    func say(_ warning: RadioWarning) {
        // Later runs miss the socket of a process that is there for long; a phone's command is over soon.
        guard warning.code != "airNotWatched" else { return }
        say(warning.isWait ? warning.message : "warning: \(warning.message)")
    }

    /// Standard output for events; `whenGone` is called once, when no reader is left.
    func eventOutput(whenGone: @escaping @Sendable () -> Void) -> EventOutput {
        texts.map { EventOutput(to: $0.output) } ?? EventOutput(whenGone: whenGone)
    }

    /// Standard output for events; the command is interrupted when no reader is left.
    func eventOutput() -> EventOutput { eventOutput { [interruption] in interruption.interrupt() } }
}

/// A command that plays in any surroundings.
protocol StagedCommand: AsyncParsableCommand {
    func play(in surroundings: Surroundings) async throws
}

extension StagedCommand {
    func run() async throws { try await play(in: .process) }
}

extension RadioWarning {
    /// Whether a warning only reports what a radio waits for.
    var isWait: Bool { code.hasPrefix("waitingFor") }
}
