import Glibc

/// A file that a program keeps for itself: replaced whole, readable by its owner alone, set aside rather than
/// lost.
public struct KeptFile: Hashable, Sendable {
    /// The reason of a failure, as the end of a sentence about the file.
    public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
        /// The words.
        public var description: String

        package init(description: String) { self.description = description }
    }

    /// No file that is kept comes near it, in bytes.
    public static let sizeLimit = 16 << 20

    /// The path of the file.
    public let path: String

    /// The file at this path, which need not exist.
    public init(path: String) {
        self.path = path
    }

    /// The file's name until it is whole; a process that is killed may leave one.
    private var draft: String { path + ".new" }

    private static var reason: String { String(cString: strerror(errno)) }

    /// Whether a file of any kind has its name.
    public var exists: Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// The file's contents, or `nil` if there is no file.
    public func read() throws(Problem) -> [UInt8]? {
        let file: InputFile
        do throws(InputFile.Problem) {
            file = try InputFile(path)
        } catch {
            if error == .missing { return nil }
            throw Problem(description: "it cannot be opened: \(error.text)")
        }
        // A pipe would be waited for.
        guard file.kind != .other else { throw Problem(description: "it is not a regular file") }
        do throws(InputFile.Problem) {
            return try file.read(atMost: Self.sizeLimit)
        } catch {
            throw Problem(
                description: error == .tooLarge
                    ? "it is larger than \(Self.sizeLimit >> 20) MB" : "it cannot be read: \(error.text)")
        }
    }

    /// Replaces the content of the file.
    ///
    /// The words of a problem begin with the path.
    ///
    /// The name changes in one step, after the bytes are on the disk, and is on the disk when this returns:
    /// neither a process that is killed nor a machine that loses power leaves anything but the old bytes or
    /// the new.
    public func replace(_ bytes: [UInt8]) throws(Problem) {
        // Removes a file of any kind: a link would be written through, and a pipe would be waited for.
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw Problem(description: "\(draft) cannot be written: \(Self.reason)")
        }
        let isWritten = write(bytes, to: descriptor) && fsync(descriptor) == 0
        let reason = Self.reason
        close(descriptor)
        guard isWritten else {
            unlink(draft)
            throw Problem(description: "\(draft) cannot be written: \(reason)")
        }
        guard rename(draft, path) == 0 else {
            throw Problem(description: "\(path) cannot be replaced: \(Self.reason)")
        }
        syncDirectory()
    }

    /// Syncs the directory, so that the name is on the disk.
    ///
    /// Errors are ignored: some file systems cannot.
    private func syncDirectory() {
        let end = path.lastIndex(of: "/")
        let directory = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = fsync(descriptor)
        close(descriptor)
    }

    /// Removes the file.
    public func remove() {
        unlink(path)
        unlink(draft)
    }

    /// Renames the file to the name of another, which it replaces.
    ///
    /// A draft of the file is removed.
    ///
    /// If the file cannot be renamed, it stays.
    public func move(to other: KeptFile) {
        unlink(draft)
        guard rename(path, other.path) == 0 else { return }
        syncDirectory()
    }

    /// Renames the file to an unused name, and returns that name, or `nil` if the file cannot be renamed.
    public func setAside() -> String? {
        for number in 1...10_000 {
            let place = path + ".unusable-\(number)"
            var status = stat()
            // A link that leads nowhere has its name too, and a rename would delete it.
            guard lstat(place, &status) != 0 else { continue }
            return rename(path, place) == 0 ? place : nil
        }
        return nil
    }

    private func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

// Beside a method of the same name.
private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ size: Int) -> Int {
    write(descriptor, buffer, size)
}
