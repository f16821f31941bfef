import MynahCore

/// The kinds of requests that are passed to a test, which answers them.
package struct AskedAccess: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let read = AskedAccess(rawValue: 1)
    /// Write requests, which have a response.
    package static let write = AskedAccess(rawValue: 2)

    /// The words for the key `ask`.
    static let named: [(name: String, access: AskedAccess)] = [("read", .read), ("write", .write)]
}
