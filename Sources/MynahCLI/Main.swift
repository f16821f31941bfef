import ArgumentParser
import MynahSupport

/// `mynah`.
@main
struct MynahCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mynah",
        abstract: "Plays Bluetooth LE devices that are written down in profile files.",
        discussion: """
            A profile declares a device: its services, its values and how they move, what it advertises. Mynah plays it \
            through BlueZ, or without an adapter on a radio of its own, so that phones find it, connect, read, write and \
            subscribe.

              mynah new heart-rate > strap.yaml     a commented profile to start from
              mynah check strap.yaml                every problem with its line and column
              mynah show strap.yaml                 the attributes and bytes on the air
              mynah run strap.yaml                  on the air until Ctrl-C
              mynah scan                            the devices that a phone hears
              mynah connect 'Mynah HRM'             connects as a phone would; try help
            """,
        version: "0.1.0",
        subcommands: [
            RunCommand.self, CheckCommand.self, ShowCommand.self, NewCommand.self, ScanCommand.self,
            ConnectCommand.self,
        ])

    static func main() async {
        Descriptor.openStandardOnes()
        // The parser would call the word an unexpected argument, and behind help pass it over.
        let commands = configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"]
        let words = CommandLine.arguments.dropFirst().prefix(2)
        if let word = words.first == "help" ? words.dropFirst().first : words.first, !word.hasPrefix("-"),
            !commands.contains(word)
        {
            let near = NearestName.of(word, among: commands).map { "; did you mean \"\($0)\"?" } ?? ""
            exit(withError: ValidationError("there is no command \"\(word)\"\(near)"))
        }
        await main(nil)
    }
}

/// How commands end when something is wrong: 1 for problems of a profile or a radio, 64 for wrong usage.
enum Exit {
    static let problems = ExitCode(1)
    static let usage = ExitCode(64)

    /// Tells wrong usage as the parser does, which has done its work by the time a command runs.
    static func wrongUsage(_ message: String, of command: any ParsableCommand.Type) -> ExitCode {
        let name = command.configuration.commandName ?? ""
        StandardError.print(
            """
            Error: \(message)
            Usage: \(MynahCommand.usageString(for: command))
              See 'mynah \(name) --help' for more information.
            """)
        return usage
    }
}
