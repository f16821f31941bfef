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

            Also reads what a sniffer heard on the air (pcap and pcapng with link type 251, 256 or 272), and \
            the GATT servers and the macros that nRF Connect exports (XML).

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

    @Option(
        help: """
            A file with the long-term keys (LTK) of the encrypted links that a sniffer heard: one a line, \
            as 32 hexadecimal digits.
            """, completion: .file())
    var ltkFile: String?

    @Flag(
        help: """
            Imports what the phone did with the device, as the script of an app with central: its reads, \
            subscriptions, and writes with their times.
            """)
    var phone = false

    func play(in surroundings: Surroundings) throws {
        let destination = ImportOutput(folder: output, subject: file, surroundings: surroundings)
        let keys = try keys(surroundings)
        do throws(ImportProblem) {
            let bytes = try ImportFile.contents(of: file)
            let name = String(file.split(separator: "/").last ?? "")
            try destination.write(
                phone
                    ? CaptureImport.phone(from: bytes, named: name, device: device, keys: keys)
                    : CaptureImport.profile(
                        from: bytes, named: name, device: device, keys: keys,
                        recordingFile: destination.recordingFile))
        } catch {
            destination.fail(error.description)
            throw Exit.problems
        }
    }

    private func keys(_ surroundings: Surroundings) throws -> LongTermKeys {
        guard let ltkFile else { return LongTermKeys() }
        do throws(ImportProblem) {
            return try LongTermKeys(ImportFile.contents(of: ltkFile))
        } catch {
            ImportOutput(folder: nil, subject: ltkFile, surroundings: surroundings).fail(error.description)
            throw Exit.problems
        }
    }
}
