/// The apps on which an action is carried out.
public enum AppTarget: Hashable, Sendable {
    /// The app with this name in events.
    case named(String)
    /// A peripheral in the profile of the app with the second name, for a change of its distance.
    case peripheral(String, of: String)
    /// All apps on the phone of the app with this name, in the sense of `every`.
    case phone(of: String)
    /// The app that was last in the foreground.
    case lastInFront
    /// All apps; for an action in the foreground, where only one app can be, the app that was there last.
    case every
}
