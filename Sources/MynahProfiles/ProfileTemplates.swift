/// The shipped profiles, for `mynah new`.
public enum ProfileTemplates {
    /// Their names, the one that is best to start from first.
    public static var names: [String] { ShippedProfiles.all.map(\.name) }

    /// The text of one.
    public static func text(named name: String) -> String? {
        ShippedProfiles.all.first { $0.name == name }?.text
    }
}
