/// A valid D-Bus object path.
public struct ObjectPath: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The path as text.
    public let string: String

    /// Makes a path from a text; throws if the text is not a valid path.
    public init(_ string: String) throws(DBusError) {
        guard Syntax.isPath(string) else {
            throw DBusError(.invalidArguments, "not an object path: \(string.debugDescription)")
        }
        self.string = string
    }

    /// Makes a path from a literal, which must be valid.
    public init(stringLiteral value: String) {
        precondition(Syntax.isPath(value), "not an object path")
        string = value
    }

    /// Makes a path from a text that libdbus has already checked.
    init(checked string: String) { self.string = string }

    /// The path `/`.
    public static let root: ObjectPath = "/"

    /// The path as text.
    public var description: String { string }

    /// The path with one more element; throws if `element` has characters other than letters, digits and `_`.
    public func appending(_ element: String) throws(DBusError) -> ObjectPath {
        try ObjectPath(string == "/" ? "/" + element : string + "/" + element)
    }

    /// Whether the path is below `ancestor`, at any depth.
    public func isBelow(_ ancestor: ObjectPath) -> Bool {
        if ancestor.string == "/" { return string != "/" }
        return string.utf8.count > ancestor.string.utf8.count && string.hasPrefix(ancestor.string)
            && string.utf8.dropFirst(ancestor.string.utf8.count).first == UInt8(ascii: "/")
    }

    /// The path element directly after `ancestor`, or `nil` if this path is not below it.
    func firstElement(below ancestor: ObjectPath) -> Substring? {
        guard isBelow(ancestor) else { return nil }
        let skipped = ancestor.string == "/" ? 1 : ancestor.string.utf8.count + 1
        let rest = string.utf8.dropFirst(skipped).prefix { $0 != UInt8(ascii: "/") }
        return Substring(rest)
    }
}
