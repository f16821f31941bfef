import ArgumentParser
import MynahSupport

/// Checks the names of commands and of the verbs of `ctl` on a command line.
///
/// The parser would report an unknown name as an unexpected argument, and would ignore an unknown name after
/// `help`.
enum CommandNames {
    /// The options of `ctl` that may come before its verb, each with a value.
    private static let options = ["--control", "--control-token-file", "--format"]

    /// Throws if the words after the program's name begin with a command or a verb that does not exist.
    static func check(_ words: ArraySlice<String>) throws {
        var rest = words.first == "help" ? words.dropFirst() : words
        guard let word = rest.popFirst(), !word.hasPrefix("-") else { return }
        if let problem = problem("command", word, among: names(MynahCommand.self) + ["help"]) {
            throw ValidationError(problem)
        }
        guard word == CtlCommand.configuration.commandName else { return }
        while let option = rest.first, option.hasPrefix("-") {
            rest = rest.dropFirst(options.contains(option) ? 2 : 1)
            // Help and the version need no verb.
            if !options.contains(where: { option == $0 || option.hasPrefix($0 + "=") }) { return }
        }
        guard let verb = rest.first, let problem = problem("verb", verb, among: names(CtlCommand.self))
        else { return }
        throw Exit.wrongUsage(problem, of: CtlCommand.self)
    }

    private static func names(_ command: any ParsableCommand.Type) -> [String] {
        command.configuration.subcommands.compactMap { $0.configuration.commandName }
    }

    /// The error for an unknown word, or `nil` if `known` contains the word.
    private static func problem(_ kind: String, _ word: String, among known: [String]) -> String? {
        guard !known.contains(word) else { return nil }
        let near = NearestName.of(word, among: known).map { "; did you mean \"\($0)\"?" } ?? ""
        return "there is no \(kind) \"\(word)\"\(near)"
    }
}
