/// The shipped profiles, for `mynah new`.
public enum ProfileTemplates {
    /// The names of the profiles, beginning with the best one to start from.
    public static var names: [String] { ShippedProfiles.all.map(\.name) }

    /// The text of a profile.
    public static func text(named name: String) -> String? {
        ShippedProfiles.all.first { $0.name == name }?.text
    }
}
