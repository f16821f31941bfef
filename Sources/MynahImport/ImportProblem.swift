/// The reason why a file cannot be imported, what to do about it, and the byte or the line that it is about.
package struct ImportProblem: Error, Hashable, Sendable {
    /// The error and its remedy, without a full stop.
    package var message: String
    /// The byte of the file, counted from 0; `nil` if it is about the whole file.
    package var offset: Int?
    /// The line of a text, counted from 1.
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
    /// The message after its place.
    package var description: String {
        let place = offset.map { "at byte \($0): " } ?? line.map { "at line \($0): " }
        return (place ?? "") + message
    }
}
