/// The stage of a device's run, and whether the device is published.
enum DeviceStage: Equatable {
    /// The device is being set up.
    case starting(Publication)
    /// The run has started: services that are withdrawn are published again.
    case running(Publication)
    /// The run is over: nothing is published any more.
    case stopped

    /// Whether a device is published on the radio.
    enum Publication {
        case missing
        /// Restored services that differ from the profile's, and have to be replaced.
        case foreign
        case done
    }

    /// Whether the run has started and is not over.
    var isRunning: Bool {
        if case .running = self { true } else { false }
    }

    /// Whether services have to be published, which they never have after the end of the run.
    var needsPublishing: Bool {
        switch self {
        case .starting(let publication), .running(let publication): publication != .done
        case .stopped: false
        }
    }

    /// Notes that the run has started, unless it was stopped before.
    mutating func started() {
        if case .starting(let publication) = self { self = .running(publication) }
    }

    /// Notes whether the device is published, unless the run is over.
    mutating func published(_ publication: Publication) {
        switch self {
        case .starting: self = .starting(publication)
        case .running: self = .running(publication)
        case .stopped: break
        }
    }

    /// Begins to publish; a second call in the meantime has nothing to publish.
    ///
    /// Returns the previous state on the radio, or `nil` if nothing has to be published.
    mutating func beginPublishing() -> Publication? {
        switch self {
        case .starting(let publication) where publication != .done,
            .running(let publication) where publication != .done:
            published(.done)
            return publication
        case .starting, .running, .stopped: return nil
        }
    }
}
