import Mynah
import MynahCore
import MynahLifecycle
import MynahProfiles

/// Work of a woken app that is unrelated to the event that woke it; the raw value is its name in events.
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
/// A part of the state is reset when the app is launched, or when iOS wakes the app for a Bluetooth event.
/// The stage of the device's run is kept in `DeviceStage`.
struct AppSide {
    /// The app, or `nil` for an accessory or before the launch.
    var app: App?
    /// `true` while the app receives events that were queued while it did not run, and may be outdated.
    var isDeliveringQueued: Bool { app?.access.isDeliveringQueued == true }
    /// `true` if the app was launched and has not received the Bluetooth state yet.
    private var awaitsIntroduction = false
    /// The data that the app's code has stored, or `nil` if it was not loaded yet.
    var saved: SavedIdentifiers?
    /// Whether the app was launched in this run.
    private(set) var wasLaunched = false
    /// The attributes that the events of this wake concern.
    private var wokenFor: Set<AttributeKey> = []
    /// The attributes whose values were reported as extraneous work in this wake.
    private var extraneous: Set<AttributeKey> = []
    /// The number of times that iOS has woken the app for a Bluetooth event.
    ///
    /// The number identifies the current wake. Work that an event causes belongs to the wake of that event.
    private(set) var wake = 0
    /// The number of the wake in which the app publishes its services, or `nil` if it publishes after a
    /// launch.
    var publishingWake: Int?
    /// The other kinds of extraneous work that were reported in this wake.
    private var extraneousWork: Set<ExtraneousWork> = []
    /// The L2CAP channel that the app's current process publishes.
    var channel = ChannelPublication()
    /// The centrals from which the current process has requested a connection latency.
    private var askedForLatency: Set<Central.ID> = []
    /// Whether a change of the Bluetooth state has woken the app, and has not been delivered yet.
    private var isWokenByState = false
    /// Whether the app's managers last received a Bluetooth state other than the phone's.
    ///
    /// They do if the user has not allowed the app to use Bluetooth, or has not picked an accessory.
    private var isStateOwn = false

    /// Returns the device that the app's code has stored for a peripheral, even in an earlier run.
    ///
    /// `manager` is the index of the central manager.
    mutating func savedDevice(named name: String, of manager: Int) -> PeripheralIdentifier? {
        loadSaved()
        return saved?[manager][name]
    }

    /// Loads the data that the app's code stored in an earlier run, unless it is loaded already.
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

    /// Stores that the user starts or stops an activity, also for later launches.
    mutating func setWanted(_ activity: SavedIdentifiers.Activity, _ isWanted: Bool) {
        guard isStopped(activity) == isWanted, var new = saved else { return }
        if isWanted { new.stopped.remove(activity) } else { new.stopped.insert(activity) }
        saved = new
        app?.access.save(new)
    }

    /// Returns `true` in the first call after a launch, when the app receives its first Bluetooth state.
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

    /// Returns `true` in the first call after a change of the Bluetooth state has woken the app.
    ///
    /// If the app has several managers, only the first one gets `true`.
    mutating func takeWakeByState() -> Bool {
        guard !isDeliveringQueued else { return false }
        defer { isWokenByState = false }
        return isWokenByState
    }

    /// Whether the app, and not the emulator, reports changes of the phone's Bluetooth state.
    ///
    /// The app reports a change after the wake that the change causes. An app that may not use Bluetooth, or
    /// whose user has not picked an accessory, reports no change.
    var reportsOwnState: Bool {
        app?.access.isToBeWokenByState == true || app?.access.awaitsAccessory == true || !isAuthorized
    }

    /// Whether the app's user allows it to use Bluetooth; an accessory needs no permission.
    var isAuthorized: Bool { app?.access.isAuthorized ?? true }

    /// Returns `true` if the app's managers begin or stop to receive a state that differs from the phone's.
    ///
    /// A later call with the same state returns `false`.
    mutating func takeOwn(_ state: RadioState) -> Bool {
        let isOwn =
            state == .unauthorized || state == .poweredOff && app?.access.awaitsAccessory == true
        defer { isStateOwn = isOwn }
        return isOwn != isStateOwn
    }

    /// Reports extraneous work, once for each wake.
    ///
    /// `wake` is the wake that led to the work, or `nil` if no wake did.
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

    /// Returns `true` if the app must request a connection latency from a central; once for each link.
    mutating func asksForLatency(_ central: Central.ID) -> Bool {
        askedForLatency.insert(central).inserted
    }

    /// Removes the state of a central whose link has ended.
    mutating func forget(_ central: Central.ID) {
        askedForLatency.remove(central)
        channel.forget(central)
    }

    /// Records that an event of this wake concerns an attribute.
    mutating func note(_ attribute: AttributeKey) {
        wokenFor.insert(attribute)
    }

    /// Whether sending a value of this attribute must be reported as extraneous work.
    ///
    /// Returns `true` once in a wake, and only if the wake was for another attribute or event.
    mutating func isNewlyExtraneous(_ attribute: AttributeKey) -> Bool {
        guard let app, !wokenFor.contains(attribute), app.access.isWoken else { return false }
        return extraneous.insert(attribute).inserted
    }
}
