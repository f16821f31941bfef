/// The files to which a profile refers; each is read only once.
struct NamedFiles {
    /// The largest total size of these files, in bytes.
    static let maximumSize = 16 << 20

    private struct Key: Hashable {
        var path: String
        var column: CSVColumn.Name
    }

    private let folder: String
    private var columns: [Key: CSVColumn] = [:]
    private var recordings: [String: [RecordedLine]] = [:]
    private var size = 0

    /// Makes the reader of files, whose paths are relative to the folder of the profile at `path`.
    init(besides path: String) {
        folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }

    /// Returns a column of a file, whose path is relative to the profile's folder.
    mutating func column(_ name: CSVColumn.Name, of file: String) throws(CSVColumn.Problem) -> CSVColumn {
        let key = Key(path: file.hasPrefix("/") ? file : folder + file, column: name)
        if let column = columns[key] { return column }
        let column = try CSVColumn(contents(of: key.path, atMost: CSVColumn.maximumSize), name)
        columns[key] = column
        return column
    }

    /// Returns the lines of a recording, whose path is relative to the profile's folder.
    mutating func recording(_ file: String) throws(CSVColumn.Problem) -> [RecordedLine] {
        let path = file.hasPrefix("/") ? file : folder + file
        if let lines = recordings[path] { return lines }
        let lines = try RecordedLine.lines(of: contents(of: path, atMost: Self.maximumSize))
        recordings[path] = lines
        return lines
    }

    private mutating func contents(
        of path: String, atMost maximum: Int
    ) throws(CSVColumn.Problem) -> [UInt8] {
        let bytes = try CSVColumn.contents(of: path, atMost: maximum)
        size += bytes.count
        guard size <= Self.maximumSize else {
            throw CSVColumn.Problem(message: "exceeds the limit: all files of a profile have over 16 MiB")
        }
        return bytes
    }
}

extension FormatReader {
    /// Reads a file to which a value refers, with `make`; returns `nil` after an issue was reported.
    func contents<Contents>(
        of file: String, at node: YAMLNode,
        _ make: (inout NamedFiles) throws(CSVColumn.Problem) -> Contents
    ) -> Contents? {
        guard var files else {
            error(at: node, "only a profile that is a file itself can name another file")
            return nil
        }
        // Moved out to avoid a copy, so that each file is read once.
        self.files = nil
        defer { self.files = files }
        do throws(CSVColumn.Problem) {
            return try make(&files)
        } catch {
            self.error(at: node, "the file \(Words.quote(file)) \(error.message)")
            return nil
        }
    }
}
