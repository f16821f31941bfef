import Glibc

/// A file for a program's own data, readable only by its owner.
///
/// `replace` replaces the content as a whole. A file whose content cannot be used is renamed with `setAside`,
/// and not deleted.
public struct KeptFile: Hashable, Sendable {
    /// The reason for a failure, as the end of a sentence about the file.
    public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
        /// The reason as text.
        public var description: String

        package init(description: String) { self.description = description }
    }

    /// The largest size that is read, in bytes; no kept file comes near it.
    public static let sizeLimit = 16 << 20

    /// The path of the file.
    public let path: String

    /// Makes a kept file with this path; the file need not exist.
    public init(path: String) {
        self.path = path
    }

    /// The path of the temporary file for new content.
    ///
    /// A process that is killed may leave this file.
    private var draft: String { path + ".new" }

    private static var reason: String { String(cString: strerror(errno)) }

    /// Whether there is a file of any kind at the path.
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
    /// The text of the error begins with the path.
    ///
    /// The bytes are written to a temporary file, which is then renamed in one step. On return, the new name
    /// is on the disk too. So after a kill or a loss of power, the file has either all old bytes or all new
    /// bytes.
    public func replace(_ bytes: [UInt8]) throws(Problem) {
        // The draft may be a link, through which a write would go, or a pipe, which would block.
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

    /// Syncs the directory, so that the new name is on the disk.
    ///
    /// Errors are ignored, because some file systems cannot sync a directory.
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

    /// Renames this file to the path of another kept file, which it replaces.
    ///
    /// The temporary file of this file is deleted. If the rename fails, this file stays.
    public func move(to other: KeptFile) {
        unlink(draft)
        guard rename(path, other.path) == 0 else { return }
        syncDirectory()
    }

    /// Renames the file to an unused name and returns that name; returns `nil` if the rename fails.
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

// At file scope: inside the type, `write` is the method.
private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ size: Int) -> Int {
    write(descriptor, buffer, size)
}
