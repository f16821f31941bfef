import MynahSupport

/// Makes the parts of file names in a state directory, which are joined by `+`.
enum FileNamePart {
    /// Escapes a text, so that it can be part of a file name, and different texts give different names.
    ///
    /// A text that is longer than `limit` is cut, and a hash of the whole text is appended.
    static func escape(_ text: String, _ limit: Int) -> String {
        var name = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                name.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                name += "%" + Hex.encode([byte])
            }
        }
        guard name.utf8.count > limit else { return name }
        // An FNV-1a hash replaces the part of the text that does not fit.
        let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01B3
        }
        return name.prefix(limit - 20) + "-" + String(hash, radix: 16)
    }
}
