import MynahCore
import MynahLifecycle

/// The shared state of a phone's central role: the Bluetooth state, the managers, the links and the
/// connections of each manager.
///
/// The objects that implement the role share this one, which refers to none of them. It runs on the phone's
/// executor.
final class CentralMemory {
    /// All managers, including those that the system keeps after their process has ended.
    var managers: [CentralManagerState] = []
    var ledger = LinkLedger()
    /// The state of each link.
    var links = CentralLinks()
    private let states: RadioStates
    /// The reason that the radio is lost, or `nil` if it is not.
    var loss: RadioError?

    init(_ states: RadioStates) {
        self.states = states
    }

    var radioState: RadioState {
        get { states.central }
        set { states.central = newValue }
    }

    // MARK: Managers

    /// Returns the manager that a reference identifies, or `nil` if its app or the phone has ended.
    func manager(_ reference: CentralReference) -> CentralManagerState? {
        managers.first {
            $0.key.manager == reference.number && $0.epoch == reference.epoch && !$0.isEnded
        }
    }

    /// Returns a manager, which may be one that the system keeps for an ended app.
    func manager(_ key: ManagerKey) -> CentralManagerState? {
        managers.first { $0.key == key }
    }

    /// Returns the manager that a reference identifies.
    ///
    /// Throws `invalidState` if the manager has ended, or if its app may not make requests.
    func acting(_ reference: CentralReference) throws(RadioError) -> CentralManagerState {
        guard let manager = manager(reference) else { throw Self.managerIsGone }
        try manager.app?.checkMayActAsCentral()
        return manager
    }

    static var managerIsGone: RadioError {
        RadioError(.invalidState, "the app of this central manager has ended, or its phone was stopped")
    }

    /// Whether the system keeps a manager whose process has ended.
    func keeps(_ key: ManagerKey) -> Bool {
        manager(key).map { $0.isEnded && $0.restoreIdentifier != nil } ?? false
    }

    // MARK: Power

    /// The error of a request to the radio while Bluetooth is not powered on.
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

    /// The managers that use a link.
    func holders(of link: Peer.ID) -> [CentralManagerState] {
        ledger.holders(of: link).compactMap(manager)
    }

    /// Whether a manager uses a link.
    func holds(_ link: Peer.ID, _ manager: CentralManagerState) -> Bool {
        ledger.holders(of: link).contains(manager.key)
    }

    /// Whether the device of a link is bonded, or `nil` if the link has ended.
    func isBonded(_ link: Peer.ID) -> Bool? { links[link]?.peer.isPaired }

    /// The devices to connect when their advertising is received.
    ///
    /// Each has the fastest scan mode among the managers that wait for it.
    var wanted: [WantedLink] {
        ledger.wanted.map { want in
            let modes = want.managers.compactMap { manager($0)?.connectionMode(radioState) }
            let mode = modes.contains(.foreground) ? .foreground : modes.first { $0 != .off } ?? .off
            return WantedLink(want.address, mode: mode)
        }
    }
}

/// The central managers that belong to no app; events about the whole radio are reported to them.
struct CentralPrograms {
    private let memory: CentralMemory
    private let reports: PhoneReports

    init(_ memory: CentralMemory, _ reports: PhoneReports) {
        self.memory = memory
        self.reports = reports
    }

    /// Reports an event about the whole radio to the managers that belong to no app.
    ///
    /// Returns `false` if there are none.
    @discardableResult
    func deliver(_ event: CentralManagerEvent) -> Bool {
        let programs = memory.managers.filter { $0.app == nil }
        for manager in programs { _ = manager.deliver(event) }
        return !programs.isEmpty
    }

    /// Reports a warning to the managers that belong to no app, or to the `PhoneSink` if there are none.
    func warn(_ warning: RadioWarning) {
        if !deliver(.warning(warning)) { reports.report(.warning(warning)) }
    }
}
