/// The state of an iOS app as the system sees it (UIApplication.State and the states beyond it).
public enum AppState: String, Hashable, Sendable, CaseIterable {
    /// The app has not been started.
    case notRunning
    /// The app is on the screen.
    case foreground
    /// The app runs off the screen: it has just left the screen, or an event has woken it.
    case background
    /// The app is in memory and does not run.
    case suspended
    /// The system ended it, for memory or because it overran its time, or it crashed.
    case terminated
    /// The user ended it; only the user starts it again.
    case quit
}
