import MynahCore

// What apps and their managers ask of the system.
extension Phone {
    func add(_ manager: PeripheralManager) {
        managers.append(manager)
    }

    func remove(_ manager: PeripheralManager) {
        managers.removeAll { $0 === manager }
        air.remove(manager)
    }

    /// What one manager owned and advertised is another's.
    func replace(_ old: PeripheralManager, with new: PeripheralManager) {
        for (key, owner) in owners where owner === old { owners[key] = new }
        managers.removeAll { $0 === old }
        air.replace(old, with: new)
    }

    /// Whether a manager that lives has this identifier.
    func hasManager(_ restoreIdentifier: String) -> Bool {
        managers.contains { manager in
            manager.restoreIdentifier == restoreIdentifier && !manager.assumeIsolated { $0.isEnded }
        }
    }

    func load(_ restoreIdentifier: String) -> PreservedState? {
        guard let stateDirectory else { return nil }
        let (state, warning) = stateDirectory.load(restoreIdentifier)
        if let warning { warn("preservedStateUnusable", warning) }
        return state
    }

    /// False: it is not written down, which is said once while the reason is the same.
    func save(_ state: PreservedState) -> Bool {
        guard let stateDirectory else { return false }
        do throws(RadioError) {
            try stateDirectory.save(state)
            saveProblem = nil
            return true
        } catch {
            guard saveProblem != error else { return false }
            saveProblem = error
            warn("stateNotKept", "the state of \(state.restoreIdentifier) could not be kept: \(error)")
            return false
        }
    }

    func forget(_ restoreIdentifier: String) {
        stateDirectory?.remove(restoreIdentifier)
    }

    func warn(_ code: String, _ message: String) {
        tell(.warning(RadioWarning(code, message)))
    }
}
