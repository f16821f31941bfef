import MynahConsole
import MynahImport
import MynahSupport

import Glibc

/// Where an imported profile goes: `import` and `record` share it.
struct ImportOutput: Sendable {
    /// The folder for its files, or `nil` for standard output.
    let folder: String?
    /// The file or the device that messages are about.
    let subject: String

    /// Makes the name of the recording from that of the device; `nil` if there is no file for it.
    var recordingFile: ((String) -> String)? {
        folder == nil ? nil : { Self.stem(of: $0) + ".jsonl" }
    }

    /// Writes the profile, and warnings about it to standard error.
    func write(_ result: CaptureImport.Result) throws(ImportProblem) {
        for warning in result.warnings { warn(warning) }
        if let folder { return try write(result, to: folder) }
        StandardOutput.print(result.profile, terminator: "")
        guard result.lostValues > 0 else { return }
        warn(
            """
            the profile has no times for the \(result.lostValues) values that the device sent; --output DIR \
            keeps them
            """)
    }

    func warn(_ message: String) { say("warning", message) }

    func fail(_ message: String) { say("error", message) }

    private func say(_ kind: String, _ message: String) {
        // Names of devices may have anything in them.
        let lines = message.split(separator: "\n", omittingEmptySubsequences: false).map {
            PrintableText.of(String($0))
        }
        StandardError.print("\(PrintableText.of(subject)): \(kind): \(lines.joined(separator: "\n"))")
    }

    /// The name of a device as the name of a file: `polar-h10`.
    private static func stem(of name: String) -> String {
        let words = name.lowercased().split { !($0.isLetter || $0.isNumber) || !$0.isASCII }
        let stem = words.joined(separator: "-").prefix(60)
        return stem.isEmpty ? "device" : String(stem)
    }

    // MARK: Files

    private func write(_ result: CaptureImport.Result, to folder: String) throws(ImportProblem) {
        if mkdir(folder, 0o777) != 0, errno != EEXIST {
            throw ImportProblem("the folder \(folder) cannot be made: \(String(cString: strerror(errno)))")
        }
        let base = folder + (folder.hasSuffix("/") ? "" : "/") + Self.stem(of: result.name)
        try write(result.profile, toNew: base + ".yaml")
        if !result.recording.isEmpty {
            do throws(ImportProblem) {
                try write(result.recording, toNew: base + ".jsonl")
            } catch {
                // It names a file that is not there.
                unlink(base + ".yaml")
                throw error
            }
        }
        StandardOutput.print(PrintableText.of(base + ".yaml"))
        if !result.recording.isEmpty { StandardOutput.print(PrintableText.of(base + ".jsonl")) }
    }

    /// Writes a file that is not there yet: a profile that somebody has edited is not replaced.
    private func write(_ text: String, toNew path: String) throws(ImportProblem) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            guard errno != EEXIST else {
                throw ImportProblem("\(path) exists; remove it, or name another folder with --output")
            }
            throw ImportProblem("\(path) cannot be written: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let reason = String(cString: strerror(errno))
                // Half a file would be taken for a whole one.
                unlink(path)
                throw ImportProblem("\(path) cannot be written: \(reason)")
            }
            rest = rest.dropFirst(count)
        }
    }
}
