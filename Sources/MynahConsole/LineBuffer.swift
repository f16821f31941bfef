import MynahSupport

/// The line that the user is typing; this state machine handles keys, and does no terminal I/O.
package struct LineBuffer: Sendable {
    /// The action after a key.
    package enum Action: Hashable, Sendable {
        /// Draw the changed line.
        case changed
        /// Handle the entered line.
        case entered(String)
        /// Complete the text before the cursor.
        case complete
        /// Handle the end of the input.
        case ended
    }

    private enum Mode: Hashable, Sendable {
        case plain
        case escape
        /// After ESC [ or ESC O, with the parameter bytes so far.
        case sequence([UInt8])
    }

    package private(set) var characters: [Character] = []
    package private(set) var cursor = 0
    private var history: [String] = []
    /// The index of the shown line in `history`; an index after the end means the new line.
    private var place = 0
    private var draft: [Character] = []
    private var mode = Mode.plain
    /// The bytes so far of an incomplete UTF-8 character.
    private var partial: [UInt8] = []

    private static let historyLimit = 500
    /// The largest number of characters in a line.
    private static let limit = 4096

    package init() {}

    /// The text before the cursor.
    package var beforeCursor: String { String(characters[..<cursor]) }

    /// Handles the next byte.
    ///
    /// Bytes are handled one at a time, because a completion changes the meaning of the next one.
    package mutating func handle(_ byte: UInt8) -> Action? {
        switch mode {
        case .escape:
            mode = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O") ? .sequence([]) : .plain
            return nil
        case .sequence(let before):
            guard (0x40...0x7E).contains(byte) else {
                mode = before.count < 16 ? .sequence(before + [byte]) : .plain
                return nil
            }
            mode = .plain
            return sequence(before, byte)
        case .plain:
            return plain(byte)
        }
    }

    private mutating func plain(_ byte: UInt8) -> Action? {
        switch byte {
        case 0x1B:
            mode = .escape
            return nil
        case UInt8(ascii: "\r"), UInt8(ascii: "\n"): return enter()
        case 0x09: return .complete
        case 0x01: return move(to: 0)
        case 0x02: return move(to: cursor - 1)
        case 0x05: return move(to: characters.count)
        case 0x06: return move(to: cursor + 1)
        case 0x0E: return recall(place + 1)
        case 0x10: return recall(place - 1)
        case 0x04:
            if characters.isEmpty { return .ended }
            return remove(cursor..<min(cursor + 1, characters.count))
        case 0x7F, 0x08: return remove(max(0, cursor - 1)..<cursor)
        case 0x0B: return remove(cursor..<characters.count)
        case 0x15: return remove(0..<cursor)
        case 0x17: return remove(startOfWord..<cursor)
        case 0..<0x20: return nil
        default: return type(byte)
        }
    }

    private mutating func sequence(_ parameters: [UInt8], _ last: UInt8) -> Action? {
        switch last {
        case UInt8(ascii: "A"): recall(place - 1)
        case UInt8(ascii: "B"): recall(place + 1)
        case UInt8(ascii: "C"): move(to: cursor + 1)
        case UInt8(ascii: "D"): move(to: cursor - 1)
        case UInt8(ascii: "H"): move(to: 0)
        case UInt8(ascii: "F"): move(to: characters.count)
        case UInt8(ascii: "~"):
            switch parameters {
            case Array("1".utf8), Array("7".utf8): move(to: 0)
            case Array("4".utf8), Array("8".utf8): move(to: characters.count)
            case Array("3".utf8): remove(cursor..<min(cursor + 1, characters.count))
            default: nil
            }
        default: nil
        }
    }

    private mutating func type(_ byte: UInt8) -> Action? {
        partial.append(byte)
        guard let text = String(validating: partial, as: UTF8.self) else {
            if partial.count >= 4 { partial = [] }
            return nil
        }
        partial = []
        insert(PrintableText.of(text))
        return .changed
    }

    /// Inserts a text at the cursor.
    package mutating func insert(_ text: String) {
        guard characters.count + text.count <= Self.limit else { return }
        // A combining character joins the one before it, and the cursor treats both as one.
        let before = String(characters[..<cursor]) + text
        characters = Array(before + String(characters[cursor...]))
        cursor = min(before.count, characters.count)
    }

    private mutating func move(to place: Int) -> Action {
        cursor = min(max(0, place), characters.count)
        return .changed
    }

    private mutating func remove(_ range: Range<Int>) -> Action {
        characters.removeSubrange(range)
        cursor = range.lowerBound
        return .changed
    }

    private var startOfWord: Int {
        var start = cursor
        while start > 0, characters[start - 1] == " " { start -= 1 }
        while start > 0, characters[start - 1] != " " { start -= 1 }
        return start
    }

    private mutating func enter() -> Action {
        let line = String(characters)
        if !line.isEmpty, history.last != line { history.append(line) }
        if history.count > Self.historyLimit { history.removeFirst(history.count - Self.historyLimit) }
        characters = []
        cursor = 0
        draft = []
        place = history.count
        return .entered(line)
    }

    private mutating func recall(_ wanted: Int) -> Action? {
        guard (0...history.count).contains(wanted), wanted != place else { return nil }
        if place == history.count { draft = characters }
        place = wanted
        characters = wanted == history.count ? draft : Array(history[wanted])
        cursor = characters.count
        return .changed
    }
}
