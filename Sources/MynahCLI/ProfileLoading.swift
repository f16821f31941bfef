import ArgumentParser
import MynahProfiles

/// Loads the profiles of a command, and prints their problems.
enum ProfileLoading {
    /// The profiles, or the exit code for problems once all of them are printed.
    static func load(_ paths: [String]) throws -> [Profile] {
        var profiles: [Profile] = []
        var hasErrors = false
        for path in paths {
            do throws(ProfileIssues) {
                let profile = try ProfileLoader.load(path: path)
                for warning in profile.warnings { StandardError.print(warning.description) }
                profiles.append(profile)
            } catch {
                hasErrors = true
                StandardError.print(error.description)
            }
        }
        guard !hasErrors else { throw Exit.problems }
        return profiles
    }
}
