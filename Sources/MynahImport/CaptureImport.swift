import MynahCore
import MynahSupport

/// Imports a device from a capture of HCI, or from the export of another tool.
package enum CaptureImport {
    /// A device as files of a profile.
    package struct Result: Sendable {
        /// The device's name.
        package var name: String
        /// The text of the profile.
        package var profile: String
        /// The lines of the recording; empty if there is none.
        package var recording: RecordingText
        /// The name of the recording, whether or not there is one; `nil` if no name was wanted.
        package var recordingFile: String?
        /// How many values with times the profile lacks, because it has no recording.
        package var lostValues: Int
        /// Warnings for the user.
        package var warnings: [String]
    }

    /// Reads a capture or an export, and writes the profile of one device.
    ///
    /// `source` is the file's name for a comment. `device` is an address, a name or the beginning of a name;
    /// it is needed if the capture shows several. `recordingFile` makes the name of the recording from the
    /// name of the device; without it, values that were sent become constant ones.
    package static func profile(
        from bytes: [UInt8], named source: String, device wanted: String? = nil,
        recordingFile: ((String) -> String)? = nil
    ) throws(ImportProblem) -> Result {
        if XMLElement.isLikely(bytes) {
            let (imported, warnings) = try ServerExport.profile(of: bytes)
            return result(of: imported, from: .file(source), recordingFile: nil, warnings: warnings)
        }
        var analysis = CaptureAnalysis()
        let warnings = try withoutActuallyEscaping({ analysis.add($0) }) {
            receive throws(ImportProblem) in try CaptureReader.read(bytes, receive: receive)
        }
        let device = try DeviceChoice(analysis.devices).choose(wanted)
        let imported = ImportedProfile(device.device, fallback: device.label)
        return result(
            of: imported, from: .file(source), recordingFile: recordingFile,
            warnings: warnings + imported.warnings)
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
