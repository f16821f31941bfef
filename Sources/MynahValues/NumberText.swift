import MynahSupport

/// Formats numbers for people.
package enum NumberText {
    /// The shortest text of a number, such as `72`, `36.6` or `not a number`; a whole number has no fraction.
    package static func of(_ number: Double) -> String {
        if number.isNaN { return "not a number" }
        if number.isInfinite { return number < 0 ? "minus infinite" : "infinite" }
        if number == number.rounded(), abs(number) < 1e15 { return String(Int(number)) }
        return "\(number)"
    }

    /// The text of an integer type's limit.
    ///
    /// The largest 64-bit integers are not exact as a `Double`.
    package static func ofLimit(_ number: Double) -> String {
        switch number {
        case 0x1p64.nextDown: String(UInt64.max)
        case 0x1p63.nextDown: String(Int64.max)
        default: Int64(exactly: number).map { String($0) } ?? of(number)
        }
    }

    /// Rounds a number to this number of decimal places.
    static func rounded(_ number: Double, decimals: Int) -> Double {
        let power = PortableMath.powerOfTen(decimals)
        return (number * power).rounded() / power
    }
}

/// Converts a date and a time between seven octets and text (org.bluetooth.characteristic.date_time).
enum DateTimeText {
    /// The text, as in `2026-01-31T12:00:00`; an unknown part is 0.
    static func text(of bytes: [UInt8]) -> String {
        func digits(_ number: Int, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        let parts = bytes.dropFirst(2).map { digits(Int($0), 2) }
        let year = digits(Int(bytes[0]) | Int(bytes[1]) << 8, 4)
        return "\(year)-\(parts[0])-\(parts[1])T\(parts[2]):\(parts[3]):\(parts[4])"
    }

    /// The octets for a date and a time in text, or `nil` if the text is invalid.
    static func bytes(of text: String) -> [UInt8]? {
        let halves = text.split(separator: "T", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let date = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        let time = halves[1].split(separator: ":", omittingEmptySubsequences: false)
        let widths = [4, 2, 2, 2, 2, 2]
        // The largest value of each part; 0 means "not known". A year from 1 to 1581 is refused below.
        let limits = [9999, 12, 31, 23, 59, 59]
        guard date.count == 3, time.count == 3 else { return nil }
        var numbers: [Int] = []
        for (part, (width, limit)) in zip(date + time, zip(widths, limits)) {
            guard part.utf8.count == width, part.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Int(part), number <= limit
            else { return nil }
            numbers.append(number)
        }
        guard numbers[0] == 0 || numbers[0] >= 1582 else { return nil }
        return [UInt8(numbers[0] & 0xFF), UInt8(numbers[0] >> 8)] + numbers.dropFirst().map { UInt8($0) }
    }
}
