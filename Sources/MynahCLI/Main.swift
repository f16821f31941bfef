import ArgumentParser
import MynahConsole
import MynahCore
import MynahSupport

import Glibc

/// `mynah`.
@main
struct MynahCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mynah",
        abstract: "Emulates Bluetooth LE devices described in profile files.",
        discussion: """
            A profile describes a device: its services, their values and what it advertises. mynah run \
            plays it through BlueZ, or on a virtual radio if there is no adapter. Phones find it, connect, \
            read, write and subscribe.

              mynah new heart-rate > strap.yaml     prints a profile to start from
              mynah check strap.yaml                reports every problem, with its line
              mynah show strap.yaml                 prints attributes and advertised bytes
              mynah run strap.yaml                  plays the device until Ctrl-C
              mynah scan                            lists the devices that a phone hears
              mynah connect 'Mynah HRM'             connects as a phone; type help
              mynah doctor                          reports what stops a run here

            Tests control devices through mynah serve, mynah ctl and mynah run --control.
            mynah record makes a profile of a device nearby. mynah import makes one from a Bluetooth capture.
            """,
        version: "0.1.0",
        subcommands: [
            RunCommand.self, CheckCommand.self, ShowCommand.self, NewCommand.self, ImportCommand.self,
            ScanCommand.self, ConnectCommand.self, RecordCommand.self, DoctorCommand.self, AirCommand.self,
            ServeCommand.self, CtlCommand.self,
        ])

    static let _errorLabel = "error"

    static func main() async {
        Descriptor.openStandardOnes()
        if let problem = OpenFiles.problem {
            StandardError.print(Exit.failure(problem).text)
            Glibc.exit(Exit.problems.rawValue)
        }
        var status = await statusOfRun()
        if let problem = StandardOutput.problem {
            StandardError.print(Exit.unwritable(problem).text)
            status = Exit.problems.rawValue
        }
        StandardError.flush()
        Glibc.exit(status)
    }

    private static func statusOfRun() async -> Int32 {
        guard CommandLine.arguments.count > 1 else {
            StandardError.print(helpMessage())
            return Exit.usage.rawValue
        }
        let end = await play(Array(CommandLine.arguments.dropFirst()), in: .process)
        if !end.text.isEmpty {
            end.status == 0 ? StandardOutput.print(end.text) : StandardError.print(end.text)
        }
        return end.status
    }

    /// Runs a command given by its words, and returns its exit status and the text that the caller has to
    /// print.
    static func play(
        _ words: [String], in surroundings: Surroundings
    ) async -> (status: Int32, text: String) {
        do {
            try CommandNames.check(words[...])
            var command = try await asyncParseAsRoot(NegativeValue.moved(in: words))
            switch command {
            case let command as any StagedCommand: try await command.play(in: surroundings)
            case var command as any AsyncParsableCommand: try await command.run()
            default: try command.run()
            }
            return (0, "")
        } catch let failure as CommandFailure {
            return (failure.code.rawValue, failure.text)
        } catch {
            return (exitCode(for: error).rawValue, fullMessage(for: error))
        }
    }
}

/// An error that ends a command, with the text to print.
struct CommandFailure: Error {
    var text: String
    var code: ExitCode
}

/// The exit codes of failures: 1 for problems of a profile or a radio, 64 for wrong usage.
///
/// `mynah doctor` also uses 2, for a run that would work but not completely.
enum Exit {
    static let problems = ExitCode(1)
    static let usage = ExitCode(64)

    /// The error that ends a command with this message and status 1.
    static func failure(_ message: String) -> CommandFailure {
        CommandFailure(text: "error: \(message)", code: problems)
    }

    /// The error if results could not be written to standard output.
    static func unwritable(_ problem: String) -> CommandFailure {
        failure("standard output cannot be written: \(problem)")
    }

    /// Throws if a capture is incomplete, so that the command ends with status 1.
    ///
    /// `isSaid` is `true` if the error was already printed to standard error.
    static func check(capture error: RadioError?, isSaid: Bool) throws {
        guard let error else { return }
        throw isSaid ? problems : failure("\(error)")
    }

    /// Returns the result of `body`; an error that `body` throws ends the command with a message.
    static func reportingErrors<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws -> Value {
        do throws(Failure) {
            return try body()
        } catch {
            throw failure("\(error)")
        }
    }

    /// The error for wrong usage that a command detects, in the format of the argument parser's errors.
    static func wrongUsage(_ message: String, of command: any ParsableCommand.Type) -> CommandFailure {
        let name = command.configuration.commandName ?? ""
        // Words of the command line may contain control characters for terminals.
        let text = """
            error: \(PrintableText.of(message))
            Usage: \(MynahCommand.usageString(for: command))
              See 'mynah \(name) --help' for more information.
            """
        return CommandFailure(text: text, code: usage)
    }
}
