import ArgumentParser
import MynahConsole
import MynahImport
import MynahSupport

import Glibc

/// `mynah import`.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Makes a profile of a device in a Bluetooth capture or an export.",
        discussion: """
            mynah import btsnoop_hci.log > strap.yaml
            mynah import btsnoop_hci.log --output strap

            Reads HCI captures: Android's snoop log and btmon's files (btsnoop), pcap, pcapng, and Apple's \
            PacketLogger. The profile has the attributes, the values that were read, the adverts, the \
            answers to writes, and comments about what the capture does not show.

            Also reads the GATT servers that nRF Connect exports (XML).

            Exits with status 0, or with 1 if the file cannot be imported.
            """)

    @Argument(
        help: "The capture or the export.",
        completion: .file(extensions: [
            "xml", "log", "btsnoop", "cfa", "pcap", "pcapng", "pklg",
        ]))
    var file: String

    @Option(
        help: "The device to import, if the capture shows several: its address or its name.")
    var device: String?

    @Option(
        help: """
            A folder for NAME.yaml and, if the device sent values, NAME.jsonl with the values and their \
            times. Default: the profile goes to standard output, without times.
            """, completion: .directory)
    var output: String?

    func run() throws {
        do throws(ImportProblem) {
            let result = try CaptureImport.profile(
                from: CaptureInput.contents(of: file),
                named: String(file.split(separator: "/").last ?? ""), device: device,
                recordingFile: output == nil ? nil : { Self.stem(of: $0) + ".jsonl" })
            for warning in result.warnings { warn(warning) }
            if let output {
                try write(result, to: output)
            } else {
                StandardOutput.print(result.profile, terminator: "")
                if result.lostValues > 0 {
                    warn(
                        """
                        the profile has no times for the \(result.lostValues) values that the device sent; \
                        --output DIR keeps them
                        """)
                }
            }
        } catch {
            StandardError.print("\(PrintableText.of(file)): error: \(Self.printable(error.description))")
            throw Exit.problems
        }
    }

    private func warn(_ message: String) {
        StandardError.print("\(PrintableText.of(file)): warning: \(Self.printable(message))")
    }

    /// A message's lines; names of devices may have anything in them.
    private static func printable(_ message: String) -> String {
        message.split(separator: "\n", omittingEmptySubsequences: false).map { PrintableText.of(String($0)) }
            .joined(separator: "\n")
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
        // The profile comes last: it names the other file.
        if !result.recording.isEmpty { try write(result.recording, toNew: base + ".jsonl") }
        try write(result.profile, toNew: base + ".yaml")
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
