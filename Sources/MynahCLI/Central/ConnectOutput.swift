import MynahConsole
import MynahCore
import MynahEmulator
import MynahProfiles
import MynahRun
import MynahSupport

/// The output of `mynah connect`: text above the prompt, lines of text, or JSON objects.
final class ConnectOutput: ConnectObserver {
    private enum Kind: Sendable {
        case prompt(LineTerminal)
        case lines(EventOutput)
        case objects(EventOutput)
    }

    private let kind: Kind
    private let surroundings: Surroundings
    private let held: HeldReports<ConnectEvent>

    /// Makes an output that prints events in order, each after `writer` has written all earlier changes of
    /// files.
    init(
        format: ScanFormat, terminal: LineTerminal?, in surroundings: Surroundings, _ writer: FileWriter,
        _ clock: RunClock
    ) {
        let kind: Kind
        if let terminal, format == .text {
            kind = .prompt(terminal)
        } else {
            let output = surroundings.eventOutput()
            kind = format == .json ? .objects(output) : .lines(output)
        }
        self.kind = kind
        self.surroundings = surroundings
        held = HeldReports(for: writer, clock: clock) { warning in
            Self.say("warning: \(warning.message)", kind, surroundings)
            return nil
        } pass: {
            Self.tell($0, kind, surroundings)
        }
    }

    func observe(_ report: ConnectReport, at time: WallTime) {
        if let event = ConnectEvent(report, at: time) { held.report(event) }
    }

    private static func tell(_ event: ConnectEvent, _ kind: Kind, _ surroundings: Surroundings) {
        switch kind {
        case .prompt(let terminal): terminal.print(event.text(width: terminal.width))
        case .lines where event.name == .error: surroundings.say(event.text())
        case .lines(let output): output.write(Array((event.text() + "\n").utf8))
        case .objects(let output): output.write(Array((event.json.text + "\n").utf8))
        }
    }

    func warn(_ warning: RadioWarning) {
        say("warning: \(warning.message)")
    }

    /// Prints a message for the user: above the prompt, or to standard error.
    func say(_ text: String) { Self.say(text, kind, surroundings) }

    private static func say(_ text: String, _ kind: Kind, _ surroundings: Surroundings) {
        if case .prompt(let terminal) = kind { terminal.print(text) } else { surroundings.say(text) }
    }

    /// The error that ended the output, or `nil` if there is none.
    ///
    /// If the reader has closed the output, this is no error.
    var problem: String? {
        switch kind {
        case .lines(let output), .objects(let output): output.problem
        case .prompt: nil
        }
    }

    /// Restores the terminal, or waits until all output is written.
    func end() {
        switch kind {
        case .prompt(let terminal): terminal.end()
        case .lines(let output), .objects(let output): output.flush()
        }
    }
}
