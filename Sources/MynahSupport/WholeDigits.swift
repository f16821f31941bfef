/// Checks whole numbers in text for digits that would be lost when the number is read.
///
/// The text has decimal digits without a point or an exponent, or hexadecimal digits after `0x`.
package enum WholeDigits {
    /// The reason why a whole number cannot be read exactly.
    ///
    /// The result is `nil` if the number can be read exactly, or if the text is not a whole number. The
    /// reason is a sentence without its full stop. A number beyond 64 bits can be read exactly if a `Double`
    /// prints it with the same digits. JavaScript writes a large `Double` without an exponent.
    package static func problem(of text: some StringProtocol) -> String? {
        let text = String(text)
        let shown = text.count > 40 ? text.prefix(40) + "…" : text[...]
        let problem = "the whole number \(shown) needs more than 64 bits"
        if text.hasPrefix("0x") || text.hasPrefix("0X") {
            let digits = text.dropFirst(2)
            let isNumber = !digits.isEmpty && digits.allSatisfy { $0.isASCII && $0.isHexDigit }
            return isNumber && UInt64(digits, radix: 16) == nil ? problem : nil
        }
        let digits = text.first == "-" || text.first == "+" ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            Int64(text) == nil, UInt64(text) == nil
        else { return nil }
        let number = Double(text) ?? .infinity
        guard number.isFinite else { return problem }
        let mantissa = "\(number.magnitude)".prefix { $0 != "e" }.filter { $0 != "." }
        guard significant(mantissa[...]) != significant(digits) else { return nil }
        return "\(problem); where a number may be rounded, write \(number)"
    }

    /// The digits without leading and trailing zeros.
    private static func significant(_ digits: some StringProtocol) -> String {
        var digits = String(digits.drop { $0 == "0" })
        while digits.last == "0" { digits.removeLast() }
        return digits
    }
}
