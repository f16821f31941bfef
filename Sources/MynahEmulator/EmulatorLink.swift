import Mynah
import MynahCore
import MynahSupport

/// The reference to the emulator from its phone, its managers and its tasks, from its start until it is
/// stopped.
final class EmulatorLink: PhoneSink {
    private let slot = Lock<Emulator?>(nil)

    /// The emulator, which is kept alive while it runs.
    var emulator: Emulator? {
        get { slot.withLock { $0 } }
        set { slot.withLock { $0 = newValue } }
    }

    /// Runs `body` at once, for a caller that already runs on the executor; returns `nil` if the emulator was
    /// stopped.
    @discardableResult
    func run<Value: Sendable>(_ body: @Sendable (isolated Emulator) -> Value) -> Value? {
        emulator?.onOwnExecutor(body)
    }

    func handle(_ event: PhoneEvent) -> RadioAnswer {
        run { $0.phoneReported(event) } ?? .none
    }

    /// Queues work, which starts in the order of the calls.
    ///
    /// The work is dropped if the emulator was stopped before its turn.
    func enqueue(_ work: @escaping @Sendable (isolated Emulator) async -> Void) {
        guard let emulator else { return }
        emulator.queue.add(work)
        Task(executorPreference: emulator.preferredExecutor) {
            if let emulator = self.emulator { await emulator.queue.startNext(on: emulator) }
        }
    }

    /// Queues work for a time, unless the task is cancelled before.
    func enqueue(
        at instant: RunClock.Instant, on clock: RunClock,
        _ work: @escaping @Sendable (isolated Emulator) async -> Void
    ) -> Task<Void, Never> {
        Task(executorPreference: emulator?.preferredExecutor) {
            guard (try? await clock.sleep(until: instant, tolerance: nil)) != nil,
                let emulator = self.emulator
            else {
                return
            }
            await emulator.unlessCancelled(work)
        }
    }
}

extension Emulator {
    /// Returns the player with this number, or `nil` after its end.
    func player(_ index: Int) -> DevicePlayer? { devices.player(index) }

    /// Returns the player of an app's central manager, or `nil` after the end of the run.
    func central(_ index: Int, _ number: Int) -> CentralPlayer? { player(index)?.centrals[number] }

    /// Runs work unless its task was cancelled after its sleep, on the way to the executor.
    fileprivate func unlessCancelled(_ work: @Sendable (isolated Emulator) async -> Void) async {
        if !Task.isCancelled { await work(self) }
    }
}

/// The sink of a player's central manager, which holds the player's number.
final class CentralLink: CentralManagerSink {
    private let link: PlayerLink
    /// The manager's index among the central managers of the app.
    let number: Int

    /// `true` for the first central manager of its app.
    var isFirst: Bool { number == 0 }

    init(_ link: PlayerLink, _ number: Int) {
        self.link = link
        self.number = number
    }

    func handle(_ event: CentralManagerEvent) -> RadioAnswer {
        link.emulator.run { [index = link.index, number] in $0.central(index, number)?.handle(event) }
        return .none
    }

    /// Queues work of the manager's player; the work is dropped after the end of the run.
    func enqueue(_ work: @escaping @Sendable (CentralPlayer) async -> Void) {
        link.emulator.enqueue { [index = link.index, number] emulator in
            guard let player = emulator.player(index) else { return }
            await work(player.centrals[number])
            // The end of the run lets go of the players, also while one works.
            withExtendedLifetime(player) {}
        }
    }

    /// Queues work for a time, unless the task is cancelled before.
    func enqueue(
        at instant: RunClock.Instant, on clock: RunClock,
        _ work: @escaping @Sendable (CentralPlayer) async -> Void
    ) -> Task<Void, Never> {
        link.emulator.enqueue(at: instant, on: clock) { [index = link.index, number] emulator in
            guard let player = emulator.player(index) else { return }
            await work(player.centrals[number])
            withExtendedLifetime(player) {}
        }
    }
}

/// The sink of a player's manager and app, which holds the player's number.
final class PlayerLink: PeripheralSink, AppDelegate {
    let emulator: EmulatorLink
    /// The player's number in the run.
    let index: Int

    init(_ emulator: EmulatorLink, _ index: Int) {
        self.emulator = emulator
        self.index = index
    }

    func handle(_ event: PeripheralEvent) -> RadioAnswer {
        emulator.run { [index] in $0.player(index)?.handle(event) ?? .unheard(event) } ?? .unheard(event)
    }

    func app(_ app: isolated App, didFinishLaunching options: LaunchOptions) {
        _ = emulator.run { [index] in $0.player(index)?.finishLaunching(app, options) }
    }

    func app(_ app: isolated App, didChange change: AppChange) {
        emulator.run { [index] in $0.appChanged(change, of: index) }
    }
}
