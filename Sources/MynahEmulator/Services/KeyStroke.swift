import MynahSupport

/// A key of a keyboard, with the modifiers that are held (HID Usage Tables 1.5, 10).
struct KeyStroke: Hashable, Sendable {
    /// The usage ID of the key.
    var usage: UInt8
    /// The modifiers, as in the first octet of a report.
    var modifiers: UInt8 = 0

    /// The length of a keyboard's input report in the boot protocol (HID 1.11, B.1).
    static let reportLength = 8
    /// The report of a keyboard on which no key is pressed.
    static let released = [UInt8](repeating: 0, count: reportLength)

    /// The report while the key is pressed: the modifiers, a reserved octet, and up to six usage IDs.
    var report: [UInt8] { [modifiers, 0, usage, 0, 0, 0, 0, 0] }
}

/// The keys of a keyboard with the US layout.
enum USKeyboard {
    /// The error for a character that the keyboard cannot type.
    struct Problem: Error, Equatable {
        /// The character without a key.
        var character: Character
        /// The position of the character in the text, counted from 1.
        var place: Int

        /// The message for the user.
        var message: String {
            """
            no key of a US keyboard makes "\(PrintableText.of(String(character)))", character \(place) of \
            the text
            """
        }
    }

    private static let leftShift: UInt8 = 0x02

    /// The keys, in rows of consecutive usage IDs: the first usage ID, the modifiers, and the characters.
    private static let rows: [(first: UInt8, modifiers: UInt8, characters: String)] = [
        (0x04, 0, "abcdefghijklmnopqrstuvwxyz"),
        (0x04, leftShift, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
        (0x1E, 0, "1234567890\n\u{1B}\u{8}\t -=[]\\"),
        (0x1E, leftShift, "!@#$%^&*()"),
        (0x2D, leftShift, "_+{}|"),
        (0x33, 0, ";'`,./"),
        (0x33, leftShift, ":\"~<>?"),
        (0x4C, 0, "\u{7F}"),
    ]

    private static let keys: [Character: KeyStroke] = {
        // Each kind of line break is the Enter key.
        var keys: [Character: KeyStroke] = ["\r": KeyStroke(usage: 0x28), "\r\n": KeyStroke(usage: 0x28)]
        for row in rows {
            for (index, character) in row.characters.enumerated() {
                keys[character] = KeyStroke(usage: row.first + UInt8(index), modifiers: row.modifiers)
            }
        }
        return keys
    }()

    /// Returns the keys that type a text.
    static func strokes(of text: String) throws(Problem) -> [KeyStroke] {
        var strokes: [KeyStroke] = []
        for (index, character) in text.enumerated() {
            guard let stroke = keys[character] else { throw Problem(character: character, place: index + 1) }
            strokes.append(stroke)
        }
        return strokes
    }
}
