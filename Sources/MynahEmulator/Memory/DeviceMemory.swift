import Mynah
import MynahCore
import MynahLifecycle
import MynahProfiles
import MynahSupport

/// The state of a device in a run: its services, its values, its time, and the state of its app.
///
/// The parts of the device's player share this object, and report events through it. It is used on the
/// phone's executor.
final class DeviceMemory {
    let clock: RunClock
    let events: EventReporter
    /// The published device; after a state restoration, its attributes have the keys of the restored
    /// services.
    var device: EmulatedDevice
    var table: AttributeTable
    var manager: PeripheralManager?
    var appSide = AppSide()
    var stage = DeviceStage.starting(.missing)
    /// The time at which the device started, or `nil` before its start.
    private(set) var since: RunClock.Instant?

    init(of device: EmulatedDevice, clock: RunClock, events: EventReporter) {
        self.device = device
        self.clock = clock
        self.events = events
        table = device.table
    }

    /// The time since the device started.
    var elapsed: Duration { since.map { $0.duration(to: clock.now) } ?? .zero }

    /// Starts the device's clock.
    func startTime() { since = clock.now }

    /// Whether the device may act on its own; an app can do so only while it runs and is not throttled.
    var canAct: Bool {
        guard device.app != nil else { return true }
        return appSide.app.map { $0.access.isRunning && !$0.access.isThrottled } ?? false
    }

    func noteWake(_ attribute: AttributeKey) {
        if device.app != nil { appSide.note(attribute) }
    }

    /// Handles a Bluetooth state that a manager has received.
    ///
    /// Returns `true` if the state was reported as an event. It is reported if the app receives another state
    /// than the phone's, or if it is the first state after a launch during the run.
    @discardableResult
    func introduce(_ state: RadioState) -> Bool {
        let isFirst = appSide.takeIntroduction()
        appSide.publishingWake = isFirst ? nil : appSide.wake
        guard appSide.takeOwn(state) || isFirst && stage.isRunning else { return false }
        events.report(.stateChanged, .state(state), isQueued: appSide.isDeliveringQueued)
        return true
    }

    // MARK: Reports

    func reportRead(
        _ request: ReadRequest, _ central: Central, _ value: [UInt8], _ outcome: PendingReply.Outcome,
        asked id: Int? = nil
    ) {
        report(.read, on: request.attribute, central) { $0.set(request, value, outcome, asked: id) }
    }

    /// Reports the parts of a write; `id` is the request's number if a test answered the request.
    func reportWrite(
        _ write: WriteRequest, _ central: Central, _ outcome: PendingReply.Outcome, asked id: Int? = nil
    ) {
        for part in write.parts {
            report(.write, on: part.attribute, central) {
                $0.set(part, asked: id)
                $0.withResponse = write.wantsResponse
                if case .failure(let error) = outcome { $0.error = error }
            }
        }
    }

    func report(
        _ name: DeviceEvent.Name, on attribute: AttributeKey, _ central: Central? = nil,
        _ fill: (inout EventPayload.AttributeUse) -> Void = { _ in }
    ) {
        guard events.isObserved else { return }
        var use = EventPayload.AttributeUse(
            table.eventAttribute(of: attribute), by: central.map { EventCentral($0) })
        fill(&use)
        events.report(name, .attribute(use), isQueued: appSide.isDeliveringQueued)
    }
}
