/// The identifier for a name, such as `heart-rate` for `Heart Rate`.
///
/// The identifier has the letters and digits of the name in lower case. Other characters between them become
/// one dash.
struct AssignedIdentifier<Base: Sequence<UInt8>>: Sequence, IteratorProtocol {
    private var base: Base.Iterator
    private var held: UInt8?
    private var hasBegun = false

    init(_ name: Base) {
        base = name.makeIterator()
    }

    mutating func next() -> UInt8? {
        if let letter = held {
            held = nil
            return letter
        }
        var isGap = false
        while let byte = base.next() {
            guard let letter = Self.letter(byte) else {
                isGap = hasBegun
                continue
            }
            hasBegun = true
            guard isGap else { return letter }
            held = letter
            return UInt8(ascii: "-")
        }
        return nil
    }

    private static func letter(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"): byte
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
        default: nil
        }
    }
}

extension AssignedIdentifier where Base == String.UTF8View {
    /// Returns the identifier for a name.
    static func text(of name: String) -> String {
        String(decoding: Array(AssignedIdentifier(name.utf8)), as: UTF8.self)
    }

    /// Returns the identifier that a user's text means, such as `heart-rate` for `Heart_Rate`.
    ///
    /// Returns `nil` if the text has characters that are neither letters, digits nor separators, or if it
    /// begins or ends with a separator. Only a closing parenthesis may be at the end.
    static func bytes(of text: String) -> [UInt8]? {
        guard let first = text.utf8.first, let last = text.utf8.last, letter(first) != nil,
            letter(last) != nil || last == UInt8(ascii: ")"),
            text.utf8.allSatisfy({ letter($0) != nil || separators.contains($0) })
        else { return nil }
        return Array(AssignedIdentifier(text.utf8))
    }

    private static var separators: String.UTF8View { " -_./,()".utf8 }
}
