import Mynah
import MynahSupport

/// Lets calls wait for the end of something in a run: of a link, of a publication, of a reset, or of the run
/// itself.
///
/// Belongs to its emulator, and runs on the phone's executor.
final class RunChanges {
    /// Signalled at each such end.
    let signal = ChangeSignal()
    private let devices: PlayedDevices
    private let clock: RunClock
    private let link: EmulatorLink
    /// The number of running publications that a change of the Bluetooth state has begun.
    private(set) var publications = 0
    /// Whether a reset is running, or an app is being added or removed; these happen one at a time.
    private var isTurnTaken = false

    init(of devices: PlayedDevices, clock: RunClock, link: EmulatorLink) {
        self.devices = devices
        self.clock = clock
        self.link = link
    }

    /// Waits until no reset is running, and no app is being added or removed.
    func beginTurn() async {
        while isTurnTaken { await signal.wait(after: signal.count) }
        isTurnTaken = true
    }

    func endTurn() {
        isTurnTaken = false
        signal.signal()
    }

    func beginPublication() { publications += 1 }

    func endPublication() {
        publications -= 1
        signal.signal()
    }

    /// Waits until `isDone` returns `true`; it is called now and after each signal.
    ///
    /// Returns `false` if the limit elapses or the run ends before.
    func wait(
        atMost limit: Duration, for signal: ChangeSignal, until isDone: () async -> Bool
    ) async -> Bool {
        var seen = signal.count
        if await isDone() { return true }
        let due = clock.now.advanced(by: limit)
        let timer = link.enqueue(at: due, on: clock) { $0.control.changes.wake() }
        defer { timer.cancel() }
        while devices.isRunning, clock.now < due {
            await signal.wait(after: seen)
            seen = signal.count
            if await isDone() { return true }
        }
        return false
    }

    /// Makes all waiting calls check their time limits.
    private func wake() {
        signal.signal()
        for player in devices.players { player.sender.updates.room.signal() }
    }
}
