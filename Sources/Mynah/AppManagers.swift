import MynahCore
import MynahLifecycle

/// The peripheral managers of an app: those of its current process, and those that the system preserves after
/// an earlier one.
///
/// Belongs to an app. This is a class and not a struct, because a handler of a warning may access it during a
/// change.
final class AppManagers {
    private(set) var all: [ManagerState] = []

    /// The managers that the app's current process has made.
    var live: [ManagerState] { all.filter { !$0.isEnded } }

    /// The sorted restore identifiers of `cause`, and of the managers that advertise or have subscribers.
    ///
    /// `cause` is the manager whose event launches the app, or `nil` if there is none.
    func restoreIdentifiers(launchedFor cause: ManagerState?) -> [String] {
        all.filter { $0.isAtWork || $0 === cause }.compactMap(\.restoreIdentifier).sorted()
    }

    /// Loads the state that another process preserved for the app's managers.
    func loadPreserved(of app: AppCondition, in files: PhoneFiles, _ memory: PhoneMemory) {
        for identifier in app.description.restoreIdentifiers {
            load(identifier, of: app, in: files, memory)
        }
    }

    /// Loads the state that another process preserved under an identifier.
    ///
    /// Does nothing if a manager already has the identifier, or if the app may not use Bluetooth.
    private func load(
        _ restoreIdentifier: String, of app: AppCondition, in files: PhoneFiles, _ memory: PhoneMemory
    ) {
        let name = PreservedName(app: app.description.name, restoreIdentifier: restoreIdentifier)
        guard app.permission.isAllowed, preserved(restoreIdentifier) == nil,
            let state: PreservedState = files.load(name)
        else { return }
        add(ManagerState(of: app, state, files, memory), to: memory)
    }

    private func preserved(_ restoreIdentifier: String) -> ManagerState? {
        all.first { $0.restoreIdentifier == restoreIdentifier }
    }

    private func add(_ manager: ManagerState, to memory: PhoneMemory) {
        all.append(manager)
        memory.managers.append(manager)
    }

    /// Returns the preserved manager with a restore identifier, or a new manager.
    ///
    /// Throws `invalidState` if a manager of the app, or of another app of the same name, has the identifier.
    func make(
        _ restoreIdentifier: String?, sink: (any PeripheralSink)?, of app: AppCondition,
        in files: PhoneFiles, _ memory: PhoneMemory
    ) throws(RadioError) -> ManagerState {
        if let restoreIdentifier {
            let name = PreservedName(app: app.description.name, restoreIdentifier: restoreIdentifier)
            guard !memory.managers.contains(where: { $0.preservedName == name && !$0.isEnded }) else {
                throw RadioError(
                    .invalidState,
                    """
                    two managers of the app \(name.app) have the restore identifier \
                    "\(restoreIdentifier)"
                    """,
                    remedy: "give each manager of an app its own identifier, and each app its own name")
            }
            load(restoreIdentifier, of: app, in: files, memory)
            if let manager = preserved(restoreIdentifier) {
                manager.relaunch(sink: sink)
                return manager
            }
        }
        let manager = ManagerState(
            of: app, restoreIdentifier: restoreIdentifier, files, memory, sink: sink)
        add(manager, to: memory)
        return manager
    }

    /// Ends the managers of a process that has ended; the system keeps those with a restore identifier.
    func end(in memory: PhoneMemory, _ services: ServiceRegistry, _ advertiser: PhoneAdvertiser) {
        for manager in live {
            manager.end()
            // Only services, subscribers and the advertisement are restored (Peripheral Manager State
            // Restoration Options).
            services.unpublishChannels(of: manager)
            guard manager.restoreIdentifier == nil else { continue }
            advertiser.forget(manager)
            services.withdrawAll(of: manager, forget: true)
            forget(manager)
            memory.forget(manager)
            advertiser.remove(manager)
        }
    }

    /// Deletes the state that an earlier launch preserved.
    func forgetPreserved(in files: PhoneFiles, _ memory: PhoneMemory, _ advertiser: PhoneAdvertiser) {
        for manager in all where manager.isEnded {
            if let name = manager.preservedName { files.remove(name) }
            memory.forget(manager)
            advertiser.remove(manager)
        }
        all = live
    }

    func forget(_ manager: ManagerState) {
        all.removeAll { $0 === manager }
    }
}
