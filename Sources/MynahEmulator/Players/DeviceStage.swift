/// The stage of a device's run, together with whether the device is published.
enum DeviceStage: Equatable {
    /// The device is being set up.
    case starting(Publication)
    /// The run has started; services that the system withdraws are published again.
    case running(Publication)
    /// The run is over; nothing is published any more.
    case stopped

    /// Whether a device is published on the radio.
    enum Publication {
        case missing
        /// Restored services that differ from the profile's are published, and must be replaced.
        case foreign
        case done
    }

    /// Whether the run has started and is not over.
    var isRunning: Bool {
        if case .running = self { true } else { false }
    }

    /// Whether services must be published; `false` after the end of the run.
    var needsPublishing: Bool {
        switch self {
        case .starting(let publication), .running(let publication): publication != .done
        case .stopped: false
        }
    }

    /// Changes the stage from starting to running, unless the run was stopped.
    mutating func started() {
        if case .starting(let publication) = self { self = .running(publication) }
    }

    /// Sets whether the device is published, unless the run was stopped.
    mutating func published(_ publication: Publication) {
        switch self {
        case .starting: self = .starting(publication)
        case .running: self = .running(publication)
        case .stopped: break
        }
    }

    /// Marks the device as published, and returns its earlier publication.
    ///
    /// Returns `nil` if nothing has to be published, which also applies to a second call.
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
