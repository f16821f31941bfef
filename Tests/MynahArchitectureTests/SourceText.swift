/// A Swift source as rules read it: without comments, and with the contents of its strings covered.
///
/// It is no parser. It knows lines, brackets and words, which is enough to count.
struct SourceText {
    /// The text.
    ///
    /// Comments are gone, each character in a string literal or between backticks is `_`, and lines are where
    /// they were.
    let covered: [UInt8]
    /// Every word outside of strings, in order.
    let words: [Word]

    /// A word of the code, and how deep it is in braces, and in parentheses and brackets.
    struct Word {
        var text: String
        var range: Range<Int>
        var braces: Int
        var parentheses: Int
    }

    init(_ text: String) {
        var cover = Cover(text)
        covered = cover.run()
        words = Self.words(of: covered)
    }

    private static func words(of covered: [UInt8]) -> [Word] {
        var words: [Word] = []
        var (braces, parentheses, index) = (0, 0, 0)
        while index < covered.count {
            let start = index
            switch covered[index] {
            case UInt8(ascii: "{"): braces += 1
            case UInt8(ascii: "}"): braces -= 1
            case UInt8(ascii: "("), UInt8(ascii: "["): parentheses += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"): parentheses -= 1
            case let byte where isWord(byte):
                while index < covered.count, isWord(covered[index]) { index += 1 }
                words.append(
                    Word(
                        text: String(decoding: covered[start..<index], as: UTF8.self), range: start..<index,
                        braces: braces, parentheses: parentheses))
                continue
            default: break
            }
            index += 1
        }
        return words
    }

    /// The lines that have code.
    var codeLines: Int { Self.codeLines(covered[...]) }

    static func codeLines(_ text: ArraySlice<UInt8>) -> Int {
        text.split(separator: UInt8(ascii: "\n")).count { $0.contains { !isSpace($0) } }
    }

    /// The text as a string, for rules that look for a word.
    var code: String { String(decoding: covered, as: UTF8.self) }

    static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }
    static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...: true
        default: false
        }
    }
}

/// Takes comments out of a source and covers its strings.
private struct Cover {
    private enum Mode {
        /// Code; in an interpolation, with the count of parentheses that are open in it.
        case code(parentheses: Int?)
        case string(hashes: Int, quotes: Int)
    }

    private let text: [UInt8]
    private var index = 0
    private var modes: [Mode] = [.code(parentheses: nil)]
    private var out: [UInt8] = []

    init(_ text: String) {
        self.text = Array(text.utf8)
        out.reserveCapacity(self.text.count)
    }

    private func has(_ word: StaticString, at position: Int) -> Bool {
        let count = word.utf8CodeUnitCount
        guard position + count <= text.count, text[position] == word.utf8Start[0] else { return false }
        return (0..<count).allSatisfy { text[position + $0] == word.utf8Start[$0] }
    }

    private func has(_ byte: UInt8, _ times: Int, at position: Int) -> Bool {
        position + times <= text.count && (0..<times).allSatisfy { text[position + $0] == byte }
    }

    private mutating func emit(_ count: Int = 1) {
        out += text[index..<index + count]
        index += count
    }

    mutating func run() -> [UInt8] {
        while index < text.count {
            switch modes[modes.count - 1] {
            case .code(let parentheses): code(parentheses)
            case .string(let hashes, let quotes): string(hashes, quotes)
            }
        }
        return out
    }

    private mutating func code(_ parentheses: Int?) {
        if has("//", at: index) {
            while index < text.count, text[index] != UInt8(ascii: "\n") { index += 1 }
        } else if has("/*", at: index) {
            comment()
        } else if has("`", at: index) {
            name()
        } else if let opening = opening() {
            modes.append(.string(hashes: opening.hashes, quotes: opening.quotes))
            emit(opening.hashes + opening.quotes)
        } else {
            count(text[index], parentheses)
            emit()
        }
    }

    private mutating func count(_ byte: UInt8, _ parentheses: Int?) {
        guard let parentheses else { return }
        switch byte {
        case UInt8(ascii: "("): modes[modes.count - 1] = .code(parentheses: parentheses + 1)
        case UInt8(ascii: ")") where parentheses == 1: modes.removeLast()
        case UInt8(ascii: ")"): modes[modes.count - 1] = .code(parentheses: parentheses - 1)
        default: break
        }
    }

    private func opening() -> (hashes: Int, quotes: Int)? {
        var hashes = 0
        while index + hashes < text.count, text[index + hashes] == UInt8(ascii: "#") { hashes += 1 }
        if has("\"\"\"", at: index + hashes) { return (hashes, 3) }
        return has("\"", at: index + hashes) ? (hashes, 1) : nil
    }

    private mutating func comment() {
        var depth = 0
        repeat {
            if has("/*", at: index) {
                depth += 1
                index += 2
            } else if has("*/", at: index) {
                depth -= 1
                index += 2
            } else {
                if text[index] == UInt8(ascii: "\n") { out.append(text[index]) }
                index += 1
            }
        } while depth > 0 && index < text.count
    }

    /// A name in backticks, which may be a sentence.
    private mutating func name() {
        emit()
        while index < text.count, text[index] != UInt8(ascii: "`") { hide() }
        if index < text.count { emit() }
    }

    private mutating func string(_ hashes: Int, _ quotes: Int) {
        let (quote, hash) = (UInt8(ascii: "\""), UInt8(ascii: "#"))
        if has(quote, quotes, at: index), has(hash, hashes, at: index + quotes) {
            modes.removeLast()
            emit(quotes + hashes)
        } else if text[index] != UInt8(ascii: "\\") || !has(hash, hashes, at: index + 1) {
            hide()
        } else if has("(", at: index + 1 + hashes) {
            modes.append(.code(parentheses: 1))
            emit(hashes + 2)
        } else {
            for _ in 0..<min(hashes + 2, text.count - index) { hide() }
        }
    }

    private mutating func hide() {
        let isLineEnd = text[index] == UInt8(ascii: "\n")
        out.append(isLineEnd ? text[index] : UInt8(ascii: "_"))
        index += 1
    }
}
