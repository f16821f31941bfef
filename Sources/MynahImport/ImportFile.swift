import MynahSupport

/// Reads the file to import.
package enum ImportFile {
    /// The most bytes of a file; a phone's log of a day is smaller.
    package static let maximumSize = 256 << 20

    /// Returns the bytes of a regular file.
    package static func contents(of path: String) throws(ImportProblem) -> [UInt8] {
        let kind: InputFile.Kind
        do throws(InputFile.Problem) {
            let file = try InputFile(path)
            kind = file.kind
            // The size is checked before memory is reserved for the file.
            if kind == .regular, file.size > maximumSize { throw .tooLarge }
            if kind == .regular { return try file.read(atMost: maximumSize) }
        } catch .tooLarge {
            throw tooLarge
        } catch {
            throw ImportProblem("cannot be read: \(error.reason)")
        }
        throw ImportProblem(
            kind == .directory
                ? "is a folder; name a capture in it" : "is not a regular file; write it to a file first")
    }

    private static var tooLarge: ImportProblem {
        ImportProblem(
            "is larger than \(maximumSize >> 20) MiB; cut it, as in editcap -A TIME -B TIME FILE PART.pcapng")
    }
}
