import MynahSupport

import Glibc

/// Finds the profile files that a command line refers to.
public enum ProfileFiles {
    /// The extensions of profile files, in lower case.
    static let endings = [".yaml", ".yml", ".json"]

    /// Returns the files for a path: the path itself, or if it is a folder, the profiles in it sorted by
    /// name.
    ///
    /// Subfolders, hidden files and JSON Schemas are left out. Throws an issue if the folder cannot be read
    /// or contains no profile.
    public static func expanding(_ path: String) throws(ProfileIssues) -> [String] {
        guard isFolder(path) else { return [path] }
        guard let names = Directory.names(in: path) else {
            let reason = errno == EACCES ? "this user may not read it" : String(cString: strerror(errno))
            throw issue(path, "the folder cannot be read: \(reason)")
        }
        let prefix = path.hasSuffix("/") ? path : path + "/"
        let files = names.filter(isProfile).sorted().map { prefix + $0 }.filter { !isFolder($0) }
        guard !files.isEmpty else {
            throw issue(
                path,
                """
                the folder has no profile; the profiles of a folder are its files that end with \
                \(endings.joined(separator: ", ")), and folders in it are not searched
                """)
        }
        return files
    }

    /// Whether a file in a folder has the name of a profile.
    static func isProfile(_ name: String) -> Bool {
        let name = name.lowercased()
        return !name.hasPrefix(".") && !name.hasSuffix(".schema.json")
            && endings.contains { name.hasSuffix($0) }
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func issue(_ path: String, _ message: String) -> ProfileIssues {
        ProfileIssues([ProfileIssue(file: path, message: message)])
    }
}
