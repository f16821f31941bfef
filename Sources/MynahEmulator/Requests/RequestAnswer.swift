package import MynahCore

/// A test's answer to a request.
package enum RequestAnswer: Hashable, Sendable {
    /// The whole value of a read.
    case value(WrittenValue)
    /// The write is carried out.
    case accept
    /// The request is refused with this ATT error.
    case error(ATTError)
}
