/// The apps or the peripheral on which an action is carried out.
public enum AppTarget: Hashable, Sendable {
    /// The app with this name in events.
    case named(String)
    /// The peripheral with the first name in the profile of the app with the second, to change its distance.
    case peripheral(String, of: String)
    /// All apps on the phone of the app with this name, with the limits of `every`.
    case phone(of: String)
    /// The app that was last in the foreground.
    case lastInFront
    /// All apps, or if the action needs the foreground, the app that was last there.
    case every
}
