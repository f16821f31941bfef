import MynahSupport

import Glibc

/// The profile files that a command line names.
public enum ProfileFiles {
    /// The endings of a profile's name, in lower case.
    static let endings = [".yaml", ".yml", ".json"]

    /// The files that a path names: the profiles of a folder in the order of their names, or else the path
    /// itself.
    ///
    /// Folders in it, hidden files and JSON Schemas are left out. Throws an issue if the folder cannot be
    /// read or has no profile.
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

    /// Whether a file of a folder is played by its name.
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
