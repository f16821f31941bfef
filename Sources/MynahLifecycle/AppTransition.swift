/// What the user, the system or the app itself does to an app's life.
///
/// A raw value is the word for it on the command line and in profiles: the state that it leads to, or what
/// happens.
package enum AppTransition: String, Hashable, Sendable, CaseIterable {
    /// The user opens it or brings it back onto the screen; one that does not run is launched.
    case enterForeground = "foreground"
    /// It leaves the screen.
    case enterBackground = "background"
    /// The system suspends it now, without waiting for its time to be over.
    case suspend = "suspended"
    /// The system ends it, whatever it is doing.
    case terminate = "terminated"
    /// The user ends it.
    case quit
    /// The system needs memory: it ends a suspended app, and no other.
    case memoryPressure
    /// It ends by itself.
    case crash
}
