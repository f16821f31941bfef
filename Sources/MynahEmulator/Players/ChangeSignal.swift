/// Resumes calls that wait for a change, such as space in a link's queue or the end of a link.
///
/// Belongs to a player or to the emulator, and runs on the phone's executor.
final class ChangeSignal {
    /// The number of signals sent so far.
    private(set) var count = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func signal() {
        count += 1
        let all = waiting
        waiting = []
        for continuation in all { continuation.resume() }
    }

    /// Waits for the next signal; returns at once if `count` is no longer `seen`.
    func wait(after seen: Int) async {
        guard count == seen else { return }
        await withCheckedContinuation { waiting.append($0) }
    }
}
