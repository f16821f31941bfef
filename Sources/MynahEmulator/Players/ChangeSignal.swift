/// Wakes calls that wait for a change, such as room on a link or the end of a link.
///
/// Belongs to a player or to the emulator, and runs on the phone's executor.
final class ChangeSignal {
    /// The number of signals so far.
    private(set) var count = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func signal() {
        count += 1
        let all = waiting
        waiting = []
        for continuation in all { continuation.resume() }
    }

    /// Returns after the next signal, or at once if there was a signal since `count` was `seen`.
    func wait(after seen: Int) async {
        guard count == seen else { return }
        await withCheckedContinuation { waiting.append($0) }
    }
}
