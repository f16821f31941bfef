/// A change of an app's life by the user, the system or the app itself.
///
/// The raw value is its name on the command line and in profiles: the state that it leads to, or the
/// event.
package enum AppTransition: String, Hashable, Sendable, CaseIterable {
    /// The user opens it or returns to it; if it does not run, it is launched.
    case enterForeground = "foreground"
    /// The app leaves the screen.
    case enterBackground = "background"
    /// The system suspends it now, before its time is over.
    case suspend = "suspended"
    /// The system terminates it in any state.
    case terminate = "terminated"
    /// The user ends it.
    case quit
    /// The system needs memory, and terminates the app if it is suspended.
    case memoryPressure
    /// The app crashes.
    case crash
}
