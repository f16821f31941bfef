package import MynahCore

// Answers to the questions of a pairing, as typed by a user.
extension PairingAnswer {
    /// Parses the answer to "are the numbers the same?"; the result is `nil` if it is neither yes nor no.
    package init?(comparing line: String) {
        switch Self.word(line) {
        case "y", "yes": self = .agreed
        case "n", "no": self = .declined
        default: return nil
        }
    }

    /// Parses a passkey or "no"; the result is `nil` for any other text.
    package init?(entering line: String) {
        if PairingAnswer(comparing: line) == .declined {
            self = .declined
            return
        }
        let digits = line.filter { $0 != " " }
        guard (1...6).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = UInt32(digits)
        else { return nil }
        self = .passkey(number)
    }

    private static func word(_ line: String) -> String {
        line.filter { !$0.isWhitespace }.lowercased()
    }
}
