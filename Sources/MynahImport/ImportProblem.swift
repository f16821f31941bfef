/// The reason why a file cannot be imported, the remedy, and the byte or line with the problem.
package struct ImportProblem: Error, Hashable, Sendable {
    /// The error and its remedy, without a full stop.
    package var message: String
    /// The offset of the byte in the file, or `nil` if the problem concerns the whole file.
    package var offset: Int?
    /// The number of the line in a text file, counted from 1.
    package var line: Int?

    package init(_ message: String, at offset: Int? = nil) {
        self.message = message
        self.offset = offset
    }

    init(_ message: String, onLine line: Int) {
        self.message = message
        self.line = line
    }
}

extension ImportProblem: CustomStringConvertible {
    /// The message with its position before it.
    package var description: String {
        let place = offset.map { "at byte \($0): " } ?? line.map { "at line \($0): " }
        return (place ?? "") + message
    }
}
