/// Finds the second occurrence of a key that is repeated in one mapping, which Yams does not report.
struct RepeatedKey {
    struct Place {
        var mark: SourceMark
        /// In Unicode scalars, quotes included.
        var length: Int
    }

    private let spellings: [[Unicode.Scalar]]
    private let lines: [[Unicode.Scalar]]

    init(key: String, text: String) {
        spellings = [key, "\"\(key)\"", "'\(key)'"].map { Array($0.unicodeScalars) }
        lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .map { Array($0.unicodeScalars) }
    }

    /// The next place in the mapping of the key at `mark`.
    func find(after mark: SourceMark) -> Place? {
        guard lines.indices.contains(mark.line - 1), mark.column >= 1 else { return nil }
        return inBlock(after: mark) ?? inFlow(after: mark)
    }

    /// The text with that key replaced.
    func replacing(_ place: Place, with name: String) -> String {
        var lines = lines
        let start = place.mark.column - 1
        lines[place.mark.line - 1].replaceSubrange(start..<start + place.length, with: name.unicodeScalars)
        return lines.map { String(String.UnicodeScalarView($0)) }.joined(separator: "\n")
    }

    /// The keys of a block mapping begin in one column; a line that begins before it ends the mapping.
    private func inBlock(after mark: SourceMark) -> Place? {
        for index in lines.indices.dropFirst(mark.line) {
            let line = lines[index]
            guard let column = line.firstIndex(where: { $0 != " " }), line[column] != "#" else { continue }
            if column < mark.column - 1 { return nil }
            if column == mark.column - 1, let length = keyLength(at: column, of: line) {
                return Place(mark: SourceMark(line: index + 1, column: column + 1), length: length)
            }
        }
        return nil
    }

    /// Keys of a flow mapping follow its commas; the search ends at the closing brace.
    private func inFlow(after mark: SourceMark) -> Place? {
        var depth = 0
        var quote: Unicode.Scalar?
        var isBehindComma = false
        for index in lines.indices.dropFirst(mark.line - 1) {
            let line = lines[index]
            for column in line.indices where index > mark.line - 1 || column >= mark.column - 1 {
                let scalar = line[column]
                if let open = quote {
                    if scalar == open { quote = nil }
                    continue
                }
                if isBehindComma, scalar != " ", scalar != "\t" {
                    isBehindComma = false
                    if let length = keyLength(at: column, of: line) {
                        return Place(mark: SourceMark(line: index + 1, column: column + 1), length: length)
                    }
                }
                switch scalar {
                case "\"", "'": quote = scalar
                case "[", "{": depth += 1
                case "]", "}":
                    depth -= 1
                    if depth < 0 { return nil }
                case ",": isBehindComma = depth == 0
                default: break
                }
            }
        }
        return nil
    }

    private func keyLength(at column: Int, of line: [Unicode.Scalar]) -> Int? {
        for spelling in spellings where line[column...].starts(with: spelling) {
            let rest = line[(column + spelling.count)...].drop { $0 == " " }
            if rest.first == ":" { return spelling.count }
        }
        return nil
    }
}
