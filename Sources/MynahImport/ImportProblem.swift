/// The reason that a file cannot be imported, with the remedy and the position of the problem.
package struct ImportProblem: Error, Hashable, Sendable {
    /// The problem and its remedy, without a full stop.
    package var message: String
    /// The byte offset of the problem in the file, or `nil` if the problem has no offset.
    package var offset: Int?
    /// The line of the problem in a text file, counted from 1, or `nil` if the problem has no line.
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
    /// The message, preceded by the position.
    package var description: String {
        let place = offset.map { "at byte \($0): " } ?? line.map { "at line \($0): " }
        return (place ?? "") + message
    }
}
