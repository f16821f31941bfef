/// The reason that a request to a test ended, as in the event `request.unanswered`.
enum RequestEnd: String, Hashable, Sendable {
    case answered
    /// No answer came in time.
    case timeout
    /// The link of its central has ended.
    case disconnected
    /// The device was reset.
    case reset
    /// The app or the run has ended, or the device was removed.
    case ended
}
