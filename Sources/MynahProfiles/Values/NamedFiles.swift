/// The files that a profile refers to, each read once.
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

    /// Begins without files; paths are relative to the folder of the profile at `path`.
    init(besides path: String) {
        folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }

    /// A column of a file, whose path is relative to the profile's folder.
    mutating func column(_ name: CSVColumn.Name, of file: String) throws(CSVColumn.Problem) -> CSVColumn {
        let key = Key(path: file.hasPrefix("/") ? file : folder + file, column: name)
        if let column = columns[key] { return column }
        let column = try CSVColumn(contents(of: key.path, atMost: CSVColumn.maximumSize), name)
        columns[key] = column
        return column
    }

    /// The lines of a recording, whose path is relative to the profile's folder.
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
    /// Reads a file that a value refers to, with `make`; `nil` after an issue was reported.
    func contents<Contents>(
        of file: String, at node: YAMLNode,
        _ make: (inout NamedFiles) throws(CSVColumn.Problem) -> Contents
    ) -> Contents? {
        guard var files else {
            error(at: node, "only a profile that is a file itself can name another file")
            return nil
        }
        // Not a copy: each file is read once.
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
