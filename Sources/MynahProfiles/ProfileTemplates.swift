/// The profiles that are part of this program, for `mynah new`.
public enum ProfileTemplates {
    /// The names of the profiles; the first one is the best to start with.
    public static var names: [String] { ShippedProfiles.all.map(\.name) }

    /// Returns the text of a profile, or `nil` if there is no profile with this name.
    public static func text(named name: String) -> String? {
        ShippedProfiles.all.first { $0.name == name }?.text
    }
}
