import Glibc
import MynahSupport

/// A file about a run with a private air, which no other process can join.
///
/// The file is in the directory of the shared air. The run's process holds a lock on the file, which the
/// system releases when the process ends. A file without a lock is a leftover, and is deleted by the next
/// process that looks for such files.
package final class AirNote: Sendable {
    package struct Content: Hashable, Sendable {
        /// The run's value of `--clock`.
        package var clock: String
        /// The names of the run's devices.
        package var devices: String
        /// The process ID of the run.
        package var process: Int

        /// Makes the note of this process.
        package init(clock: String, devices: String, process: Int = Int(getpid())) {
            self.clock = clock
            self.devices = devices
            self.process = process
        }
    }

    /// The largest size of a note, in bytes; larger files are ignored.
    private static let sizeLimit = 4096
    /// The most notes that are returned.
    private static let limit = 64
    private static let prefix = "private-"

    private let path: String
    /// The descriptor of the note, or `nil` after the note was removed.
    private let descriptor: Lock<Int32?>

    private init(_ path: String, _ descriptor: Int32) {
        self.path = path
        self.descriptor = Lock(descriptor)
    }

    deinit { remove() }

    // MARK: - The run's side

    /// Writes a note to a directory; by default, to that of the air that this process would join.
    ///
    /// Returns `nil` if the directory cannot be used; no other process can use it then either.
    package static func leave(_ content: Content, in directory: String? = nil) -> AirNote? {
        let air = directory.map { AirDirectory(path: $0) } ?? AirDirectoryChoice.ofThisProcess().directory
        guard (try? air.prepare()) != nil else { return nil }
        let bytes = Array(content.json.text.utf8)
        // Another process may delete the note as a leftover before it is locked.
        for _ in 0..<8 {
            let path = "\(air.path)/\(prefix)\(AirDirectory.name(of: .random(in: .min ... .max)))"
            let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { return nil }
            let note = AirNote(path, descriptor)
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0, isThere(descriptor, path) {
                // A single write of so few bytes writes all of them or fails.
                return write(descriptor, bytes, bytes.count) == bytes.count ? note : nil
            }
        }
        return nil
    }

    /// Removes the note; does nothing if it was removed before.
    package func remove() {
        let descriptor = descriptor.withLock { descriptor in
            defer { descriptor = nil }
            return descriptor
        }
        guard let descriptor else { return }
        Self.removeFile(descriptor, path)
        // A child process that is being started shares the descriptor until it executes another program.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Whether the file at this path is still the open file.
    private static func isThere(_ descriptor: Int32, _ path: String) -> Bool {
        var (opened, named) = (stat(), stat())
        return fstat(descriptor, &opened) == 0 && lstat(path, &named) == 0
            && opened.st_dev == named.st_dev && opened.st_ino == named.st_ino
    }

    private static func removeFile(_ descriptor: Int32, _ path: String) {
        if isThere(descriptor, path) { unlink(path) }
    }

    // MARK: - The other side

    /// Returns the notes in a directory whose processes are running, in the order of their process IDs.
    ///
    /// Leftovers are deleted. Other files with names like those of notes are ignored.
    package static func contents(in directory: String) -> [Content] {
        let names = (Directory.names(in: directory) ?? []).filter { $0.hasPrefix(prefix) }.sorted()
        var contents: [Content] = []
        // Leftovers do not count towards the limit, so that they cannot hide the note of a running process.
        for name in names where contents.count < limit {
            if let content = read("\(directory)/\(name)") { contents.append(content) }
        }
        return contents.sorted { ($0.process, $0.devices) < ($1.process, $1.devices) }
    }

    private static func read(_ path: String) -> Content? {
        // Links are not followed, and opening a FIFO does not wait.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_uid == geteuid()
        else { return nil }
        guard flock(descriptor, LOCK_SH | LOCK_NB) != 0 else {
            removeFile(descriptor, path)
            flock(descriptor, LOCK_UN)
            return nil
        }
        guard errno == EWOULDBLOCK else { return nil }
        var bytes = [UInt8](repeating: 0, count: sizeLimit + 1)
        let count = systemRead(descriptor, &bytes, bytes.count)
        guard (1...sizeLimit).contains(count), let json = try? JSON(parsing: Array(bytes[..<count]))
        else { return nil }
        return Content(json)
    }
}

extension AirNote.Content {
    private static let version = 1

    fileprivate var json: JSON {
        .object([
            .init("mynahNote", .integer(Self.version)), .init("process", .integer(process)),
            .init("clock", .string(clock)), .init("devices", .string(Self.shortened(devices))),
        ])
    }

    fileprivate init?(_ json: JSON) {
        guard json["mynahNote"]?.integerValue == Self.version, let process = json["process"]?.integerValue,
            let clock = json["clock"]?.stringValue, let devices = json["devices"]?.stringValue
        else { return nil }
        self.init(
            clock: PrintableText.of(Self.shortened(clock)),
            devices: PrintableText.of(Self.shortened(devices)), process: process)
    }

    private static func shortened(_ text: String) -> String {
        text.unicodeScalars.count > textLimit
            ? String(String.UnicodeScalarView(text.unicodeScalars.prefix(textLimit))) + "…" : text
    }

    /// The most bytes of a text in a note; longer texts are cut.
    private static let textLimit = 200
}

// Needed because this type has methods with the same names.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ size: Int) -> Int {
    read(descriptor, buffer, size)
}
