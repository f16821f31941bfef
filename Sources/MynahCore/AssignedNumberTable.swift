import MynahSupport

import Glibc

/// A table of numbers and names, in constant lines such as `180D Heart Rate`.
///
/// The lines are sorted by number, and are searched in place, without a copy.
struct AssignedNumberTable: Sendable {
    private let kind: String
    private let parts: [StaticString]

    init(kind: String, _ parts: StaticString...) {
        self.kind = kind
        self.parts = parts
    }

    /// Returns the name of a number, or `nil` if the table does not contain it.
    func name(of number: UInt16) -> String? {
        for part in parts {
            // A binary search through the lines of the text.
            let lines = Lines(part)
            var low = 0
            var high = lines.count
            while low < high {
                let start = lines.start(of: low + (high - low) / 2, notBefore: low)
                let end = lines.end(of: start)
                let found = lines.number(at: start)
                if found == number {
                    return String(decoding: lines.name(from: start, to: end), as: UTF8.self)
                }
                if found < number { low = end + 1 } else { high = start }
            }
        }
        return nil
    }

    /// Returns the number of a name in any accepted spelling, or `nil` if the table does not contain it.
    func number(named text: String) -> UInt16? {
        guard let identifier = AssignedIdentifier.bytes(of: text) else { return nil }
        if let number = number(of: identifier[...]) { return number }
        var rest = identifier[...]
        for prefix in ["org-bluetooth-\(kind)-", "gap-", "gatt-"] where rest.starts(with: prefix.utf8) {
            rest = rest.dropFirst(prefix.utf8.count)
        }
        let suffix = "-\(kind)"
        let short = rest.dropLast(suffix.utf8.count)
        return number(of: rest) ?? (short + suffix.utf8 == rest ? number(of: short) : nil)
    }

    /// The identifiers of all names.
    var identifiers: [String] {
        parts.flatMap { part in
            let lines = Lines(part)
            var identifiers: [String] = []
            var start = 0
            while start < lines.count {
                let end = lines.end(of: start)
                let name = AssignedIdentifier(lines.name(from: start, to: end))
                identifiers.append(String(decoding: Array(name), as: UTF8.self))
                start = end + 1
            }
            return identifiers
        }
    }

    private func number(of identifier: ArraySlice<UInt8>) -> UInt16? {
        guard let first = identifier.first else { return nil }
        for part in parts {
            let lines = Lines(part)
            var start = 0
            while start < lines.count {
                let end = lines.end(of: start)
                // Upper case and lower case differ in one bit, which is set in all digits.
                if end - start > 5, lines[start + 5] | 0x20 == first,
                    AssignedIdentifier(lines.name(from: start, to: end)).elementsEqual(identifier)
                {
                    return lines.number(at: start)
                }
                start = end + 1
            }
        }
        return nil
    }
}

/// The lines of a table, which are read through a pointer.
///
/// In a debug build, each step through a collection would be a function call, and a search may visit every
/// line.
private struct Lines {
    let base: UnsafePointer<UInt8>
    let count: Int

    /// Makes the lines of a constant text, which is never moved or freed.
    init(_ part: StaticString) {
        base = part.utf8Start
        count = part.utf8CodeUnitCount
    }

    subscript(position: Int) -> UInt8 { base[position] }

    /// Returns the position of the newline that ends a line, or the end of the table.
    func end(of start: Int) -> Int {
        guard let end = memchr(base + start, Int32(Self.newline), count - start) else { return count }
        return UnsafeRawPointer(end) - UnsafeRawPointer(base)
    }

    /// Returns the beginning of the line that contains a position.
    func start(of position: Int, notBefore low: Int) -> Int {
        var start = position
        while start > low, base[start - 1] != Self.newline { start -= 1 }
        return start
    }

    /// Returns the number at the beginning of a line, which has four hexadecimal digits.
    func number(at start: Int) -> UInt16 {
        var number: UInt16 = 0
        var position = start
        while position < start + 4 {
            number = number << 4 | UInt16(Hex.value(ofDigit: base[position]) ?? 0)
            position += 1
        }
        return number
    }

    /// Returns the name in a line, which follows the number and a space.
    func name(from start: Int, to end: Int) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: base + start + 5, count: end - start - 5)
    }

    private static var newline: UInt8 { 0x0A }
}
