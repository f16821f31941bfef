/// How a request that a test was asked has ended; the words of `request.unanswered`.
enum RequestEnd: String, Hashable, Sendable {
    case answered
    /// Nobody answered in time.
    case timeout
    /// The link of its central has ended.
    case disconnected
    /// The device was reset.
    case reset
    /// The app or the run has ended, or the device was removed.
    case ended
}
