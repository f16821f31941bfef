/// Wakes writes without response that found no room, when a link may have room again or has ended.
///
/// It belongs to its central player, and runs on the phone's executor.
final class RoomSignal {
    /// The number of signals so far.
    private(set) var count = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func signal() {
        count += 1
        let all = waiting
        waiting = []
        for continuation in all { continuation.resume() }
    }

    /// Returns after the next signal, at once if there was one since `count` was `seen`.
    func wait(after seen: Int) async {
        guard count == seen else { return }
        await withCheckedContinuation { waiting.append($0) }
    }
}
