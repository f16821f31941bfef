package import MynahCore

/// A test's answer to a request.
package enum RequestAnswer: Hashable, Sendable {
    /// The whole value of a read.
    case value(WrittenValue)
    /// Carry the write out.
    case accept
    /// An ATT error.
    case error(ATTError)
}
