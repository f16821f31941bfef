/// Where an iOS app is in its life, as the system sees it (UIApplication.State, and what lies beyond it).
public enum AppState: String, Hashable, Sendable, CaseIterable {
    /// It has not been started.
    case notRunning
    /// It is on the screen.
    case foreground
    /// It runs, and is not on the screen: it has just left it, or an event has woken it.
    case background
    /// It is in memory and does not run.
    case suspended
    /// The system ended it, for memory or because it overran its time, or it crashed.
    case terminated
    /// The user ended it: nothing relaunches it but the user.
    case quit
}
