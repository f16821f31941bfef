import Glibc

/// The directory with the profiles that clients may add if they are not allowed to name other files.
package struct ProfileDirectory: Sendable {
    private let path: String?

    /// Makes a directory with this path, or a directory without profiles if the path is `nil`.
    package init(_ path: String?) {
        self.path = path
    }

    /// Returns the path of a profile that a client names; a relative path is resolved in the directory.
    ///
    /// `isTrusted` is `true` if the client may name any file. Otherwise, throws a problem with status 403 if
    /// the path is not in the directory, whether or not the file exists.
    func resolve(_ name: String, isTrusted: Bool) throws(ControlProblem) -> String {
        let path = name.hasPrefix("/") ? name : self.path.map { "\($0)/\(name)" } ?? name
        if isTrusted { return path }
        guard let directory = self.path.flatMap(Self.real), let real = Self.real(path),
            real.hasPrefix(directory == "/" ? "/" : directory + "/")
        else {
            throw ControlProblem(
                403,
                """
                a profile can be added by path only over the Unix socket, or from the directory of \
                --profiles; send the profile itself as an object
                """)
        }
        return real
    }

    /// Returns the path with links and dots resolved, or `nil` if there is no such file.
    private static func real(_ path: String) -> String? {
        guard !path.utf8.contains(0), let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }
}
