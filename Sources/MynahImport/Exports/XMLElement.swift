import MynahSupport

/// An element of an XML text (XML 1.0), with the line on which it begins.
///
/// The parser supports the XML that programs export: elements, attributes, comments, and the declaration. It
/// refuses document type declarations, because their entities can expand without limit.
struct XMLElement {
    var name: String
    var attributes: [String: String] = [:]
    var children: [XMLElement] = []
    var line: Int

    /// The deepest nesting of elements, which no export reaches.
    private static let deepest = 64
    /// The most bytes of a text.
    private static let maximumSize = 16 << 20

    /// Whether bytes begin like an XML text.
    static func isLikely(_ bytes: [UInt8]) -> Bool {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        return text.first { !isSpace($0) } == UInt8(ascii: "<")
    }

    /// Parses a text, and returns its root element.
    static func root(of bytes: [UInt8]) throws(ImportProblem) -> XMLElement {
        guard bytes.count <= maximumSize else {
            throw ImportProblem("the XML is larger than \(maximumSize >> 20) MiB")
        }
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw ImportProblem("the XML is not UTF-8; save it as UTF-8")
        }
        var parser = Parser(
            bytes: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes)
        try parser.skipMisc()
        let root = try parser.element(depth: 0)
        try parser.skipMisc()
        guard parser.isAtEnd else { throw parser.problem("nothing may follow the root element") }
        return root
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    private struct Parser {
        let bytes: [UInt8]
        var position = 0
        var line = 1

        init(bytes: [UInt8]) { self.bytes = bytes }

        var isAtEnd: Bool { position >= bytes.count }
        var next: UInt8? { isAtEnd ? nil : bytes[position] }

        func problem(_ message: String) -> ImportProblem { ImportProblem(message, onLine: line) }

        mutating func advance(_ count: Int = 1) {
            for _ in 0..<count where position < bytes.count {
                if bytes[position] == 0x0A { line += 1 }
                position += 1
            }
        }

        func begins(_ text: StaticString) -> Bool {
            let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
            return bytes[position...].starts(with: wanted)
        }

        mutating func skipSpace() {
            while let byte = next, XMLElement.isSpace(byte) { advance() }
        }

        /// Skips bytes up to and including an end mark.
        mutating func skip(past end: [UInt8], of what: String) throws(ImportProblem) {
            let start = self
            while !isAtEnd {
                if bytes[position...].starts(with: end) { return advance(end.count) }
                advance()
            }
            throw start.problem("\(what) does not end")
        }

        /// Skips spaces, comments and processing instructions between elements.
        mutating func skipMisc() throws(ImportProblem) {
            while true {
                skipSpace()
                if begins("<!--") {
                    try skip(past: Array("-->".utf8), of: "a comment")
                } else if begins("<?") {
                    try skip(past: Array("?>".utf8), of: "a processing instruction")
                } else if begins("<!DOCTYPE") {
                    throw problem("a document type declaration is not allowed; remove it")
                } else {
                    return
                }
            }
        }

        mutating func element(depth: Int) throws(ImportProblem) -> XMLElement {
            guard depth < XMLElement.deepest else {
                throw problem("the elements are nested more than \(XMLElement.deepest) levels deep")
            }
            guard next == UInt8(ascii: "<") else { throw problem("an element must begin with <") }
            advance()
            var element = XMLElement(name: try name(), line: line)
            while true {
                skipSpace()
                if begins("/>") {
                    advance(2)
                    return element
                }
                if next == UInt8(ascii: ">") {
                    advance()
                    break
                }
                let (key, value) = try attribute()
                guard element.attributes.updateValue(value, forKey: key) == nil else {
                    throw problem("the attribute \(key) is repeated")
                }
            }
            try content(of: &element, depth: depth)
            return element
        }

        private mutating func content(
            of element: inout XMLElement, depth: Int
        ) throws(ImportProblem) {
            while true {
                // Text between elements has no meaning in these exports.
                while let byte = next, byte != UInt8(ascii: "<") { advance() }
                guard !isAtEnd else {
                    throw ImportProblem("<\(element.name)> is not closed", onLine: element.line)
                }
                if begins("</") {
                    advance(2)
                    let closed = try name()
                    skipSpace()
                    guard closed == element.name, next == UInt8(ascii: ">") else {
                        throw problem("</\(closed)> does not close <\(element.name)>")
                    }
                    return advance()
                }
                if begins("<![CDATA[") {
                    try skip(past: Array("]]>".utf8), of: "a CDATA section")
                } else if begins("<!") || begins("<?") {
                    let start = position
                    try skipMisc()
                    guard position > start else { throw problem("a declaration is not allowed here") }
                } else {
                    element.children.append(try self.element(depth: depth + 1))
                }
            }
        }

        private mutating func name() throws(ImportProblem) -> String {
            let start = position
            while let byte = next, byte > 0x7F || Self.isName(byte) { advance() }
            guard position > start, position - start <= 256 else { throw problem("a name was expected") }
            return String(decoding: bytes[start..<position], as: UTF8.self)
        }

        private static func isName(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "."), UInt8(ascii: ":"):
                true
            default: false
            }
        }

        private mutating func attribute() throws(ImportProblem) -> (String, String) {
            let key = try name()
            skipSpace()
            guard next == UInt8(ascii: "=") else { throw problem("the attribute \(key) has no value") }
            advance()
            skipSpace()
            guard let quote = next, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
                throw problem("the value of \(key) must be in quotes")
            }
            advance()
            let start = position
            while let byte = next, byte != quote {
                guard byte != UInt8(ascii: "<") else { throw problem("the value of \(key) does not end") }
                advance()
            }
            guard !isAtEnd else { throw problem("the value of \(key) does not end") }
            let text = String(decoding: bytes[start..<position], as: UTF8.self)
            advance()
            return (key, try replacingReferences(in: text))
        }

        /// Replaces entity references such as `&amp;`, and character references, with their characters (4.1,
        /// 4.6).
        private func replacingReferences(in text: String) throws(ImportProblem) -> String {
            guard text.contains("&") else { return text }
            var result = ""
            var rest = text[...]
            while let start = rest.firstIndex(of: "&") {
                result += rest[..<start]
                guard let end = rest[start...].firstIndex(of: ";") else {
                    throw problem("a & must be written as &amp;")
                }
                let name = rest[rest.index(after: start)..<end]
                guard let character = Self.character(of: name) else {
                    throw problem("the reference &\(name.prefix(20)); is not known")
                }
                result.unicodeScalars.append(character)
                rest = rest[rest.index(after: end)...]
            }
            return result + rest
        }

        private static func character(of name: Substring) -> Unicode.Scalar? {
            switch name {
            case "amp": return "&"
            case "lt": return "<"
            case "gt": return ">"
            case "quot": return "\""
            case "apos": return "'"
            default:
                guard name.hasPrefix("#") else { return nil }
                let digits = name.dropFirst()
                let number =
                    digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
                return number.flatMap { Unicode.Scalar($0) }
            }
        }
    }
}
