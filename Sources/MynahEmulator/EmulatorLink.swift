import Mynah
import MynahCore
import MynahSupport

/// A reference to the emulator for its phone, managers and tasks; valid from the start until the stop.
final class EmulatorLink: PhoneSink {
    private let slot = Lock<Emulator?>(nil)

    /// The emulator, which this reference keeps alive while it runs, or `nil` otherwise.
    var emulator: Emulator? {
        get { slot.withLock { $0 } }
        set { slot.withLock { $0 = newValue } }
    }

    /// Runs `body` synchronously; the caller must already run on the emulator's executor.
    ///
    /// Returns `nil` if the emulator was stopped.
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

    /// Queues work for a later time, unless the task is cancelled before.
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
    /// Returns the player with this index, or `nil` if it was removed.
    func player(_ index: Int) -> DevicePlayer? { devices.player(index) }

    /// Returns the player of an app's central manager, or `nil` if it was removed.
    func central(_ index: Int, _ number: Int) -> CentralPlayer? { player(index)?.centrals[number] }

    /// Runs work, unless its task was cancelled between the end of its sleep and now.
    fileprivate func unlessCancelled(_ work: @Sendable (isolated Emulator) async -> Void) async {
        if !Task.isCancelled { await work(self) }
    }
}

/// The receiver of events from an app's central manager; it refers to the player by index.
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

    /// Queues work of the manager's player; the work is dropped if the run has ended.
    func enqueue(_ work: @escaping @Sendable (CentralPlayer) async -> Void) {
        link.emulator.enqueue { [index = link.index, number] emulator in
            guard let player = emulator.player(index) else { return }
            await work(player.centrals[number])
            // The end of the run releases the players, even while one of them works.
            withExtendedLifetime(player) {}
        }
    }

    /// Queues work for a later time, unless the task is cancelled before.
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

/// The receiver of events from a player's peripheral manager and app; it refers to the player by index.
final class PlayerLink: PeripheralSink, AppDelegate {
    let emulator: EmulatorLink
    /// The player's index in the run.
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
