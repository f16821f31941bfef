import MynahCore
import MynahSupport

/// What a phone preserves of its apps' managers, in a directory if there is one.
struct PreservedStates {
    private let directory: StateDirectory?

    init(_ directory: StateDirectory?) {
        self.directory = directory
    }

    /// Returns what was preserved under a name, and what the user should know of it.
    func load(_ name: PreservedName) -> (state: PreservedState?, warning: String?) {
        directory?.load(name) ?? (nil, nil)
    }

    /// Saves a state soon, and returns `false` if there is no directory.
    ///
    /// `failed` is called on another thread with a message for the user, once for as long as the reason is the same.
    func save(_ state: PreservedState, failed: @escaping @Sendable (String) -> Void) -> Bool {
        guard let directory else { return false }
        let identifier = state.name.restoreIdentifier
        directory.save(state) { error in failed("the state of \(identifier) could not be kept: \(error)") }
        return true
    }

    /// Returns when everything that was saved is written; what could not be written before is tried once more.
    func settle() async {
        directory?.writer.retry()
        await directory?.writer.settle()
    }

    func remove(_ name: PreservedName) {
        directory?.remove(name)
    }
}
