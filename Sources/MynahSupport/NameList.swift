/// Shortens a list of names for a message.
public enum NameList {
    /// How many are written.
    static let limit = 8

    /// The first names, and how many more there are: `A, B, C`, or beyond the limit `A, B and 9998 more`.
    public static func text(_ names: [String], separator: String = ", ") -> String {
        guard names.count > limit else { return names.joined(separator: separator) }
        return names.prefix(limit).joined(separator: separator) + " and \(names.count - limit) more"
    }
}
