import MynahSupport

/// A queue of work for an actor; the work is started in the order in which it was added.
///
/// Each piece of work has its own task, so work that waits does not delay other work. Swift guarantees no
/// order between tasks, so each task starts the oldest work in the queue when it reaches the actor.
package final class WorkQueue<Owner: Actor>: Sendable {
    /// A piece of work.
    package typealias Work = @Sendable (isolated Owner) async -> Void

    private let waiting = Lock<[Work]>([])

    /// Makes an empty queue.
    package init() {}

    /// Adds work; afterwards, the caller must start a task that calls `startNext`.
    package func add(_ work: @escaping Work) {
        waiting.withLock { $0.append(work) }
    }

    /// Starts the oldest work in the queue, and returns when it is done.
    package func startNext(on owner: isolated Owner) async {
        let work = waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        await work?(owner)
    }
}
