import ArgumentParser
import MynahConsole
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
            ScanCommand.self, ConnectCommand.self, RecordCommand.self, DoctorCommand.self, ServeCommand.self,
            CtlCommand.self,
        ])

    static let _errorLabel = "error"

    static func main() async {
        Descriptor.openStandardOnes()
        var status = await statusOfRun()
        if let problem = StandardOutput.problem {
            status = Exit.unwritable(problem).rawValue
        }
        StandardError.flush()
        Glibc.exit(status)
    }

    private static func statusOfRun() async -> Int32 {
        guard CommandLine.arguments.count > 1 else {
            StandardError.print(helpMessage())
            return Exit.usage.rawValue
        }
        do {
            try CommandNames.check(CommandLine.arguments.dropFirst())
            var command = try await asyncParseAsRoot(nil)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            return 0
        } catch {
            let code = exitCode(for: error)
            let text = fullMessage(for: error)
            if !text.isEmpty { code.isSuccess ? StandardOutput.print(text) : StandardError.print(text) }
            return code.rawValue
        }
    }
}

/// The exit codes of failures: 1 for problems of a profile or a radio, 64 for wrong usage; `doctor` has 2 for
/// a loss.
enum Exit {
    static let problems = ExitCode(1)
    static let usage = ExitCode(64)

    /// Reports an error, and returns the exit code of a command that it ends.
    static func failure(_ message: String) -> ExitCode {
        StandardError.print("error: \(message)")
        return problems
    }

    /// Reports that results could not be written.
    static func unwritable(_ problem: String) -> ExitCode {
        failure("standard output cannot be written: \(problem)")
    }

    /// Returns the result of `body`; an error that it throws is reported, and ends the command.
    static func reportingErrors<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws -> Value {
        do throws(Failure) {
            return try body()
        } catch {
            throw failure("\(error)")
        }
    }

    /// Reports wrong usage as the parser does, which has finished when a command runs.
    static func wrongUsage(_ message: String, of command: any ParsableCommand.Type) -> ExitCode {
        let name = command.configuration.commandName ?? ""
        // Words of the command line may have characters that a terminal acts on.
        StandardError.print(
            """
            error: \(PrintableText.of(message))
            Usage: \(MynahCommand.usageString(for: command))
              See 'mynah \(name) --help' for more information.
            """)
        return usage
    }
}
