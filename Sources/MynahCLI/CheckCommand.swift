import ArgumentParser
import MynahProfiles

/// `mynah check`.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Tells every problem of profiles, with its line and column.",
        discussion: """
            Ends with 0 when there is none, with 1 when there is one, with 64 for wrong usage.

            Of BlueZ it says what \(KnownRadio.bluezVersion) does, the oldest that is known here, so that the answer is the \
            same on every machine; a run goes by the one that is there.
            """)

    @Argument(help: "The profile files.", completion: .file(extensions: ["yaml", "yml", "json"]))
    var profiles: [String]

    @Option(
        help:
            "virtual or bluez, the radio that must be able to do it all; without it what BlueZ cannot do is a warning.",
        completion: Choice.completion(of: KnownRadio.self), transform: Choice.parse)
    var radio: KnownRadio?

    func run() throws {
        var hasErrors = false
        for path in profiles {
            do throws(ProfileIssues) {
                let profile = try ProfileLoader.load(path: path)
                let shortcomings = (radio ?? .bluez).issues(with: profile, isChosen: radio != nil)
                let issues = profile.warnings + shortcomings
                for issue in issues { StandardOutput.print(issue.description) }
                if issues.contains(where: { $0.severity == .error }) {
                    hasErrors = true
                } else {
                    StandardOutput.print("\(path): \(Self.summary(of: profile))")
                }
            } catch {
                hasErrors = true
                StandardOutput.print(error.description)
            }
        }
        if hasErrors { throw Exit.problems }
    }

    private static func summary(of profile: Profile) -> String {
        let characteristics = profile.services.reduce(0) { $0 + $1.characteristics.count }
        return "ok: \(count(profile.services.count, "service")), \(count(characteristics, "characteristic"))"
    }

    private static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
}
