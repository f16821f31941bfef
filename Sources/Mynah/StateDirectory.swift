public import MynahCore
import MynahLifecycle
package import MynahSupport

import Glibc

/// A directory in which a phone keeps the preserved state of its apps' managers and the identifiers of
/// peripherals.
///
/// Only one process can use it at a time, and only its owner may write to it. A file is replaced as a whole:
/// if the process is killed, either the old or the new file is there. A file that cannot be read is renamed,
/// never deleted.
///
/// The files of a run with virtual time are marked as simulated, because their addresses and keys follow from
/// a seed. A run with the machine's time renames all of them, so that no app looks for a device that does not
/// exist.
public final class StateDirectory: Sendable {
    private let path: String
    private let lock: Int32
    /// The apps that took over files of earlier versions of Mynah, by the files' former names.
    private let givenAway = Lock<[String: String]>([:])
    /// The folders that were requested for phones, by the phones' names.
    private let phones = Lock<[String: StateDirectory]>([:])
    /// The warning about files of runs with virtual time, or `nil` after it was taken.
    private let warning: Lock<String?>
    /// Whether the directory is used by a run with virtual time.
    private let isSimulated: Bool
    /// Writes the files; `settle()` returns when all of them are written.
    package let writer: FileWriter

    /// Opens the directory at a path, and creates it if it is missing.
    ///
    /// Throws `stateDirectory` if the directory cannot be used, is in use by another process, belongs to
    /// another user, or can be written by other users.
    public convenience init(path: String) throws(RadioError) {
        try self.init(path: path, clock: .real)
    }

    /// Opens the directory for a run with this clock; throws as `init(path:)` does.
    package convenience init(path: String, clock: RunClock) throws(RadioError) {
        try self.init(path: path, isSimulated: clock.virtual != nil, writer: FileWriter(clock))
    }

    private init(path: String, isSimulated: Bool, writer: FileWriter) throws(RadioError) {
        self.path = path
        self.isSimulated = isSimulated
        self.writer = writer
        try Self.make(path)
        let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else {
            throw Self.error("the state directory \(path) cannot be opened: \(Self.reason)")
        }
        defer { close(directory) }
        try Self.checkIsPrivate(directory, path)
        lock = try Self.takeLock(in: directory, path)
        warning = Lock(nil)
        guard !isSimulated else { return }
        let warning = try Self.setAsideSimulated(in: path)
        self.warning.withLock { $0 = warning }
    }

    deinit {
        // A child process shares the descriptor until it executes another program.
        flock(lock, LOCK_UN)
        close(lock)
    }

    /// The folder for the phone with a name, with the same checks and the same writer.
    ///
    /// Different names have different folders, and no name leads outside the directory.
    package func folder(ofPhone name: String) throws(RadioError) -> StateDirectory {
        let made = phones.withLock { phones in
            Result<StateDirectory, RadioError> { () throws(RadioError) in
                if let phone = phones[name] { return phone }
                let path = "\(path)/phone+\(FileNamePart.escape(name, 200))"
                let new = try StateDirectory(path: path, isSimulated: isSimulated, writer: writer)
                phones[name] = new
                return new
            }
        }
        return try made.get()
    }

    /// Creates a directory, and the missing directories above it.
    private static func make(_ path: String) throws(RadioError) {
        guard !path.isEmpty else { throw error("the state directory has no name") }
        for end in path.indices.dropFirst() where path[end] == "/" { mkdir(String(path[..<end]), 0o700) }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw error("the state directory \(path) cannot be made: \(reason)")
        }
    }

    /// Throws if another user owns the directory or can write to it.
    ///
    /// That user could replace keys and preserved state, or redirect writes.
    private static func checkIsPrivate(_ directory: Int32, _ path: String) throws(RadioError) {
        var status = stat()
        guard fstat(directory, &status) == 0 else {
            throw error("the state directory \(path) cannot be read: \(reason)")
        }
        guard status.st_uid == geteuid() else {
            throw error(
                """
                the state directory \(path) belongs to user \(status.st_uid), and this runs as user \
                \(geteuid())
                """,
                "use a directory of your own")
        }
        guard status.st_mode & 0o022 == 0 else {
            let mode = String(status.st_mode & 0o7777, radix: 8)
            throw error(
                "other users can write to the state directory \(path) (its mode is \(mode))",
                // The mode of a shared directory, such as /tmp, must not be changed.
                status.st_mode & S_ISVTX != 0
                    ? "use a directory of your own" : "run `chmod 700 '\(path)'`")
        }
    }

    /// Locks the directory; the lock must be a regular file in it, because a link could name a file
    /// elsewhere.
    private static func takeLock(in directory: Int32, _ path: String) throws(RadioError) -> Int32 {
        let lockPath = path + "/lock"
        // Without O_NONBLOCK, opening a FIFO would block.
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let descriptor = openat(directory, "lock", flags, 0o600)
        guard descriptor >= 0 else {
            guard errno == ELOOP else { throw error("\(lockPath) cannot be opened: \(reason)") }
            throw error("\(lockPath) is a symbolic link, and must be a regular file", "remove it")
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw error("\(lockPath) is not a regular file", "remove it")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let reason = errno == EWOULDBLOCK ? "another process uses it" : reason
            close(descriptor)
            throw error(
                "the state directory \(path) cannot be used: \(reason)", "give each run its own directory")
        }
        return descriptor
    }

    /// Renames the files of runs with virtual time; returns a warning if there were any.
    ///
    /// All of them are renamed together, because an app knows a device by an address that is in the device's
    /// own file.
    private static func setAsideSimulated(in path: String) throws(RadioError) -> String? {
        var places: [String] = []
        for name in (Directory.names(in: path) ?? []).sorted() where name.hasSuffix(".json") {
            let file = KeptFile(path: "\(path)/\(name)")
            // A file that cannot be read is reported when it is used.
            guard let bytes = try? file.read(), let json = try? JSON(parsing: bytes), json.isSimulated else {
                continue
            }
            guard let place = file.setAside() else {
                throw error(
                    "\(file.path) is of a run with --clock fast or manual, and cannot be renamed: \(reason)",
                    "remove it, or give each clock its own directory")
            }
            places.append(String(place.dropFirst(path.count + 1)))
        }
        guard !places.isEmpty else { return nil }
        return """
            a run with --clock fast or manual left files in \(path), whose addresses and keys follow from \
            its seed; they are not used, and were renamed to \(NameList.text(places)); apps find their \
            devices anew, and pair again
            """
    }

    /// Returns the warning about files of runs with virtual time, the first time only.
    package func takeWarning() -> RadioWarning? {
        warning.withLock { warning in
            defer { warning = nil }
            return warning.map { RadioWarning("simulatedState", $0) }
        }
    }

    private static var reason: String { String(cString: strerror(errno)) }

    private static func error(_ message: String, _ remedy: String? = nil) -> RadioError {
        RadioError(.stateDirectory, message, remedy: remedy)
    }

    /// The state that was preserved under a name, and a warning for the user.
    ///
    /// If the file still has the name that an earlier version of Mynah gave it, the file is renamed.
    func load<State: PreservableState>(_ name: PreservedName) -> (state: State?, warning: String?) {
        let file = file(name.fileName)
        let loaded = load(name, from: file, State.self)
        guard loaded.state == nil, loaded.warning == nil, let former = name.formerFileName.map(self.file)
        else { return loaded }
        let taken = load(name, from: former, State.self)
        if taken.state != nil {
            former.move(to: file)
            givenAway.withLock { $0[former.path] = name.app }
        } else if taken.warning == nil, let owner = givenAway.withLock({ $0[former.path] }) {
            return (nil, Self.wasGivenAway(former.path, to: owner, not: name))
        }
        return taken
    }

    /// The warning that another app with the same restore identifier got the state that an earlier version of
    /// Mynah preserved.
    private static func wasGivenAway(_ path: String, to owner: String, not name: PreservedName) -> String {
        """
        the state of an earlier version in \(path) was given to the app \(owner), which came first; \
        \(name.app) has the restore identifier "\(name.restoreIdentifier)" too, and nothing is \
        restored for it
        """
    }

    private func load<State: PreservableState>(
        _ name: PreservedName, from file: KeptFile, _: State.Type
    ) -> (state: State?, warning: String?) {
        let (state, problem) = read(file) { json throws(PreservedStateProblem) in
            try State(json: json, of: name)
        }
        return (state, problem.map { "the preserved state in \(file.path) cannot be used: \($0)" })
    }

    /// The devices that the phone knew, the least recently used first, and a warning for the user.
    func loadKnownPeripherals() -> (entries: [KnownPeripherals.Entry], warning: String?) {
        let file = file(KnownPeripherals.fileName)
        let (entries, problem) = read(file, KnownPeripherals.entries(of:))
        return (entries ?? [], problem.map { "the known peripherals in \(file.path) cannot be used: \($0)" })
    }

    /// The content of the file with the name `unkept.fileName`, or `nil` if there is none.
    ///
    /// The warning is `nil` unless the file cannot be used.
    func load<Content: KeptContent>(
        insteadOf unkept: Content, _ parse: (JSON) throws(PreservedStateProblem) -> Content
    ) -> (content: Content?, warning: String?) {
        let file = file(unkept.fileName)
        let (content, problem) = read(file, parse)
        return (content, problem.map { "\(unkept.subject) in \(file.path) cannot be used: \($0)" })
    }

    /// Reads a file that may be missing; a file that cannot be used is renamed.
    private func read<Content>(
        _ file: KeptFile, _ parse: (JSON) throws(PreservedStateProblem) -> Content
    ) -> (content: Content?, problem: String?) {
        do throws(PreservedStateProblem) {
            let bytes: [UInt8]
            do throws(KeptFile.Problem) {
                guard let kept = try file.read() else { return (nil, nil) }
                bytes = kept
            } catch {
                throw .init(description: error.description)
            }
            let json: JSON
            do throws(JSON.ParseError) {
                json = try JSON(parsing: bytes)
            } catch {
                throw .init(description: "it is not JSON: \(error)")
            }
            return (try parse(json), nil)
        } catch {
            let outcome = file.setAside().map { "it was set aside as \($0)" } ?? "it could not be set aside"
            return (nil, "\(error); \(outcome)")
        }
    }

    /// Queues the writing of a file.
    ///
    /// `failed` is called on another thread. It is called again only if the reason changes, or after a
    /// successful write.
    func save(_ content: some KeptContent, failed: @escaping @Sendable (RadioError) -> Void) {
        writer.replace(file(content.fileName)) { [isSimulated] in
            let json = isSimulated ? content.json.markedAsSimulated : content.json
            return Array((json.prettyText + "\n").utf8)
        } failed: {
            failed(Self.error($0.description))
        }
    }

    /// Queues the removal of the state that is preserved under a name.
    func remove(_ name: PreservedName) {
        writer.remove(file(name.fileName))
    }

    /// The path of the file for a device's bonds.
    package func bondPath(of owner: BondOwner) -> String { file(owner.fileName).path }

    /// The path that an earlier version of Mynah used for the bonds of the device at this position on the
    /// command line.
    package func formerBondPath(at place: Int) -> String {
        file(BondOwner.formerFileName(at: place)).path
    }

    /// Renames the bond file that an earlier version of Mynah made, for a device that has no bond file yet.
    ///
    /// Returns a warning, or `nil` if there was no file to rename.
    package func takeOverBonds(for owner: BondOwner, at place: Int) -> String? {
        let (file, former) = (file(owner.fileName), KeptFile(path: formerBondPath(at: place)))
        guard !file.exists, former.exists else { return nil }
        former.move(to: file)
        return """
            an earlier version kept bonds in \(former.path) for device \(place + 1) of the command line; \
            they are now in \(file.path); rename that file if they belong to another device
            """
    }

    private func file(_ name: String) -> KeptFile { KeptFile(path: "\(path)/\(name)") }
}
