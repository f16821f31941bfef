import MynahControl
import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport

/// Passes the events of a run to its observers.
final class RunEvents: Sendable {
    private let outputs: RunOutputs
    /// The observers of events: first the outputs, then those of the run itself.
    private let observers: [any RunObserver]
    private let journal: Journal?
    private let clock: RunClock
    /// The address of the control API, or `nil` before its server has started.
    private let control = Lock<String?>(nil)
    /// The order of the events so far.
    ///
    /// The lock is held while an event is passed on, so that all observers get the events in the same order.
    private let order = Lock(EventOrder())

    /// Makes the events of a run; `journal` stores all events for the control API.
    init(_ outputs: RunOutputs, _ watch: RunWatch, _ journal: Journal?, clock: RunClock) {
        self.outputs = outputs
        self.journal = journal
        self.clock = clock
        observers = outputs.observers + [watch] + (journal.map { [JournalKeeper(journal: $0)] } ?? [])
        for observer in outputs.observers { observer.onClose { watch.outputClosed() } }
    }

    /// Returns a function that receives a device's events, or `nil` if no output needs events.
    ///
    /// Each event waits until `writer` has written the state that it reports. Later events wait too.
    func observer(of device: String, _ writer: FileWriter) -> (@Sendable (DeviceEvent) -> Void)? {
        guard observers.contains(where: \.takesEvents) else { return nil }
        let held = HeldReports<DeviceEvent>(for: writer, clock: clock) { [self] in
            event(.warning, $0.code, $0.message)
        } pass: { [self] event in
            var event = event
            if event.name == .ready, let address = control.withLock({ $0 }) {
                event.serve(at: address)
            }
            pass(event, of: device)
        }
        return { held.report($0) }
    }

    /// Reports an event of the run itself, and not of a device.
    private func tell(_ event: DeviceEvent) { pass(event, of: nil) }

    private func pass(_ event: DeviceEvent, of device: String?) {
        order.withLock { order in
            var event = event
            event.time = order.time(of: event.time)
            for observer in observers where observer.takesEvents { observer.observe(event, of: device) }
        }
    }

    /// Stores the address of the control API, which is now served.
    ///
    /// `isServer` is `true` for a run that needs no device to be ready; the run then reports `ready`.
    func served(at address: String, isServer: Bool) {
        control.withLock { $0 = address }
        guard isServer, areShown else { return }
        var event = DeviceEvent(time: .now(clock), .ready, .ready(.init()))
        event.serve(at: address)
        tell(event)
    }

    /// Resets the observers and reports the address of the control API again; called when the run starts
    /// again.
    func beginAnew(isServer: Bool) {
        order.withLock { $0 = EventOrder() }
        for observer in outputs.observers { observer.beginAnew() }
        if let address = control.withLock({ $0 }) { served(at: address, isServer: isServer) }
    }

    /// Reports the current time of a `manual` clock, which may have changed without an event.
    func clockMoved() {
        guard clock.manual != nil else { return }
        let now = WallTime.now(clock)
        for observer in outputs.observers { observer.timeMoved(to: now) }
        journal?.noteChange()
    }

    /// Reports a warning of the run itself; prints it if no output shows events.
    func warn(_ warning: RadioWarning) {
        tell(.warning, warning.code, warning.message)
    }

    /// Reports an error that does not end the run; prints it if no output shows events.
    func fail(_ error: RadioError) {
        tell(.error, error.code.rawValue, error.description)
    }

    private func tell(_ name: DeviceEvent.Name, _ code: String, _ message: String) {
        if !areShown { outputs.print("\(name.rawValue): \(message)") }
        tell(event(name, code, message))
    }

    private var areShown: Bool { outputs.observers.contains(where: \.takesEvents) }

    private func event(_ name: DeviceEvent.Name, _ code: String, _ message: String) -> DeviceEvent {
        DeviceEvent(time: .now(clock), name, .notice(.init(code: code, message)))
    }

    /// Waits until all events are written.
    func end() {
        for observer in outputs.observers { observer.end() }
    }
}

/// Ensures that the times of a run's events never decrease.
///
/// Each event has the time at which it happened. Events may be reported in another order, because radios use
/// different threads, and because an event may wait for a file.
struct EventOrder {
    /// The largest difference that is corrected, in microseconds.
    ///
    /// If a time is earlier by more than this, the calendar was set back, and the time is used as it is.
    private static let longest: Int64 = 10_000_000

    private var last: WallTime?

    /// The time for the next event: its own time, or that of the previous event if that is later.
    mutating func time(of time: WallTime) -> WallTime {
        if let last, (last.microseconds - Self.longest..<last.microseconds).contains(time.microseconds) {
            return last
        }
        last = time
        return time
    }
}

/// Stores the events of a run in the journal of the control API.
private struct JournalKeeper: RunObserver {
    let journal: Journal

    func observe(_ event: DeviceEvent, of device: String?) { journal.append(event, of: device) }
}
