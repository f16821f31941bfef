/// Writes kept files on a thread of its own, so that a change of their content does not wait for the disk.
///
/// Changes have numbers. A file that changes several times while another write is under way is written once,
/// as the last change says. A change that could not be written is tried again with the next one.
package final class FileWriter: Sendable {
    /// Replaces the content of a file, or removes the file if there are no bytes.
    package typealias Write = @Sendable (KeptFile, [UInt8]?) throws(KeptFile.Problem) -> Void

    private struct Change {
        var file: KeptFile
        /// Makes the bytes, on the writer's thread; `nil` if the file is to be removed.
        var bytes: (@Sendable () -> [UInt8])?
        var failed: @Sendable (KeptFile.Problem) -> Void
    }

    private struct Watcher {
        var number: Int
        var isLast: Bool
        var body: @Sendable () -> Void
    }

    private struct State {
        /// Changes that are not being written yet, in the order in which their files changed first.
        var waiting: [Change] = []
        /// Why a file could not be written last time, by path.
        var problems: [String: KeptFile.Problem] = [:]
        var unwritten: [Change] = []
        var isBusy = false
        /// The numbers of the last change, and of the last that is in place or was given up.
        var latest = 0
        var settled = 0
        /// The number of the last change whose watchers were called, but for those that are last.
        var passed = 0
        var watchers: [Watcher] = []

        mutating func add(_ change: Change) {
            unwritten.removeAll { $0.file == change.file }
            if let index = waiting.firstIndex(where: { $0.file == change.file }) {
                waiting[index] = change
            } else {
                waiting.append(change)
            }
        }

        /// Removes and returns the watchers of settled changes.
        mutating func takeWatchers(isLast: Bool) -> [Watcher] {
            let settled = settled
            defer { watchers.removeAll { $0.isLast == isLast && $0.number <= settled } }
            return watchers.filter { $0.isLast == isLast && $0.number <= settled }
        }
    }

    private let state = Lock(State())
    private let write: Write
    /// Whether the caller waits for the disk, so that the order of events does not depend on it.
    private let isInline: Bool

    /// A writer of real files; with virtual time it writes in the call that changes a file.
    package init(_ clock: RunClock = .real) {
        isInline = clock.virtual != nil
        write = { file, bytes throws(KeptFile.Problem) in
            if let bytes { try file.replace(bytes) } else { file.remove() }
        }
    }

    /// A writer with another function that writes.
    package init(write: @escaping Write) {
        isInline = false
        self.write = write
    }

    /// Replaces the content of a file, soon.
    ///
    /// `bytes` and `failed` are called on the writer's thread, `failed` once while the
    /// reason is the same.
    package func replace(
        _ file: KeptFile, with bytes: @escaping @Sendable () -> [UInt8],
        failed: @escaping @Sendable (KeptFile.Problem) -> Void
    ) {
        add(Change(file: file, bytes: bytes, failed: failed))
    }

    /// Removes a file, after the earlier changes.
    package func remove(_ file: KeptFile) {
        add(Change(file: file, bytes: nil, failed: { _ in }))
    }

    private func add(_ change: Change) {
        let begins = state.withLock { state in
            state.latest += 1
            state.add(change)
            defer { state.isBusy = true }
            return !state.isBusy
        }
        if begins { start() }
    }

    /// The number of the last change; 0 if there was none.
    package var latest: Int { state.withLock { $0.latest } }

    /// Whether this change and all before it are in place, or could not be written.
    package func isSettled(_ number: Int) -> Bool { state.withLock { $0.settled >= number } }

    /// Calls `body` on the writer's thread when a change is settled; returns `false`, and does not, if it is
    /// already.
    ///
    /// `isLast` says to call it after those that are not, also if they are being called now.
    package func whenSettled(
        _ number: Int, isLast: Bool = false, _ body: @escaping @Sendable () -> Void
    ) -> Bool {
        state.withLock { state in
            guard (isLast ? state.passed : state.settled) < number else { return false }
            state.watchers.append(Watcher(number: number, isLast: isLast, body: body))
            return true
        }
    }

    /// Returns when all earlier changes are written, and the reports that waited for them were passed on.
    package func settle() async {
        let number = latest
        await withCheckedContinuation { continuation in
            if !whenSettled(number, isLast: true, { continuation.resume() }) { continuation.resume() }
        }
    }

    /// Repeats failed writes, soon.
    package func retry() {
        let begins = state.withLock { state in
            guard !state.unwritten.isEmpty else { return false }
            let changes = state.unwritten
            state.latest += 1
            for change in changes where !state.waiting.contains(where: { $0.file == change.file }) {
                state.waiting.append(change)
            }
            state.unwritten = []
            defer { state.isBusy = true }
            return !state.isBusy
        }
        if begins { start() }
    }

    private func start() {
        if isInline { work() } else { SystemThread.start { self.work() } }
    }

    private func work() {
        while true {
            let (changes, number) = state.withLock { state in
                defer { state.waiting = [] }
                // Contents that could not be written are tried again with the next change.
                let changes = state.waiting.isEmpty ? [] : state.unwritten + state.waiting
                if changes.isEmpty { state.isBusy = false } else { state.unwritten = [] }
                return (changes, state.latest)
            }
            guard !changes.isEmpty else { return }
            for change in changes { carryOut(change) }
            let watchers = state.withLock { state in
                state.settled = number
                return state.takeWatchers(isLast: false)
            }
            for watcher in watchers { watcher.body() }
            let last = state.withLock { state in
                state.passed = number
                return state.takeWatchers(isLast: true)
            }
            for watcher in last { watcher.body() }
        }
    }

    private func carryOut(_ change: Change) {
        let problem: KeptFile.Problem?
        do throws(KeptFile.Problem) {
            try write(change.file, change.bytes?())
            problem = nil
        } catch {
            problem = error
        }
        let isNews = state.withLock { state in
            let before = state.problems[change.file.path]
            state.problems[change.file.path] = problem
            // Something newer may wait already.
            if problem != nil, !state.waiting.contains(where: { $0.file == change.file }) {
                state.unwritten.append(change)
            }
            return problem != before
        }
        if let problem, isNews { change.failed(problem) }
    }
}
