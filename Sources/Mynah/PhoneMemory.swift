import MynahCore
import MynahLifecycle

/// The shared state of a phone: the state of its radio, its apps, its managers and its centrals.
///
/// The parts of the phone share this object, which refers to none of them. It runs on the phone's executor.
final class PhoneMemory {
    let states: RadioStates
    /// The capabilities of the radio, or `nil` if it does not run.
    var capabilities: RadioCapabilities?
    /// The managers of accessories and of apps, including those whose process has ended.
    var managers: [ManagerState] = []
    var apps: [AppProcess] = []
    let centrals = CentralTable()
    /// The number that was last given to a manager or an app.
    private var lastNumber: UInt64 = 0

    init(_ states: RadioStates) {
        self.states = states
    }

    var radioState: RadioState {
        get { states.phone }
        set { states.phone = newValue }
    }

    /// Whether the radio runs.
    var isRunning: Bool { capabilities != nil }

    func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Returns an app, or `nil` if the phone was stopped.
    func app(_ number: UInt64) -> AppProcess? { apps.first { $0.number == number } }

    /// Returns the app of a manager, or `nil` if the manager belongs to no app or the phone was stopped.
    func app(of manager: ManagerState) -> AppProcess? { manager.app.flatMap { app($0.number) } }

    /// Returns the app of a central manager, or `nil` if it belongs to no app or the phone was stopped.
    func app(of manager: CentralManagerState) -> AppProcess? { manager.app.flatMap { app($0.number) } }

    /// Gives an event to a central manager's program, or to its app's queue if the app does not run.
    @discardableResult
    func pass(_ event: CentralManagerEvent, to manager: CentralManagerState) -> RadioAnswer {
        guard manager.app != nil else { return manager.deliver(event) }
        return app(of: manager)?.pass(event, to: manager) ?? .none
    }

    /// Forgets a manager that has neither services nor advertising on the radio.
    func forget(_ manager: ManagerState) { managers.removeAll { $0 === manager } }

    /// Carries out a transition of the user, the system or the app's own code.
    ///
    /// A phone has one app on its screen: opening another app sends the first one to the background.
    func apply(_ transition: AppTransition, to app: AppProcess) {
        if transition == .enterForeground {
            for other in apps where other !== app && other.state == .foreground {
                other.handle(.transition(.enterBackground))
            }
        }
        app.handle(.transition(transition))
    }

    /// Returns the manager that a reference identifies, or `nil` if its app or the phone has ended.
    func manager(_ reference: ManagerReference) -> ManagerState? {
        managers.first { $0.number == reference.number && $0.epoch == reference.epoch && !$0.isEnded }
    }
}
