import MynahSupport

/// Reads the file to import.
package enum ImportFile {
    /// The largest size of a file, in bytes; the log of a phone for a whole day is smaller.
    package static let maximumSize = 256 << 20

    /// Returns the bytes of a regular file.
    package static func contents(of path: String) throws(ImportProblem) -> [UInt8] {
        let kind: InputFile.Kind
        do throws(InputFile.Problem) {
            let file = try InputFile(path)
            kind = file.kind
            // The size is checked first, so that no memory is reserved for a larger file.
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
