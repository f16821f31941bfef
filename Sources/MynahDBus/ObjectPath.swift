/// A valid D-Bus object path.
public struct ObjectPath: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The path as text.
    public let string: String

    /// The path in a text; throws if the text is no path.
    public init(_ string: String) throws(DBusError) {
        guard Syntax.isPath(string) else {
            throw DBusError(.invalidArguments, "not an object path: \(string.debugDescription)")
        }
        self.string = string
    }

    /// A path written in the source; it must be valid.
    public init(stringLiteral value: String) {
        precondition(Syntax.isPath(value), "not an object path")
        string = value
    }

    /// A path that libdbus has already checked.
    init(checked string: String) { self.string = string }

    /// `/`.
    public static let root: ObjectPath = "/"

    /// The path as text.
    public var description: String { string }

    /// The path one element longer; throws when `element` has other characters than letters, digits and `_`.
    public func appending(_ element: String) throws(DBusError) -> ObjectPath {
        try ObjectPath(string == "/" ? "/" + element : string + "/" + element)
    }

    /// Whether the path lies below `ancestor`.
    public func isBelow(_ ancestor: ObjectPath) -> Bool {
        if ancestor.string == "/" { return string != "/" }
        return string.utf8.count > ancestor.string.utf8.count && string.hasPrefix(ancestor.string)
            && string.utf8.dropFirst(ancestor.string.utf8.count).first == UInt8(ascii: "/")
    }

    /// The element that follows `ancestor`, if the path lies below it.
    func firstElement(below ancestor: ObjectPath) -> Substring? {
        guard isBelow(ancestor) else { return nil }
        let skipped = ancestor.string == "/" ? 1 : ancestor.string.utf8.count + 1
        let rest = string.utf8.dropFirst(skipped).prefix { $0 != UInt8(ascii: "/") }
        return Substring(rest)
    }
}
