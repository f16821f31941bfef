/// The state of an iOS app, in more detail than UIApplication.State.
public enum AppState: String, Hashable, Sendable, CaseIterable {
    /// The app has not been started.
    case notRunning
    /// The app is in the foreground.
    case foreground
    /// The app runs in the background: it has just left the foreground, or an event has woken it.
    case background
    /// The app is in memory and does not run.
    case suspended
    /// The system ended the app, for memory or because it exceeded its time, or the app crashed.
    case terminated
    /// The user quit the app; only the user can start it again.
    case quit
}
