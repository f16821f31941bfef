import MynahCore
import MynahSupport

/// Imports a device from an HCI capture, or from a file that another tool exported.
package enum CaptureImport {
    /// An imported device: the contents of the profile's files.
    package struct Result: Sendable {
        /// The device's name.
        package var name: String
        /// The text of the profile.
        package var profile: String
        /// The lines of the recording; empty if there is none.
        package var recording: RecordingText
        /// The name of the recording's file, or `nil` if no recording was requested; the recording may be
        /// empty.
        package var recordingFile: String?
        /// The number of timed values that are missing in the profile, because it has no recording.
        package var lostValues: Int
        /// Warnings for the user.
        package var warnings: [String]
    }

    /// Reads a capture or an export, and makes the profile of one device.
    ///
    /// - `source` is the file's name for a comment.
    /// - `keys` decrypt the encrypted links in a sniffer's capture.
    /// - `device` is an address, a name or the beginning of a name. It is required if the capture shows
    ///   several devices.
    /// - `recordingFile` returns the name of the recording for a device's name. Without it, sent values
    ///   become constants.
    package static func profile(
        from bytes: [UInt8], named source: String, device wanted: String? = nil,
        keys: LongTermKeys = LongTermKeys(), recordingFile: ((String) -> String)? = nil
    ) throws(ImportProblem) -> Result {
        if XMLElement.isLikely(bytes) {
            let useless = [keys.uselessWarning].compactMap { $0 }
            let root = try XMLElement.root(of: bytes)
            if root.name == "macro" {
                let (name, text, warnings) = try MacroExport.profile(root, from: .file(source))
                return app(name, warnings: warnings + useless) { _ in text }
            }
            let (imported, warnings) = try ServerExport.profile(of: root)
            return result(of: imported, from: .file(source), recordingFile: nil, warnings: warnings + useless)
        }
        let (device, notes, read) = try device(wanted, in: bytes, keys)
        // A name made from a connection's number is not a device name.
        var imported = ImportedProfile(device.device, fallback: device.address ?? "Imported device")
        imported.notes += notes
        if case .remote(let address) = device.device.key, let count = read.unreadable[address] {
            imported.notes.append(
                """
                \(count.counting("encrypted packet")) could not be read; --ltk-file takes the key of the \
                bond
                """
            )
        }
        return result(
            of: imported, from: .file(source), recordingFile: recordingFile,
            warnings: read.warnings + imported.warnings)
    }

    /// Reads a capture, and makes the profile of an app that uses a device as the captured central did.
    package static func phone(
        from bytes: [UInt8], named source: String, device wanted: String? = nil,
        keys: LongTermKeys = LongTermKeys()
    ) throws(ImportProblem) -> Result {
        guard !XMLElement.isLikely(bytes) else {
            throw ImportProblem("an export of a server shows no phone; --phone takes a capture")
        }
        let (device, _, read) = try device(wanted, in: bytes, keys)
        let name = device.name ?? device.address ?? "Imported device"
        let phone = try ImportedPhone(device.device, name: name)
        return app("App of " + name, warnings: read.warnings) { name in
            ProfileText.text(of: phone, named: name, from: .file(source))
        }
    }

    private static func app(
        _ name: String, warnings: [String], _ text: (String) -> String
    ) -> Result {
        Result(
            name: name, profile: text(name), recording: RecordingText(), recordingFile: nil, lostValues: 0,
            warnings: warnings)
    }

    private static func device(
        _ wanted: String?, in bytes: [UInt8], _ keys: LongTermKeys
    ) throws(ImportProblem) -> (DeviceChoice.Candidate, notes: [String], CaptureReader.Outcome) {
        var analysis = CaptureAnalysis()
        let read = try withoutActuallyEscaping({ analysis.add($0) }) {
            receive throws(ImportProblem) in try CaptureReader.read(bytes, keys: keys, receive: receive)
        }
        return (try choose(wanted, among: analysis.devices, read), analysis.notes, read)
    }

    /// Returns the device with the requested name.
    ///
    /// Throws an error if there is no such device. If the capture has encrypted packets for which there is no
    /// key, the error says so instead.
    private static func choose(
        _ wanted: String?, among devices: [ObservedDevice], _ read: CaptureReader.Outcome
    ) throws(ImportProblem) -> DeviceChoice.Candidate {
        let isDiscovered = devices.contains { $0.server.isDiscovered }
        do throws(ImportProblem) {
            let candidate = try DeviceChoice(devices).choose(wanted)
            if candidate.device.server.isDiscovered || wanted != nil || read.unreadable.isEmpty {
                return candidate
            }
        } catch {
            if isDiscovered || read.unreadable.isEmpty { throw error }
        }
        let count = read.unreadable.values.reduce(0, +)
        let addresses = read.unreadable.keys.compactMap { $0?.description }.sorted()
        let peers = addresses.isEmpty ? "a connection" : addresses.joined(separator: " and ")
        throw ImportProblem(
            """
            \(count.counting("packet")) of \(peers) \
            \(count == 1 ? "is" : "are") encrypted; write the long-term key (LTK) of the bond to a file, and \
            name it with --ltk-file FILE
            """)
    }

    static func result(
        of imported: ImportedProfile, from source: ProfileText.Source, recordingFile: ((String) -> String)?,
        warnings: [String]
    ) -> Result {
        let recordingFile = recordingFile.map { $0(imported.name) }
        let files = ProfileText.files(of: imported, from: source, recordingFile: recordingFile)
        var lost = 0
        if recordingFile == nil {
            for service in imported.services {
                for case .recorded(let values, _)? in service.characteristics.map(\.value) {
                    lost += values.count
                }
            }
        }
        return Result(
            name: imported.name, profile: files.yaml, recording: files.recording,
            recordingFile: recordingFile, lostValues: lost, warnings: warnings + files.leftOut)
    }
}
