/// A change in an app's life cycle by the user, the system or the app itself.
///
/// The raw value is the name in commands and profiles: the new state, or the event.
package enum AppTransition: String, Hashable, Sendable, CaseIterable {
    /// The user opens the app or returns to it; the app is launched if it does not run.
    case enterForeground = "foreground"
    /// The app leaves the foreground.
    case enterBackground = "background"
    /// The system suspends the app now, before its background time is over.
    case suspend = "suspended"
    /// The system terminates the app, in any state.
    case terminate = "terminated"
    /// The user quits the app.
    case quit
    /// The system needs memory, and terminates the app if it is suspended.
    case memoryPressure
    /// The app crashes.
    case crash
}
