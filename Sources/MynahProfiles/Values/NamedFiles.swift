/// The files that a profile names, each read once.
struct NamedFiles {
    /// More than this, over all of a profile's files, is not read.
    static let maximumSize = 16 << 20

    private struct Key: Hashable {
        var path: String
        var column: CSVColumn.Name
    }

    private let folder: String
    private var columns: [Key: CSVColumn] = [:]
    private var size = 0

    /// The files beside a profile.
    init(besides path: String) {
        folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }

    /// A column of a file whose path begins at the profile's folder.
    mutating func column(_ name: CSVColumn.Name, of file: String) throws(CSVColumn.Problem) -> CSVColumn {
        let key = Key(path: file.hasPrefix("/") ? file : folder + file, column: name)
        if let column = columns[key] { return column }
        let bytes = try CSVColumn.contents(of: key.path)
        size += bytes.count
        guard size <= Self.maximumSize else {
            throw CSVColumn.Problem(message: "is too much: the profile's files have over 16 MiB")
        }
        let column = try CSVColumn(bytes, name)
        columns[key] = column
        return column
    }
}
