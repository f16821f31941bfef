import ArgumentParser
import MynahConsole
import MynahProfiles
import MynahRun
import MynahSupport

/// `mynah check`.
struct CheckCommand: StagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Reports every problem in profiles, with its line and column.",
        discussion: """
            Exits with status 0 if there are no errors, 1 if there are, and 64 for wrong usage.

            Without --radio, one line for each profile counts what BlueZ would do differently; --radio \
            bluez lists it. BlueZ checks assume \(KnownRadio.bluezVersion), the oldest supported version, \
            so results do not depend on the machine. `run` uses the installed version.
            """)

    @Argument(
        help: "The profile files, or folders of them.",
        completion: .file(extensions: ["yaml", "yml", "json"]))
    var profiles: [String]

    @Option(
        help:
            "virtual or bluez. Reports what this radio cannot do (an error) or does differently (a warning).",
        completion: Choice.completion(of: KnownRadio.self), transform: Choice.parse)
    var radio: KnownRadio?

    func play(in surroundings: Surroundings) throws {
        var hasErrors = false
        var apps: [Profile] = []
        let files = profiles.flatMap { path in
            ProfileLoading.files(of: path, &hasErrors) { surroundings.print($0) }
        }
        for path in files {
            do throws(ProfileIssues) {
                let profile = try ProfileLoader.load(path: path)
                let issues =
                    profile.warnings + (radio?.issues(with: profile) ?? [])
                    + apps.flatMap { RunGroups.conflicts(of: profile, with: $0) }.prefix(1)
                if profile.app != nil { apps.append(profile) }
                for issue in issues { surroundings.print(issue.description) }
                if issues.contains(where: { $0.severity == .error }) {
                    hasErrors = true
                } else {
                    surroundings.print("\(PrintableText.of(path)): \(Self.summary(of: profile))")
                    if radio == nil, let line = Self.differences(of: profile) {
                        surroundings.print("\(PrintableText.of(path)): \(line)")
                    }
                }
            } catch {
                hasErrors = true
                surroundings.print(error.description)
            }
        }
        if hasErrors { throw Exit.problems }
    }

    /// A line with the number of things that BlueZ would play differently, or `nil` if there are none.
    private static func differences(of profile: Profile) -> String? {
        let issues = KnownRadio.bluez.issues(with: profile)
        guard !issues.isEmpty else { return nil }
        guard profile.centralIssueWithBlueZ == nil else {
            return "BlueZ cannot play an app that is a central; --radio bluez says what to choose"
        }
        return "BlueZ \(KnownRadio.bluezVersion) would play \(issues.count.counting("thing")) differently; "
            + "--radio bluez lists \(issues.count == 1 ? "it" : "them")"
    }

    private static func summary(of profile: Profile) -> String {
        let characteristics = profile.services.reduce(0) { $0 + $1.characteristics.count }
        let parts =
            [profile.services.count.counting("service"), characteristics.counting("characteristic")]
            + (profile.centrals.isEmpty ? [] : [profile.centrals.count.counting("central manager")])
            + (profile.faults.isEmpty ? [] : [profile.faults.count.counting("fault")])
            + (profile.scenarios.isEmpty ? [] : [profile.scenarios.count.counting("scenario")])
        return "ok: \(parts.joined(separator: ", "))"
    }
}
