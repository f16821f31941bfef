/// UUIDs as bluetoothd reads and compares them.
enum UUIDText {
    static let base = "-0000-1000-8000-00805f9b34fb"

    /// The 128-bit text in lower case, of 16, 32 or 128 bits with or without `0x`; nil when it is none.
    static func normalized(_ text: String) -> String? {
        var text = text.lowercased()
        if text.utf8.count != 36 {
            if text.hasPrefix("0x") { text.removeFirst(2) }
            guard text.utf8.count == 4 || text.utf8.count == 8, text.allSatisfy(\.isHexDigit) else {
                return nil
            }
            return String(repeating: "0", count: 8 - text.utf8.count) + text + base
        }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.count) == [8, 4, 4, 4, 12], parts.allSatisfy({ $0.allSatisfy(\.isHexDigit) }) else {
            return nil
        }
        return text
    }

    /// As applications may use it: not one that belongs to bluetoothd's own GAP and GATT services.
    static func application(_ text: String?) -> String? {
        guard let uuid = text.flatMap(normalized), uuid != "00001800" + base, uuid != "00001801" + base else {
            return nil
        }
        return uuid
    }

    /// The bytes on the air, least significant first, in as few as the value needs.
    static func bytes(_ text: String) -> [UInt8]? {
        guard let uuid = normalized(text) else { return nil }
        var digits = uuid.filter { $0 != "-" }
        if uuid.hasSuffix(base) { digits = String(digits.prefix(8)) }
        if digits.count == 8, digits.hasPrefix("0000") { digits = String(digits.suffix(4)) }
        var bytes: [UInt8] = []
        var rest = digits[...]
        while let byte = UInt8(rest.prefix(2), radix: 16), rest.count >= 2 {
            bytes.insert(byte, at: 0)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
