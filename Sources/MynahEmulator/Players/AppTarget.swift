/// The apps or the peripheral on which an action is carried out.
public enum AppTarget: Hashable, Sendable {
    /// The app with this name in events.
    case named(String)
    /// The peripheral with the first name, in the profile of the app with the second name.
    ///
    /// This target is only for changes of the peripheral's distance.
    case peripheral(String, of: String)
    /// The apps on the phone of the app with this name; as with `every`, the action may concern only one of
    /// them.
    case phone(of: String)
    /// The app that was last in the foreground.
    case lastInFront
    /// All apps, or only the app that was last in the foreground if the action requires the foreground.
    case every
}
