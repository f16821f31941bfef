/// Which apps something is done to.
public enum AppTarget: Hashable, Sendable {
    /// The one that events call this.
    case named(String)
    /// A peripheral that the profile of the app which events call this names: for a change of range.
    case peripheral(String, of: String)
    /// Every app of the phone that the app which events call this is on, as `every` means it.
    case phone(of: String)
    /// The one that was on the screen last.
    case lastInFront
    /// Every app; only one can be on the screen, so of opening, and of what is done on a screen, the last one
    /// there.
    case every
}
