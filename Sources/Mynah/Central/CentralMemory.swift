import MynahCore
import MynahLifecycle

/// The knowledge of a phone's central half: the Bluetooth state, its managers, its links, and which manager
/// holds or waits for which.
///
/// The parts of that half share it. It leads to none of them, and runs on the phone's executor.
final class CentralMemory {
    /// The managers of programs and of apps, with those whose process is gone and that the system works for.
    var managers: [CentralManagerState] = []
    var ledger = LinkLedger()
    /// The state of each link.
    var links = CentralLinks()
    private let states: RadioStates
    /// Why the radio is gone, while it is.
    var loss: RadioError?

    init(_ states: RadioStates) {
        self.states = states
    }

    /// The Bluetooth state.
    var radioState: RadioState {
        get { states.central }
        set { states.central = newValue }
    }

    // MARK: Managers

    /// Returns the manager of a handle, or `nil` if its app or the phone has ended.
    func manager(_ reference: CentralReference) -> CentralManagerState? {
        managers.first {
            $0.key.manager == reference.number && $0.epoch == reference.epoch && !$0.isEnded
        }
    }

    /// Returns a manager, also one whose app has ended and that the system works for.
    func manager(_ key: ManagerKey) -> CentralManagerState? {
        managers.first { $0.key == key }
    }

    /// Returns the manager of a handle if its program may act.
    func acting(_ reference: CentralReference) throws(RadioError) -> CentralManagerState {
        guard let manager = manager(reference) else { throw Self.managerIsGone }
        try manager.app?.checkMayActAsCentral()
        return manager
    }

    static var managerIsGone: RadioError {
        RadioError(.invalidState, "the app of this central manager has ended, or its phone was stopped")
    }

    /// Whether the system works for a manager whose process is gone.
    func keeps(_ key: ManagerKey) -> Bool {
        manager(key).map { $0.isEnded && $0.restoreIdentifier != nil } ?? false
    }

    // MARK: Power

    /// Why nothing can be asked of the radio while Bluetooth is not powered on.
    var powerError: RadioError { loss ?? RadioError(.lost, "Bluetooth is \(radioState.rawValue)") }

    /// Throws `invalidState` unless Bluetooth is powered on.
    func checkPower() throws(RadioError) {
        guard radioState == .poweredOn else {
            throw loss
                ?? RadioError(
                    .invalidState, "Bluetooth is not powered on: it is \(radioState.rawValue)",
                    remedy: "wait for stateChanged(.poweredOn)")
        }
    }

    // MARK: Links

    /// The managers that hold a link.
    func holders(of link: Peer.ID) -> [CentralManagerState] {
        ledger.holders(of: link).compactMap(manager)
    }

    /// Whether a manager holds a link.
    func holds(_ link: Peer.ID, _ manager: CentralManagerState) -> Bool {
        ledger.holders(of: link).contains(manager.key)
    }

    /// Whether the device of a link is bonded, or `nil` if the link has ended.
    func isBonded(_ link: Peer.ID) -> Bool? { links[link]?.peer.isPaired }

    /// The devices to listen for now, with the fastest mode that a manager listens for each.
    var wanted: [WantedLink] {
        ledger.wanted.map { want in
            let modes = want.managers.compactMap { manager($0)?.connectionMode(radioState) }
            let mode = modes.contains(.foreground) ? .foreground : modes.first { $0 != .off } ?? .off
            return WantedLink(want.address, mode: mode)
        }
    }
}

/// The programs on a phone that have central managers without an app, which hear of the whole radio.
struct CentralPrograms {
    private let memory: CentralMemory
    private let reports: PhoneReports

    init(_ memory: CentralMemory, _ reports: PhoneReports) {
        self.memory = memory
        self.reports = reports
    }

    /// Gives them an event that concerns the whole radio; returns whether there are any.
    @discardableResult
    func deliver(_ event: CentralManagerEvent) -> Bool {
        let programs = memory.managers.filter { $0.app == nil }
        for manager in programs { _ = manager.deliver(event) }
        return !programs.isEmpty
    }

    /// Warns them, or else the phone.
    func warn(_ warning: RadioWarning) {
        if !deliver(.warning(warning)) { reports.report(.warning(warning)) }
    }
}
