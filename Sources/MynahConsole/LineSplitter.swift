/// Splits bytes from another program into lines of limited length.
package struct LineSplitter: Sendable {
    package enum Line: Hashable, Sendable {
        /// A line without its LF or CR LF.
        case text(String)
        /// A line longer than the limit, with its number, after which no further lines are returned.
        case overlong(number: Int)
    }

    /// The largest length of a line in bytes; the longest line at a prompt fits.
    package static let limit = 16384

    private var bytes: [UInt8] = []
    /// The index of the next line's first byte.
    private var start = 0
    /// The index up to which the bytes were searched for the end of a line.
    private var searched = 0
    private var number = 1
    private var isAtEnd = false
    private var isOverlong = false

    package init() {}

    /// The number of bytes that were not returned yet.
    package var count: Int { bytes.count - start }

    package mutating func add(_ new: some Collection<UInt8>) {
        bytes.removeFirst(start)
        searched -= start
        start = 0
        bytes += new
    }

    /// Marks the end of the input, so that the remaining bytes are returned as a line.
    package mutating func finish() { isAtEnd = true }

    /// Removes and returns the next line, or returns `nil` if it is not complete.
    package mutating func next() -> Line? {
        guard !isOverlong else { return .overlong(number: number) }
        if let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) {
            return line(to: end, next: end + 1)
        }
        searched = bytes.count
        if count > Self.limit + 1 { return overlong() }
        guard isAtEnd, count > 0 else { return nil }
        return line(to: bytes.count, next: bytes.count)
    }

    private mutating func line(to end: Int, next: Int) -> Line {
        var line = bytes[start..<end]
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard line.count <= Self.limit else { return overlong() }
        start = next
        searched = next
        number += 1
        return .text(String(decoding: line, as: UTF8.self))
    }

    private mutating func overlong() -> Line {
        isOverlong = true
        bytes = []
        (start, searched) = (0, 0)
        return .overlong(number: number)
    }
}
