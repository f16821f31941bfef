import Mynah
import MynahSupport

/// The ends that calls wait for in a run: of a link, of a publication, of a reset, and of the run itself.
///
/// Belongs to its emulator, and runs on the phone's executor.
final class RunChanges {
    /// Signals each of these ends.
    let signal = ChangeSignal()
    private let devices: PlayedDevices
    private let clock: RunClock
    private let link: EmulatorLink
    /// How many publications are under way that a change of the Bluetooth state began.
    private(set) var publications = 0
    /// Whether a reset is under way, or an app joins or leaves: one after the other.
    private var isTurnTaken = false

    init(of devices: PlayedDevices, clock: RunClock, link: EmulatorLink) {
        self.devices = devices
        self.clock = clock
        self.link = link
    }

    /// Waits until no reset is under way, and no app joins or leaves.
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

    /// Waits until something holds, which is asked now and after each signal.
    ///
    /// Returns `false` if the limit passes or the run ends before.
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

    /// Everything that waits looks at its time.
    private func wake() {
        signal.signal()
        for player in devices.players { player.sender.updates.room.signal() }
    }
}
