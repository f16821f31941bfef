/// Shortens a list of names for a message.
public enum NameList {
    /// The largest number of names in a text.
    static let limit = 8

    /// The names as text: `A, B, C`.
    ///
    /// Names beyond `limit` are only counted: `A, B and 9998 more`.
    public static func text(_ names: [String], separator: String = ", ") -> String {
        guard names.count > limit else { return names.joined(separator: separator) }
        return names.prefix(limit).joined(separator: separator) + " and \(names.count - limit) more"
    }
}
