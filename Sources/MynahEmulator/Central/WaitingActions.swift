/// The queue of a central manager's actions that are still to be carried out.
struct WaitingActions {
    /// An action, with the number of the app's wake (`AppSide.wake`) whose event caused it.
    typealias Waiting = (action: CentralScript.Action, wake: Int?)

    private var waiting: [Waiting] = []
    private var isCarryingOut = false

    var isEmpty: Bool { waiting.isEmpty }

    /// Adds actions to the queue; returns `true` if the caller must start to carry the queue out.
    mutating func add(_ actions: [CentralScript.Action], in wake: Int?) -> Bool {
        waiting += actions.map { ($0, wake) }
        guard !waiting.isEmpty, !isCarryingOut else { return false }
        isCarryingOut = true
        return true
    }

    /// Removes and returns the next action, or returns `nil` if there is none.
    mutating func next() -> Waiting? { waiting.isEmpty ? nil : waiting.removeFirst() }

    /// Records that all actions were carried out.
    mutating func finish() { isCarryingOut = false }

    /// Drops the waiting actions.
    mutating func removeAll() { waiting = [] }
}
