import Glibc
import MynahCore
import MynahSupport

/// Chooses the directory of the air from the environment.
struct AirDirectoryChoice {
    /// The kind of file at a path, after links are followed.
    enum Status: Hashable {
        case directory(owner: UInt32)
        case notDirectory
        case unreadable(SystemError)
    }

    let directory: AirDirectory
    /// The warning about an environment variable that was ignored, or `nil` if there is none.
    let warning: RadioWarning?

    /// Chooses the directory for this process.
    static func ofThisProcess() -> AirDirectoryChoice {
        AirDirectoryChoice(
            variable: { name in getenv(name).map { String(cString: $0) } }, user: geteuid(),
            status: Self.status(of:))
    }

    /// Chooses the directory in `MYNAH_AIR`, or else one of this user's session, or else a temporary
    /// directory.
    ///
    /// A session directory that belongs to another user is not used: `sudo` may keep `XDG_RUNTIME_DIR`, and
    /// files of root in it would lock the user out.
    init(variable: (String) -> String?, user: UInt32, status: (String) -> Status) {
        if let path = variable("MYNAH_AIR"), !path.isEmpty {
            directory = AirDirectory(path: path)
            warning = nil
            return
        }
        var problems: [String] = []
        func usable(_ name: String, belongsToUser: Bool) -> String? {
            guard var path = variable(name), !path.isEmpty else { return nil }
            while path.count > 1, path.hasSuffix("/") { path.removeLast() }
            let problem: String
            switch path.hasPrefix("/") ? status(path) : nil {
            case nil: problem = "which is not an absolute path"
            case .notDirectory?: problem = "which is not a directory"
            case .unreadable(let error)?: problem = "which cannot be read (\(error))"
            case .directory(let owner)?:
                guard belongsToUser, owner != user else { return path == "/" ? "" : path }
                problem = "which belongs to user \(owner), and this is user \(user)"
            }
            problems.append("\(name) is \(path), \(problem)")
            return nil
        }
        let path: String
        if let session = usable("XDG_RUNTIME_DIR", belongsToUser: true) {
            path = session + "/mynah-air"
        } else {
            path = (usable("TMPDIR", belongsToUser: false) ?? "/tmp") + "/mynah-air-\(user)"
        }
        directory = AirDirectory(path: path)
        warning =
            problems.isEmpty
            ? nil
            : RadioWarning(
                "airDirectory",
                """
                \(problems.joined(separator: ", and ")): the virtual radio's directory is \(path) instead; \
                set MYNAH_AIR to choose another
                """
            )
    }

    private static func status(of path: String) -> Status {
        var status = stat()
        guard stat(path, &status) == 0 else { return .unreadable(SystemError(errno)) }
        return status.st_mode & S_IFMT == S_IFDIR ? .directory(owner: status.st_uid) : .notDirectory
    }
}
