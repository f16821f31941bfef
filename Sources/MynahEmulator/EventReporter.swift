import MynahCore
import MynahSupport

/// Reports events to their observer; without one no event is made at all, which is the fastest.
struct EventReporter: Sendable {
    let wallTime: @Sendable () -> WallTime
    let observer: (@Sendable (DeviceEvent) -> Void)?
    /// The device whose events they are, or `nil` if it is played alone.
    var device: String?

    /// Whether anybody observes.
    var isObserved: Bool { observer != nil }

    /// `layout` is that of the value, or `nil` if it has the SIG's for its UUID, or none.
    func report(_ name: DeviceEvent.Name, _ fields: [JSON.Member] = [], layout: ValueLayout? = nil) {
        guard let observer else { return }
        let fields = device.map { [JSON.Member("device", .string($0))] + fields } ?? fields
        var event = DeviceEvent(time: wallTime(), name: name, fields: fields)
        event.layout = layout
        observer(event)
    }

    func warn(_ code: String, _ message: String, _ fields: [JSON.Member] = []) {
        report(.warning, [.init("code", .string(code)), .init("message", .string(message))] + fields)
    }
}
