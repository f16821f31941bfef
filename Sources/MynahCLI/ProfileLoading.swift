import ArgumentParser
import MynahProfiles

/// Loads the profiles for a command, and prints their problems.
enum ProfileLoading {
    /// Loads the profiles of files and folders.
    ///
    /// `print` gets all errors and warnings. If there are errors, throws the exit code.
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

    /// The profile files of a folder, or the file itself.
    ///
    /// After an error, prints it, sets `hasErrors` and returns no files.
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
