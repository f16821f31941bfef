import ArgumentParser
import MynahSupport

/// The names of commands and of the verbs of `ctl`, as a command line has them.
///
/// The parser would call an unknown one an unexpected argument, and pass it over after `help`.
enum CommandNames {
    /// The options of `ctl` that may stand before its verb, each with a value.
    private static let options = ["--control", "--control-token-file", "--format"]

    /// Throws if the words after the program's name begin with a command or a verb that does not exist.
    static func check(_ words: ArraySlice<String>) throws {
        var rest = words.first == "help" ? words.dropFirst() : words
        guard let word = rest.popFirst(), !word.hasPrefix("-") else { return }
        try check("command", word, among: names(MynahCommand.self) + ["help"])
        guard word == CtlCommand.configuration.commandName else { return }
        while let option = rest.first, option.hasPrefix("-") {
            rest = rest.dropFirst(options.contains(option) ? 2 : 1)
            // Help and the version need no verb.
            if !options.contains(where: { option == $0 || option.hasPrefix($0 + "=") }) { return }
        }
        if let verb = rest.first { try check("verb", verb, among: names(CtlCommand.self)) }
    }

    private static func names(_ command: any ParsableCommand.Type) -> [String] {
        command.configuration.subcommands.compactMap { $0.configuration.commandName }
    }

    private static func check(_ kind: String, _ word: String, among known: [String]) throws {
        guard !known.contains(word) else { return }
        let near = NearestName.of(word, among: known).map { "; did you mean \"\($0)\"?" } ?? ""
        throw ValidationError("there is no \(kind) \"\(word)\"\(near)")
    }
}
