import Mynah
import MynahCore
import MynahLifecycle
import MynahProfiles

/// Work of a woken app that no event of its wake caused; the raw value is its name in events.
enum ExtraneousWork: String, CaseIterable {
    /// The app writes to a peripheral.
    case write
    /// The app asks for a connection.
    case connect
    /// The app begins to scan.
    case scan
    /// The app begins to advertise.
    case advertise
}

/// The state of the app that plays a device.
///
/// The state belongs to a launch or a wake of the app, and is separate from the run's `DeviceStage`.
struct AppSide {
    /// The app, or `nil` for an accessory or before the launch.
    var app: App?
    /// Whether the app is receiving events that were queued while it did not run, and may be out of date.
    var isDeliveringQueued: Bool { app?.access.isDeliveringQueued == true }
    /// `true` if the app was launched and has not received the Bluetooth state.
    private var awaitsIntroduction = false
    /// The data that the app's code has stored, or `nil` before it is read.
    var saved: SavedIdentifiers?
    /// Whether the app was launched in this run.
    private(set) var wasLaunched = false
    /// The attributes of this wake's events.
    private var wokenFor: Set<AttributeKey> = []
    /// The attributes that were reported as extraneous in this wake.
    private var extraneous: Set<AttributeKey> = []
    /// The number of the app's current wake; work that an event causes belongs to the wake of the event.
    private(set) var wake = 0
    /// The number of the wake whose event made the app publish its services.
    var publishingWake: Int?
    /// The other kinds of work that were reported as extraneous in this wake.
    private var extraneousWork: Set<ExtraneousWork> = []
    /// The L2CAP channel that the app's current process publishes.
    var channel = ChannelPublication()
    /// The centrals from which the current process has requested a connection latency.
    private var askedForLatency: Set<Central.ID> = []
    /// Whether a change of the Bluetooth state has woken the app, and has not been delivered yet.
    private var isWokenByState = false
    /// Whether the app's managers were last given a Bluetooth state other than the phone's, because its user
    /// does not allow it to use Bluetooth, or has not picked an accessory.
    private var isStateOwn = false

    /// The device that the app's code has stored for a peripheral of a central manager, even in an earlier
    /// run.
    mutating func savedDevice(named name: String, of manager: Int) -> PeripheralIdentifier? {
        loadSaved()
        return saved?[manager][name]
    }

    /// Reads the data that the app's code stored in an earlier run, once.
    private mutating func loadSaved() {
        if saved == nil { saved = app?.access.savedIdentifiers() }
    }

    mutating func launched(_ app: App, publishesChannel: Bool) {
        self.app = app
        wasLaunched = true
        loadSaved()
        awaitsIntroduction = true
        isStateOwn = false
        askedForLatency = []
        channel = ChannelPublication(isAwaited: publishesChannel)
    }

    /// Whether the app's user has stopped an activity, even in an earlier launch.
    func isStopped(_ activity: SavedIdentifiers.Activity) -> Bool {
        saved?.stopped.contains(activity) == true
    }

    /// Notes that the user starts or stops an activity, which the app's code remembers for later launches.
    mutating func setWanted(_ activity: SavedIdentifiers.Activity, _ isWanted: Bool) {
        guard isStopped(activity) == isWanted, var new = saved else { return }
        if isWanted { new.stopped.remove(activity) } else { new.stopped.insert(activity) }
        saved = new
        app?.access.save(new)
    }

    /// Returns, once, whether this is the first Bluetooth state after a launch.
    mutating func takeIntroduction() -> Bool {
        defer { awaitsIntroduction = false }
        return awaitsIntroduction
    }

    mutating func woken(by kind: BluetoothEvent, for attribute: AttributeKey?) {
        wokenFor = attribute.map { [$0] } ?? []
        (extraneous, extraneousWork) = ([], [])
        wake += 1
        isWokenByState = kind == .state
    }

    /// Returns, once, whether the Bluetooth state that is being delivered woke the app; with several
    /// managers, for the first only.
    mutating func takeWakeByState() -> Bool {
        guard !isDeliveringQueued else { return false }
        defer { isWokenByState = false }
        return isWokenByState
    }

    /// Whether the app itself reports changes of the phone's Bluetooth state.
    ///
    /// The app reports a change after the wake that the change causes. An app that may not use Bluetooth, or
    /// whose user has not picked an accessory, reports no change.
    var reportsOwnState: Bool {
        app?.access.isToBeWokenByState == true || app?.access.awaitsAccessory == true || !isAuthorized
    }

    /// Whether the app's user allows it to use Bluetooth; an accessory needs no permission.
    var isAuthorized: Bool { app?.access.isAuthorized ?? true }

    /// Returns, once, whether the state for the app's managers differs from the phone's, or is the phone's
    /// again; with several managers, for the first only.
    mutating func takeOwn(_ state: RadioState) -> Bool {
        let isOwn =
            state == .unauthorized || state == .poweredOff && app?.access.awaitsAccessory == true
        defer { isStateOwn = isOwn }
        return isOwn != isStateOwn
    }

    /// Reports extraneous work, once for each wake; `wake` is the wake of the work, or `nil` if no wake led
    /// to the work.
    mutating func noteExtraneous(
        _ work: ExtraneousWork, in wake: Int?, _ peripheral: EventPeripheral = .init(),
        on attribute: EventAttribute = .init(), to events: EventReporter
    ) {
        guard let app, wake != self.wake, app.access.isWoken, extraneousWork.insert(work).inserted else {
            return
        }
        events.report(
            .appExtraneous, .notice(.init(code: work.rawValue, "", peripheral, on: attribute)))
    }

    /// Returns whether to request a connection latency from a central, which is done once on a link.
    mutating func asksForLatency(_ central: Central.ID) -> Bool {
        askedForLatency.insert(central).inserted
    }

    /// Forgets a central whose link has ended.
    mutating func forget(_ central: Central.ID) {
        askedForLatency.remove(central)
        channel.forget(central)
    }

    /// Notes that an event of this wake concerned an attribute.
    mutating func note(_ attribute: AttributeKey) {
        wokenFor.insert(attribute)
    }

    /// Returns whether to report sending a value as extraneous, which is done once in a wake for another
    /// event.
    mutating func isNewlyExtraneous(_ attribute: AttributeKey) -> Bool {
        guard let app, !wokenFor.contains(attribute), app.access.isWoken else { return false }
        return extraneous.insert(attribute).inserted
    }
}
