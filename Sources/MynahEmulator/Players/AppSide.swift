import Mynah
import MynahCore
import MynahLifecycle
import MynahProfiles

/// Work that a woken app does although no event of its wake caused it; the value is in its event.
enum ExtraneousWork: String, CaseIterable {
    /// The app writes to a peripheral.
    case write
    /// The app asks for a connection.
    case connect
    /// The app begins a scan.
    case scan
    /// The app begins to advertise.
    case advertise
}

/// The state of the app that plays a player's device.
///
/// Belongs to a launch or a wake of the app, and is no part of the run's `DeviceStage`.
struct AppSide {
    /// The app, or `nil` if it is an accessory or was not launched.
    var app: App?
    /// Whether the app gets what waited while it did not run, and may be out of date.
    var isDeliveringQueued: Bool { app?.access.isDeliveringQueued == true }
    /// `true` if the app was launched and has not received the Bluetooth state.
    private var awaitsIntroduction = false
    /// The data that its code has stored, or `nil` before it was read.
    var saved: SavedIdentifiers?
    /// Whether the app was launched in this run.
    private(set) var wasLaunched = false
    /// The attributes of this wake's events.
    private var wokenFor: Set<AttributeKey> = []
    /// The attributes that were reported as extraneous in this wake.
    private var extraneous: Set<AttributeKey> = []
    /// The number of its wakes: what an event causes belongs to the wake of that time.
    private(set) var wake = 0
    /// The wake whose event had it publish.
    var publishingWake: Int?
    /// The other work that was reported as extraneous in this wake.
    private var extraneousWork: Set<ExtraneousWork> = []
    /// The L2CAP channel that this process publishes.
    var channel = ChannelPublication()
    /// The centrals that this process has asked for a connection latency.
    private var askedForLatency: Set<Central.ID> = []
    /// Whether a Bluetooth state has woken it, and has not been delivered.
    private var isWokenByState = false
    /// Whether the state that its managers were given last is its own, because its user does not let it use
    /// Bluetooth, or has not picked an accessory.
    private var isStateOwn = false

    /// The device that its code has stored for a peripheral of a central manager, also in an earlier run.
    mutating func savedDevice(named name: String, of manager: Int) -> PeripheralIdentifier? {
        loadSaved()
        return saved?[manager][name]
    }

    /// Reads what its code has stored in an earlier run, once.
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

    /// Whether the app's user has stopped something, also in an earlier launch.
    func isStopped(_ activity: SavedIdentifiers.Activity) -> Bool {
        saved?.stopped.contains(activity) == true
    }

    /// Notes what the user starts or stops in the app, which the app's code remembers for later launches.
    mutating func setWanted(_ activity: SavedIdentifiers.Activity, _ isWanted: Bool) {
        guard isStopped(activity) == isWanted, var new = saved else { return }
        if isWanted { new.stopped.remove(activity) } else { new.stopped.insert(activity) }
        saved = new
        app?.access.save(new)
    }

    /// Returns whether this is the first Bluetooth state after a launch.
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

    /// Returns whether the state that is being delivered woke it; once, also if it has several managers.
    mutating func takeWakeByState() -> Bool {
        guard !isDeliveringQueued else { return false }
        defer { isWokenByState = false }
        return isWokenByState
    }

    /// Whether a change of the phone's Bluetooth state is reported by the app, after the wake that it causes,
    /// or is none for the app because its user does not let it use Bluetooth, or has not picked an accessory.
    var reportsOwnState: Bool {
        app?.access.isToBeWokenByState == true || app?.access.awaitsAccessory == true || !isAuthorized
    }

    /// Whether the app's user lets it use Bluetooth; an accessory needs nobody's permission.
    var isAuthorized: Bool { app?.access.isAuthorized ?? true }

    /// Returns whether a state that its managers are given is another than the phone's, or is the phone's
    /// again; once, also if it has several managers.
    mutating func takeOwn(_ state: RadioState) -> Bool {
        let isOwn =
            state == .unauthorized || state == .poweredOff && app?.access.awaitsAccessory == true
        defer { isStateOwn = isOwn }
        return isOwn != isStateOwn
    }

    /// Reports work that belongs to a wake, or to none: once in a wake that is another.
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

    /// Returns whether a central is to be asked for a connection latency: once on its link.
    mutating func asksForLatency(_ central: Central.ID) -> Bool {
        askedForLatency.insert(central).inserted
    }

    /// A central's link ended.
    mutating func forget(_ central: Central.ID) {
        askedForLatency.remove(central)
        channel.forget(central)
    }

    /// An event was about an attribute.
    mutating func note(_ attribute: AttributeKey) {
        wokenFor.insert(attribute)
    }

    /// Returns whether sending a value is to be reported as extraneous: once in a wake that was for something
    /// else.
    mutating func isNewlyExtraneous(_ attribute: AttributeKey) -> Bool {
        guard let app, !wokenFor.contains(attribute), app.access.isWoken else { return false }
        return extraneous.insert(attribute).inserted
    }
}
