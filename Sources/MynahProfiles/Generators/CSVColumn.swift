import Glibc
import MynahSupport

/// A column of numbers in a file of comma-separated values (RFC 4180).
struct CSVColumn: Hashable, Sendable {
    static let maximumSize = 1 << 20
    static let maximumRows = 100_000

    /// The reason that a column has no numbers, as a sentence without its full stop.
    struct Problem: Error {
        var message: String
    }

    enum Name: Hashable, Sendable {
        /// A column by its number, counted from 1.
        case number(Int)
        /// A column by its name in the first row.
        case word(String)
    }

    let numbers: [Double]

    /// Parses the numbers in a column.
    ///
    /// If the first row of the column is not a number, the row has the names of the columns.
    init(_ bytes: [UInt8], _ name: Name) throws(Problem) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Problem(message: "is not UTF-8")
        }
        var numbers: [Double] = []
        var column: Int? = if case .number(let number) = name { number - 1 } else { nil }
        var isFirst = true
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() where line.contains(where: { !$0.isWhitespace }) {
            let cells = Self.cells(line)
            defer { isFirst = false }
            if isFirst, case .word(let word) = name {
                guard let found = cells.firstIndex(of: word) else {
                    let near = NearestName.of(word, among: cells).map { "; did you mean \"\($0)\"?" } ?? ""
                    throw Problem(message: "has no column \(Words.quote(word))\(near)")
                }
                column = found
                continue
            }
            guard let column, cells.indices.contains(column) else {
                throw Problem(message: "has only \(cells.count.counting("column")) in line \(index + 1)")
            }
            guard let number = Double(cells[column]), number.isFinite else {
                if isFirst { continue }
                throw Problem(message: "has \(Words.quote(cells[column])) in line \(index + 1), not a number")
            }
            guard numbers.count < Self.maximumRows else {
                throw Problem(message: "has over \(Self.maximumRows) rows")
            }
            numbers.append(number)
        }
        guard !numbers.isEmpty else { throw Problem(message: "has no numbers") }
        self.numbers = numbers
    }

    /// Returns the cells of a row, without quotes and without the spaces around them.
    ///
    /// Commas in quotes are not supported, because no number contains one.
    private static func cells(_ line: Substring) -> [String] {
        line.split(separator: ",", omittingEmptySubsequences: false).map { cell in
            let cell = String(cell).replacing("\t", with: " ").trimmed
            return cell.count > 1 && cell.first == "\"" && cell.last == "\""
                ? String(cell.dropFirst().dropLast()) : cell
        }
    }

    /// Returns the bytes of a regular file of at most `maximum` bytes.
    static func contents(of path: String, atMost maximum: Int) throws(Problem) -> [UInt8] {
        do throws(InputFile.Problem) {
            let file = try InputFile(path)
            // Reading a device might never end.
            if file.kind == .regular { return try file.read(atMost: maximum) }
        } catch {
            switch error {
            case .missing: throw Problem(message: "does not exist")
            case .tooLarge: throw Problem(message: "is larger than \(maximum >> 20) MiB")
            case .system: throw Problem(message: "cannot be read: \(error.text)")
            }
        }
        throw Problem(message: "is not a file")
    }
}
