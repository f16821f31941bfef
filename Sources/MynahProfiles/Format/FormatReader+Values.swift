import MynahCore
import MynahSupport

// Parsing of scalars with a certain meaning.
extension FormatReader {
    func integer(_ node: YAMLNode, _ what: String, in range: ClosedRange<Int>) -> Int? {
        text(node, what).flatMap { integer($0, at: node, what, in: range) }
    }

    func integer(_ text: String, at node: YAMLNode, _ what: String, in range: ClosedRange<Int>) -> Int? {
        let number = Words.number(text)
        guard number != nil || Words.isWhole(text) else {
            error(at: node, "\(what) must be a whole number, as 18 or 0x12, not \(Words.quote(text))")
            return nil
        }
        if (2...20).contains(text.utf8.count), text.hasPrefix("0"),
            text.utf8.allSatisfy({ Hex.value(ofDigit: $0) != nil })
        {
            // The SIG lists company identifiers with leading zeros, such as 0059, which is 0x59.
            let digits = text.drop { $0 == "0" }
            error(
                at: node,
                "\(what) \(text) is ambiguous; write 0x\(text) or \(digits.isEmpty ? "0" : digits)"
            )
            return nil
        }
        // A number that needs more than 64 bits is in no range.
        guard let number, range.contains(number) else {
            let bounds =
                text.lowercased().contains("x")
                ? "\(Self.hex(range.lowerBound)) and \(Self.hex(range.upperBound))"
                : "\(range.lowerBound) and \(range.upperBound)"
            let shown = text.count > 40 ? text.prefix(40) + "…" : text[...]
            error(at: node, "\(what) must be between \(bounds), not \(shown)")
            return nil
        }
        return number
    }

    private static func hex(_ number: Int) -> String { "0x" + String(number, radix: 16, uppercase: true) }

    func bool(_ node: YAMLNode, _ what: String) -> Bool? {
        bool(node, what, "true or false", ["true": true, "false": false])
    }

    /// Parses one of two lower-case words as a Boolean value; `words` has both.
    func bool(_ node: YAMLNode, _ what: String, _ shape: String, _ words: [String: Bool]) -> Bool? {
        guard let text = text(node, what) else { return nil }
        if let isTrue = words[text.lowercased()] { return isTrue }
        error(at: node, "\(what) must be \(shape), not \(Words.quote(text))")
        return nil
    }

    func duration(
        _ node: YAMLNode, _ what: String, atLeast minimum: Duration = .zero, atMost maximum: Duration? = nil
    ) -> Duration? {
        guard let text = text(node, what) else { return nil }
        do throws(DurationText.Problem) {
            let duration = try DurationText.parse(text)
            guard duration >= minimum else {
                error(at: node, "\(what) must be at least \(minimum.text), not \(text)")
                return nil
            }
            if let maximum, duration > maximum {
                error(at: node, "\(what) must be at most \(maximum.text), not \(text)")
                return nil
            }
            return duration
        } catch {
            self.error(at: node, "\(what) \(error.message)")
            return nil
        }
    }

    /// Parses one of the cases of an enumeration, by its raw value.
    func choice<Choice: RawRepresentable & CaseIterable>(
        _ node: YAMLNode, _ what: String
    ) -> Choice? where Choice.RawValue == String {
        guard let text = text(node, what) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        let words = Choice.allCases.map(\.rawValue)
        error(at: node, Words.unknown("\(what) \(Words.quote(text))", text, among: words))
        return nil
    }

    func bytes(_ node: YAMLNode, _ what: String) -> [UInt8]? {
        // `hex:` without a value means no bytes, which is a valid value.
        guard let scalar = scalar(node, what, "hexadecimal digits") else { return nil }
        let digits = scalar.string.hasPrefix("0x") ? String(scalar.string.dropFirst(2)) : scalar.string
        if let bytes = Hex.decode(digits) { return bytes }
        error(
            at: node,
            "\(what) must be pairs of hexadecimal digits, as in 01 FF, not \(Words.quote(scalar.string))")
        return nil
    }

    /// Reports a text that contains a control character.
    func checkIsPrintable(_ text: String, _ what: String, at node: YAMLNode?) {
        if PrintableText.hasControl(text) { error(at: node, "\(what) has a control character in it") }
    }

    /// Reports a name that contains a control character, or no visible character.
    func checkName(_ name: String, _ what: String, at node: YAMLNode?) {
        if let problem = PrintableText.problem(ofName: name) { error(at: node, "\(what) \(problem)") }
    }

    /// Reports a decimal code such as 80, because users usually mean 0x80.
    ///
    /// 80 is 0x50, which is not assigned (Vol 3, Part F, 3.4.1.1).
    func checkIsAssigned(_ error: ATTError, as node: YAMLNode) {
        let code = error.code
        guard code > 0x13, code < 0xFC, !ATTError.applicationCodes.contains(code) else { return }
        let text = node.scalar?.string ?? ""
        let meant = UInt8(text, radix: 16).map(ATTError.init(code:)).flatMap { other in
            ATTError.applicationCodes.contains(other.code) ? "; did you mean 0x\(text)?" : nil
        }
        warning(
            at: node.mark,
            """
            0x\(Hex.encode([code])) is a reserved error code; application errors are 0x80 to \
            0x9F\(meant ?? "")
            """
        )
    }
}
