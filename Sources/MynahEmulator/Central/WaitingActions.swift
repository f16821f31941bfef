/// The actions of a central manager's script that are still to be carried out, in order.
struct WaitingActions {
    /// An action, with the wake whose event caused it.
    typealias Waiting = (action: CentralScript.Action, wake: Int?)

    private var waiting: [Waiting] = []
    private var isCarryingOut = false

    var isEmpty: Bool { waiting.isEmpty }

    /// Adds actions; returns whether somebody has to begin to carry them out.
    mutating func add(_ actions: [CentralScript.Action], in wake: Int?) -> Bool {
        waiting += actions.map { ($0, wake) }
        guard !waiting.isEmpty, !isCarryingOut else { return false }
        isCarryingOut = true
        return true
    }

    /// Removes and returns the next one; `nil` if there is none.
    mutating func next() -> Waiting? { waiting.isEmpty ? nil : waiting.removeFirst() }

    /// Everything is carried out.
    mutating func finish() { isCarryingOut = false }

    /// The waiting actions are not carried out any more.
    mutating func removeAll() { waiting = [] }
}
