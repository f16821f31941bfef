import MynahCore
import MynahLifecycle
import MynahSupport

/// A weak reference to a phone, for its radio, its handles and its tasks.
final class PhoneLink: RadioSink, CentralSink {
    private weak let target: Phone?

    init(_ phone: Phone) {
        target = phone
    }

    /// The phone, or `nil` if it was released.
    var phone: Phone? { target }

    /// Routes an event on the radio's executor.
    func handle(_ event: RadioEvent) -> RadioAnswer {
        run { $0.route(event) } ?? .none
    }

    /// Routes an event of the central half on the radio's executor.
    func handle(_ event: CentralEvent) -> RadioAnswer {
        run { phone in
            phone.noteClient(event)
            if case .parameters(let id, let report) = event {
                if let address = phone.central.memory.ledger.address(of: id) {
                    phone.reports.report(.peripheralParameters(address, report))
                }
                return .none
            }
            return phone.central.route(event)
        } ?? .none
    }

    /// Runs `body` at once for a caller that already runs on the phone's executor.
    ///
    /// Returns `nil` if the phone was released.
    func run<Value: Sendable, Failure: Error>(
        _ body: @Sendable (isolated Phone) throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        guard let target else { return nil }
        return try target.onOwnExecutor(body)
    }

    /// Runs work on the phone's executor, unless the phone was released.
    func perform(_ work: @Sendable (isolated Phone) -> Void) async {
        if let target { await work(target) }
    }

    /// Asks the phone's user whether to pair with the device of a link; returns `false` if the phone was
    /// released.
    func consents(toPairOn link: Peer.ID) async -> Bool {
        guard let target else { return false }
        return await target.consents(toPairOn: link)
    }

    /// Puts work on the phone's queue, where it starts in the order of the calls.
    ///
    /// The work is dropped if the phone was released before its turn.
    func enqueue(_ work: @escaping @Sendable (isolated Phone) async -> Void) {
        guard let target else { return }
        target.queue.add(work)
        _ = Self.task(on: target) { await $0.queue.startNext(on: $0) }
    }

    /// Runs work on the phone's executor at a given time, unless the task is cancelled or the phone is
    /// released.
    func enqueue(
        at instant: RunClock.Instant, on clock: RunClock, _ work: @escaping @Sendable (isolated Phone) -> Void
    ) -> Task<Void, Never> {
        Task(executorPreference: target?.preferredExecutor) { [weak target] in
            guard (try? await clock.sleep(until: instant)) != nil, !Task.isCancelled, let target else {
                return
            }
            await Self.run(work, on: target)
        }
    }

    /// Starts a task that prefers the phone's executor.
    ///
    /// With virtual time, a task without that preference would resume on the concurrent pool.
    static func task<Value: Sendable>(
        on phone: Phone, _ work: @escaping @Sendable (isolated Phone) async -> Value
    ) -> Task<Value, Never> {
        Task(executorPreference: phone.preferredExecutor) {
            let value = await work(phone)
            // A debug build leaves the phone's executor here, before the task that waits for the value goes
            // on. An optimized build leaves it only if something is left to do, and one seed has to give one
            // history in both.
            _ = Task.isCancelled
            return value
        }
    }

    /// Runs a timer's work, unless the timer's task was cancelled before it reached the executor.
    private static func run(_ work: @Sendable (isolated Phone) -> Void, on phone: isolated Phone) {
        if !Task.isCancelled { work(phone) }
    }
}
