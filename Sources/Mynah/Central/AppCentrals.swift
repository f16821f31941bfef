import MynahCore
import MynahLifecycle

/// The central managers of an app: those of its current process, and ended ones for which the system still
/// scans or connects.
///
/// Belongs to an app. This is a class and not a struct, because a handler of an event may access it during a
/// change.
final class AppCentrals {
    private(set) var all: [CentralManagerState] = []

    /// The managers that the app's current process has made.
    var live: [CentralManagerState] { all.filter { !$0.isEnded } }

    /// The sorted restore identifiers of the ended managers for which the system still scans or connects.
    var keptIdentifiers: [String] {
        all.filter { $0.isEnded && $0.isWorkedFor }.compactMap(\.restoreIdentifier).sorted()
    }

    static func isTaken(_ restoreIdentifier: String?) -> RadioError {
        RadioError(
            .invalidState, "two managers have the restore identifier \"\(restoreIdentifier ?? "")\"",
            remedy: "give each manager of the app its own identifier")
    }

    /// Throws `invalidState` if a manager of the app's current process has the identifier.
    func checkIsFree(_ restoreIdentifier: String?) throws(RadioError) {
        guard let restoreIdentifier else { return }
        if live.contains(where: { $0.restoreIdentifier == restoreIdentifier }) {
            throw Self.isTaken(restoreIdentifier)
        }
    }

    /// Loads the state that another process preserved for the app's central managers.
    func loadPreserved(of app: AppCondition, in central: PhoneCentral) {
        for identifier in app.description.centralRestoreIdentifiers { load(identifier, of: app, in: central) }
    }

    /// Loads the state that another process preserved under an identifier, unless a manager already has it.
    ///
    /// The system keeps nothing of an ended app that lacks the background mode or the permission.
    private func load(_ restoreIdentifier: String, of app: AppCondition, in central: PhoneCentral) {
        guard app.rules.isBackgroundCentral, app.permission.isAllowed,
            !all.contains(where: { $0.restoreIdentifier == restoreIdentifier })
        else { return }
        let name = PreservedName(
            app: app.description.name, restoreIdentifier: restoreIdentifier, role: .central)
        guard central.radio != nil, let state = central.preservation.load(name) else { return }
        let manager = CentralManagerState(number: central.nextNumber(), app: app, preserved: state)
        all.append(manager)
        central.memory.managers.append(manager)
        central.restore(manager, state)
    }

    /// Returns the preserved manager with a restore identifier, or a new manager.
    func make(
        _ restoreIdentifier: String?, _ options: CentralManager.Options, sink: (any CentralManagerSink)?,
        of app: AppCondition, in central: PhoneCentral
    ) throws(RadioError) -> CentralManager {
        try checkIsFree(restoreIdentifier)
        guard let radio = central.radio else {
            throw RadioError(.unsupported, "this radio does not support the central role")
        }
        central.devices.load()
        if let restoreIdentifier { load(restoreIdentifier, of: app, in: central) }
        let kept = all.first { $0.restoreIdentifier != nil && $0.restoreIdentifier == restoreIdentifier }
        let manager: CentralManagerState
        if let kept {
            manager = kept
            kept.relaunch(sink: sink)
        } else {
            manager = CentralManagerState(
                number: central.nextNumber(), app: app, restoreIdentifier: restoreIdentifier,
                options: options,
                sink: sink)
            all.append(manager)
            central.memory.managers.append(manager)
        }
        return manager.makeHandle(central.work.link, radio)
    }

    /// Reports the restored state to each new manager that was restored, and returns all new managers.
    func restore(by preservation: CentralPreservation) -> [CentralManagerState] {
        let new = live.filter { if case .new = $0.stage { true } else { false } }
        for manager in new where manager.introduce() {
            let kept = preservation.restored(manager)
            if !kept.isEmpty { _ = manager.deliver(.willRestoreState(kept)) }
        }
        return new
    }

    /// Reports the Bluetooth state to the new managers.
    func introduce(_ new: [CentralManagerState], _ state: RadioState) {
        for manager in new where !manager.isEnded && state != .unknown {
            _ = manager.deliver(.stateChanged(state))
        }
    }

    /// Ends the managers of a process that has ended.
    ///
    /// With `isKept`, the system keeps the managers that have a restore identifier.
    func end(keeping isKept: Bool, in central: PhoneCentral) {
        for manager in live {
            if isKept, manager.restoreIdentifier != nil {
                central.processEnded(manager)
            } else {
                forget(manager)
                central.end(manager)
            }
        }
    }

    /// Ends the managers of earlier launches, because the user quit the app.
    func forgetKept(in central: PhoneCentral) {
        for manager in all where manager.isEnded { central.end(manager) }
        all = live
    }

    func forget(_ manager: CentralManagerState) {
        all.removeAll { $0 === manager }
    }
}
