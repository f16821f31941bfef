import Mynah
import MynahSupport

/// Lets other parts of the emulator wait until a link, a publication, a reset or the run has ended.
///
/// Belongs to its emulator, and runs on the phone's executor.
final class RunChanges {
    /// The signal that is sent when a link, a publication, a reset or the run has ended.
    let signal = ChangeSignal()
    private let devices: PlayedDevices
    private let clock: RunClock
    private let link: EmulatorLink
    /// The number of publications in progress that were started by a change of the Bluetooth state.
    private(set) var publications = 0
    /// Whether a reset, or the addition or removal of an app, is in progress; only one happens at a time.
    private var isTurnTaken = false

    init(of devices: PlayedDevices, clock: RunClock, link: EmulatorLink) {
        self.devices = devices
        self.clock = clock
        self.link = link
    }

    /// Waits until no reset, and no addition or removal of an app, is in progress; the caller may then begin
    /// one.
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
    /// Returns `false` if the limit elapses or the run ends first.
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
