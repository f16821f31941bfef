import MynahSupport

import Glibc

/// Constant text of lines as `180D Heart Rate`, sorted by number, looked up where it lies.
struct AssignedNumberTable: Sendable {
    private let kind: String
    private let parts: [StaticString]

    init(kind: String, _ parts: StaticString...) {
        self.kind = kind
        self.parts = parts
    }

    private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    /// The name of a number.
    func name(of number: UInt16) -> String? {
        for part in parts {
            let name = part.withUTF8Buffer { Self.name(of: number, in: $0) }
            if let name { return name }
        }
        return nil
    }

    /// The number of a name, in any way of writing it.
    func number(named text: String) -> UInt16? {
        guard let identifier = AssignedIdentifier.bytes(of: text) else { return nil }
        if let number = number(of: identifier) { return number }
        var rest = identifier[...]
        for prefix in ["org-bluetooth-\(kind)-", "gap-", "gatt-"] where rest.starts(with: prefix.utf8) {
            rest = rest.dropFirst(prefix.utf8.count)
        }
        let suffix = "-\(kind)"
        let short = rest.dropLast(suffix.utf8.count)
        return number(of: rest) ?? (short + suffix.utf8 == rest ? number(of: short) : nil)
    }

    /// Every name's identifier.
    var identifiers: [String] {
        parts.flatMap { part in
            part.withUTF8Buffer { table in
                table.split(separator: Self.newline).map { line in
                    String(decoding: Array(AssignedIdentifier(line.dropFirst(5))), as: UTF8.self)
                }
            }
        }
    }

    private static let newline = UInt8(ascii: "\n")

    private func number(of identifier: some Collection<UInt8>) -> UInt16? {
        for part in parts {
            let number: UInt16? = part.withUTF8Buffer { table in
                var rest = table[...]
                while let line = Self.nextLine(of: &rest) {
                    // Upper case differs from lower in one bit; digits do not have it, or both do.
                    guard line.count > 5, line[line.startIndex + 5] | 0x20 == identifier.first else {
                        continue
                    }
                    let name = AssignedIdentifier(line.dropFirst(5))
                    if name.elementsEqual(identifier) { return Self.number(at: line.startIndex, in: table) }
                }
                return nil
            }
            if let number { return number }
        }
        return nil
    }

    private static func nextLine(of rest: inout Bytes) -> Bytes? {
        guard !rest.isEmpty else { return nil }
        // memchr, since every name of a long table is passed on the way to a late one.
        let length = UnsafeBufferPointer(rebasing: rest).withMemoryRebound(to: CChar.self) { bytes -> Int in
            guard let base = bytes.baseAddress, let end = memchr(base, Int32(newline), bytes.count) else {
                return bytes.count
            }
            return UnsafeRawPointer(end) - UnsafeRawPointer(base)
        }
        let line = rest.prefix(length)
        rest = rest.dropFirst(length + 1)
        return line
    }

    /// Finds a name by a binary search through the lines of the text.
    private static func name(of number: UInt16, in table: UnsafeBufferPointer<UInt8>) -> String? {
        var low = 0
        var high = table.count
        while low < high {
            var start = low + (high - low) / 2
            while start > low, table[start - 1] != newline { start -= 1 }
            let end = table[start...].firstIndex(of: newline) ?? table.count
            let found = Self.number(at: start, in: table)
            if found == number { return String(decoding: table[(start + 5)..<end], as: UTF8.self) }
            if found < number { low = min(end + 1, high) } else { high = start }
        }
        return nil
    }

    private static func number(at start: Int, in table: UnsafeBufferPointer<UInt8>) -> UInt16 {
        table[start..<(start + 4)].reduce(0) { $0 << 4 | UInt16(Hex.value(ofDigit: $1) ?? 0) }
    }
}
