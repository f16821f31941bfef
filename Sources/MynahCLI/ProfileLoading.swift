import ArgumentParser
import MynahProfiles

/// Loads the profiles for a command, and prints their problems.
enum ProfileLoading {
    /// Loads the profiles of files and folders; throws the exit code if there are errors, after `print` got
    /// all of them.
    static func load(_ paths: [String], _ print: (String) -> Void) throws -> [Profile] {
        var profiles: [Profile] = []
        var hasErrors = false
        for path in paths {
            for file in files(of: path, &hasErrors, print) {
                do throws(ProfileIssues) {
                    let profile = try ProfileLoader.load(path: file)
                    for warning in profile.warnings { print(warning.description) }
                    profiles.append(profile)
                } catch {
                    hasErrors = true
                    print(error.description)
                }
            }
        }
        guard !hasErrors else { throw Exit.problems }
        return profiles
    }

    /// The profile files for an argument: those of a folder, or the file itself.
    ///
    /// Returns none after an error, which is printed.
    static func files(of path: String, _ hasErrors: inout Bool, _ print: (String) -> Void) -> [String] {
        do throws(ProfileIssues) {
            return try ProfileFiles.expanding(path)
        } catch {
            hasErrors = true
            print(error.description)
            return []
        }
    }
}
