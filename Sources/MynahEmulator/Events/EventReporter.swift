import Mynah
import MynahCore
import MynahProfiles
import MynahSupport

/// Reports events to an observer; without an observer, no event is made at all.
struct EventReporter: Sendable {
    let wallTime: @Sendable () -> WallTime
    let observer: (@Sendable (DeviceEvent) -> Void)?
    /// The device that the events concern, or `nil` if it is played alone.
    var device: String?

    /// `true` if there is an observer.
    var isObserved: Bool { observer != nil }

    func report(_ name: DeviceEvent.Name, _ payload: EventPayload = .none, isQueued: Bool = false) {
        guard let observer else { return }
        observer(DeviceEvent(time: wallTime(), name, payload, of: device, isQueued: isQueued))
    }

    func warn(_ code: String, _ message: String, _ central: Central? = nil) {
        report(.warning, .notice(.init(code: code, message, central: central.map { EventCentral($0) })))
    }

    /// Reports an error that does not end the run.
    func fail(_ message: String) {
        report(.error, .notice(.init(message)))
    }
}
