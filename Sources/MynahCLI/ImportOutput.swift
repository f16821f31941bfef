import MynahConsole
import MynahImport
import MynahSupport

import Glibc

/// Writes an imported profile, for `import` and `record`.
struct ImportOutput: Sendable {
    /// The folder for the files, or `nil` for standard output.
    let folder: String?
    /// The name of the file or the device, for messages.
    let subject: String
    let surroundings: Surroundings
    /// Whether a number is appended to a file name that is in use, as in `polar-h10-2`.
    ///
    /// If not, writing the file fails. Recordings need the number, because they cannot be made again.
    var numbersNames = false

    private static let recordingSuffix = ".jsonl"

    /// Returns the name of the recording's file for the name of the device, or `nil` if no such file is
    /// written.
    var recordingFile: ((String) -> String)? {
        folder == nil ? nil : { newStem(of: $0) + Self.recordingSuffix }
    }

    /// Creates the folder if it is missing; throws if no file can be written to it.
    func prepare() throws(ImportProblem) {
        guard let folder else { return }
        try makeFolder(folder)
        // With the slash, access(2) fails for a file of that name.
        guard access(folder + "/", W_OK | X_OK) == 0 else {
            let remedy = errno == ENOTDIR ? "--output takes a folder" : "name another with --output"
            throw ImportProblem(
                "the folder \(folder) cannot be written to: \(String(cString: strerror(errno))); \(remedy)")
        }
    }

    /// Writes the profile, and prints its warnings to standard error.
    func write(_ result: CaptureImport.Result) throws(ImportProblem) {
        for warning in result.warnings { warn(warning) }
        if let folder { return try write(result, to: folder) }
        surroundings.print(result.profile, terminator: "")
        guard result.lostValues > 0 else { return }
        let values = result.lostValues == 1 ? "value" : "\(result.lostValues) values"
        warn("the profile has no times for the \(values) that the device sent; use --output DIR to keep them")
    }

    func warn(_ message: String) { say("warning", message) }

    func fail(_ message: String) { say("error", message) }

    private func say(_ kind: String, _ message: String) {
        // Names of devices may contain any character.
        let lines = message.split(separator: "\n", omittingEmptySubsequences: false).map {
            PrintableText.of(String($0))
        }
        surroundings.say("\(PrintableText.of(subject)): \(kind): \(lines.joined(separator: "\n"))")
    }

    /// The name of a file for the name of a device: `polar-h10`.
    private static func stem(of name: String) -> String {
        let words = name.lowercased().split { !($0.isLetter || $0.isNumber) || !$0.isASCII }
        let stem = words.joined(separator: "-").prefix(60)
        return stem.isEmpty ? "device" : String(stem)
    }

    /// The name of the files for the name of a device, without a suffix.
    ///
    /// If the name is in use and `numbersNames` is `true`, a number is appended.
    private func newStem(of name: String) -> String {
        let stem = Self.stem(of: name)
        guard numbersNames, folder != nil else { return stem }
        var (number, next) = (1, stem)
        while [".yaml", Self.recordingSuffix].contains(where: { access(path(next) + $0, F_OK) == 0 }) {
            number += 1
            next = "\(stem)-\(number)"
        }
        return next
    }

    // MARK: Files

    /// The path of a file in the folder.
    private func path(_ name: String) -> String {
        let folder = self.folder ?? "."
        return folder + (folder.hasSuffix("/") ? "" : "/") + name
    }

    private func makeFolder(_ folder: String) throws(ImportProblem) {
        if mkdir(folder, 0o777) != 0, errno != EEXIST {
            let reason = String(cString: strerror(errno))
            let parent = ShellWord.quoted(Directory.parent(of: folder))
            let remedy =
                errno == ENOENT ? "make the one above it: mkdir -p \(parent)" : "name another with --output"
            throw ImportProblem("the folder \(folder) cannot be made: \(reason); \(remedy)")
        }
    }

    private func write(_ result: CaptureImport.Result, to folder: String) throws(ImportProblem) {
        try makeFolder(folder)
        // The profile already contains the name of its recording.
        let stem =
            result.recordingFile.map { String($0.dropLast(Self.recordingSuffix.count)) }
            ?? newStem(of: result.name)
        let base = path(stem)
        try write(toNew: base + ".yaml") { file throws(ImportProblem) in
            try file.write(Array(result.profile.utf8))
        }
        if !result.recording.isEmpty {
            do throws(ImportProblem) {
                try write(toNew: base + Self.recordingSuffix) { file throws(ImportProblem) in
                    try result.recording.write { block throws(ImportProblem) in try file.write(block) }
                }
            } catch {
                // The profile names a recording that was not written.
                unlink(base + ".yaml")
                throw error
            }
        }
        surroundings.print(PrintableText.of(base + ".yaml"))
        if !result.recording.isEmpty {
            surroundings.print(PrintableText.of(base + Self.recordingSuffix))
        }
    }

    /// Writes a new file; throws if it exists, because the user may have edited it.
    private func write(
        toNew path: String, _ body: (NewFile) throws(ImportProblem) -> Void
    ) throws(ImportProblem) {
        let file = try NewFile(path)
        defer { close(file.descriptor) }
        do throws(ImportProblem) {
            try body(file)
        } catch {
            // An incomplete file could be mistaken for a complete one.
            unlink(path)
            throw error
        }
    }
}

/// A file that this program has created.
private struct NewFile {
    let path: String
    let descriptor: Int32

    init(_ path: String) throws(ImportProblem) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            guard errno != EEXIST else {
                throw ImportProblem("\(path) exists; remove it, or name another folder with --output")
            }
            throw ImportProblem("\(path) cannot be written: \(String(cString: strerror(errno)))")
        }
    }

    func write(_ bytes: [UInt8]) throws(ImportProblem) {
        if let code = Descriptor.write(bytes, to: descriptor) {
            throw ImportProblem("\(path) cannot be written: \(String(cString: strerror(code)))")
        }
    }
}
