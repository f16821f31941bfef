/// How far a device's run is, with what the radio has of the device.
enum DeviceStage: Equatable {
    /// The device is being set up.
    case starting(Publication)
    /// The run is under way: anything that is lost is published again.
    case running(Publication)
    /// Nothing is published any more.
    case stopped

    /// The state of a device on the radio.
    enum Publication {
        case missing
        /// Restored services that are not the profile's, and have to be replaced.
        case foreign
        case done
    }

    /// Whether the run is under way.
    var isRunning: Bool {
        if case .running = self { true } else { false }
    }

    /// Whether something has to be published: never after the end of the run.
    var needsPublishing: Bool {
        switch self {
        case .starting(let publication), .running(let publication): publication != .done
        case .stopped: false
        }
    }

    /// The run is under way; one that was stopped while it was set up stays stopped.
    mutating func started() {
        if case .starting(let publication) = self { self = .running(publication) }
    }

    /// The radio has this of the device from now on; the end of the run is final.
    mutating func published(_ publication: Publication) {
        switch self {
        case .starting: self = .starting(publication)
        case .running: self = .running(publication)
        case .stopped: break
        }
    }

    /// Publishing begins: a second call meanwhile has nothing to publish.
    ///
    /// Returns what the radio has had until now, or `nil` if nothing has to be published.
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
