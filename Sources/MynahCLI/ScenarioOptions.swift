import ArgumentParser
import MynahConsole
import MynahProfiles
import MynahRun
import MynahSupport

/// The options for playing a scenario in a run.
struct ScenarioOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Plays this scenario of a profile from ready on, and ends the run with it: with status 0 if it \
            passes, with 1 if it fails or the run ends first. DEVICE:NAME if several devices have one of \
            this name.
            """, valueName: "name"),
        completion: .custom { words, _, _ in scenarioNames(words) })
    var scenario: String?

    @Option(
        help: ArgumentHelp("Writes the result of --scenario to this file, as JUnit XML.", valueName: "file"),
        completion: .file(extensions: ["xml"]))
    var report: String?

    /// The error for options that cannot be combined, or `nil` if these can be.
    func problem(hasUntil: Bool) -> String? {
        if report != nil, scenario == nil { return "--report is about a scenario, and needs --scenario" }
        if scenario != nil, hasUntil {
            return "--until and --scenario cannot be combined: a scenario ends the run itself"
        }
        return nil
    }

    /// Writes a report to the file of `--report`; returns the error, or `nil` if it succeeded.
    ///
    /// Does nothing if `text` is `nil`, or if the option is not set.
    func write(_ text: String?) -> CommandFailure? {
        guard let report, let text else { return nil }
        do throws(KeptFile.Problem) {
            try ReportFile.write(text, to: report)
            return nil
        } catch {
            return Exit.failure(PrintableText.of(error.description))
        }
    }
}

/// The names of the scenarios in the profiles on a command line.
private func scenarioNames(_ words: [String]) -> [String] {
    let files = words.map(CompletionWords.unquoted).filter { word in
        [".yaml", ".yml", ".json"].contains { word.hasSuffix($0) }
    }
    return files.flatMap { file in
        (try? ProfileLoader.load(regularFile: file)).map(ScenarioChoice.names) ?? []
    }
}
