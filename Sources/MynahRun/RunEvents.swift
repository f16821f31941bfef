import MynahControl
import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport

/// Passes the events of a run to its observers.
final class RunEvents: Sendable {
    private let outputs: RunOutputs
    /// The observers of events: the outputs first, and then those of the run itself.
    private let observers: [any RunObserver]
    private let journal: Journal?
    private let clock: RunClock
    /// The address of the control API, after the server has started.
    private let control = Lock<String?>(nil)
    /// The times of the events so far.
    ///
    /// The lock is held while an event is passed on, so that all observers get the events in the same order.
    private let order = Lock(EventOrder())

    /// Makes the events of a run; `journal` gets all of them if there is a control API.
    init(_ outputs: RunOutputs, _ watch: RunWatch, _ journal: Journal?, clock: RunClock) {
        self.outputs = outputs
        self.journal = journal
        self.clock = clock
        observers = outputs.observers + [watch] + (journal.map { [JournalKeeper(journal: $0)] } ?? [])
        for observer in outputs.observers { observer.onClose { watch.outputClosed() } }
    }

    /// The observer of a device's events, or `nil` if no output shows events.
    ///
    /// An event, and those after it, wait until the state that it reports is written to its files.
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

    /// Reports an event of the run itself, which no device caused.
    private func tell(_ event: DeviceEvent) { pass(event, of: nil) }

    private func pass(_ event: DeviceEvent, of device: String?) {
        order.withLock { order in
            var event = event
            event.time = order.time(of: event.time)
            for observer in observers where observer.takesEvents { observer.observe(event, of: device) }
        }
    }

    /// Notes the address of the control API, which is now served.
    ///
    /// `isServer` is `true` for a run that is ready without a device.
    func served(at address: String, isServer: Bool) {
        control.withLock { $0 = address }
        guard isServer, areShown else { return }
        var event = DeviceEvent(time: .now(clock), .ready, .ready(.init()))
        event.serve(at: address)
        tell(event)
    }

    /// Begins a new history, and reports the address of the control API again.
    func beginAnew(isServer: Bool) {
        order.withLock { $0 = EventOrder() }
        for observer in outputs.observers { observer.beginAnew() }
        if let address = control.withLock({ $0 }) { served(at: address, isServer: isServer) }
    }

    /// Reports the time of a run with the `manual` clock, which a request or a key may have changed without
    /// an event.
    func clockMoved() {
        guard clock.manual != nil else { return }
        let now = WallTime.now(clock)
        for observer in outputs.observers { observer.timeMoved(to: now) }
        journal?.noteChange()
    }

    /// Reports a warning of the run itself; as a message, if no output shows events.
    func warn(_ warning: RadioWarning) {
        tell(.warning, warning.code, warning.message)
    }

    /// Reports an error that does not end the run, as an event, or as a message if no output shows events.
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

    /// Returns when all events are written.
    func end() {
        for observer in outputs.observers { observer.end() }
    }
}

/// Makes sure that the times of a run's events do not decrease.
///
/// An event has the time at which it happened. Radios on different threads may report events in another
/// order, and an event may wait for a file.
struct EventOrder {
    /// The largest delay of an event, in microseconds.
    ///
    /// If a time is earlier by more than that, the calendar was set back, and the time is not changed.
    private static let longest: Int64 = 10_000_000

    private var last: WallTime?

    /// The time for the next event: its own, or that of the previous event if that is later.
    mutating func time(of time: WallTime) -> WallTime {
        if let last, (last.microseconds - Self.longest..<last.microseconds).contains(time.microseconds) {
            return last
        }
        last = time
        return time
    }
}

/// Adds the events of a run to the journal for the control API.
private struct JournalKeeper: RunObserver {
    let journal: Journal

    func observe(_ event: DeviceEvent, of device: String?) { journal.append(event, of: device) }
}
