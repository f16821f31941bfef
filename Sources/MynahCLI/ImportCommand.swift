import ArgumentParser
import MynahImport

/// `mynah import`.
struct ImportCommand: StagedCommand {
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

    func play(in surroundings: Surroundings) throws {
        let destination = ImportOutput(folder: output, subject: file, surroundings: surroundings)
        do throws(ImportProblem) {
            let result = try CaptureImport.profile(
                from: CaptureInput.contents(of: file),
                named: String(file.split(separator: "/").last ?? ""), device: device,
                recordingFile: destination.recordingFile)
            try destination.write(result)
        } catch {
            destination.fail(error.description)
            throw Exit.problems
        }
    }
}
