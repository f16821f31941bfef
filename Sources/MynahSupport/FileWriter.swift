/// Writes kept files on its own thread, so that the caller does not wait for the disk.
///
/// Changes are numbered in order. If a file changes several times during another write, only its last change
/// is written. If a write fails, it is tried again with the next change of any file.
///
/// A change is settled when it was written or has failed. A watcher is a function that is called then.
package final class FileWriter: Sendable {
    /// Replaces the content of a file, or removes the file if the bytes are `nil`.
    package typealias Write = @Sendable (KeptFile, [UInt8]?) throws(KeptFile.Problem) -> Void

    private struct Change {
        var file: KeptFile
        /// Returns the new bytes, and is called on the writer's thread; `nil` removes the file.
        var bytes: (@Sendable () -> [UInt8])?
        var failed: @Sendable (KeptFile.Problem) -> Void
    }

    private struct Watcher {
        var number: Int
        var isLast: Bool
        var body: @Sendable () -> Void
    }

    private struct State {
        /// The changes that are not being written yet, at most one per file, in the order of each file's
        /// first change.
        var waiting: [Change] = []
        /// The reasons for the last failed writes, by path.
        var problems: [String: KeptFile.Problem] = [:]
        var unwritten: [Change] = []
        var isBusy = false
        /// The numbers of the last change and of the last settled change.
        var latest = 0
        var settled = 0
        /// The number of the last change whose watchers were called, except for watchers with `isLast`.
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

        /// Removes and returns the watchers of settled changes, either those with `isLast` or those without.
        mutating func takeWatchers(isLast: Bool) -> [Watcher] {
            let settled = settled
            defer { watchers.removeAll { $0.isLast == isLast && $0.number <= settled } }
            return watchers.filter { $0.isLast == isLast && $0.number <= settled }
        }
    }

    private let state = Lock(State())
    private let write: Write
    /// Whether `replace` and `remove` write the file before they return.
    ///
    /// With virtual time they do, so that the order of events does not depend on the disk.
    private let isInline: Bool

    /// Makes a writer of real files.
    ///
    /// With virtual time, `replace` and `remove` write the file before they return.
    package init(_ clock: RunClock = .real) {
        isInline = clock.virtual != nil
        write = { file, bytes throws(KeptFile.Problem) in
            if let bytes { try file.replace(bytes) } else { file.remove() }
        }
    }

    /// Makes a writer that writes files with the given function, for tests.
    package init(write: @escaping Write) {
        isInline = false
        self.write = write
    }

    /// Queues new content for a file, and returns without waiting for the disk.
    ///
    /// `bytes` and `failed` are called on the writer's thread; `failed` is called once for repeated failures
    /// with the same reason.
    package func replace(
        _ file: KeptFile, with bytes: @escaping @Sendable () -> [UInt8],
        failed: @escaping @Sendable (KeptFile.Problem) -> Void
    ) {
        add(Change(file: file, bytes: bytes, failed: failed))
    }

    /// Queues the removal of a file, after all earlier changes.
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

    /// The number of the last change, or 0 if there was none.
    package var latest: Int { state.withLock { $0.latest } }

    /// Whether this change and all earlier ones are settled.
    package func isSettled(_ number: Int) -> Bool { state.withLock { $0.settled >= number } }

    /// Arranges for `body` to be called on the writer's thread when a change is settled.
    ///
    /// If the change is settled already, `body` is not called, and the result is `false`.
    ///
    /// With `isLast`, `body` is called after all watchers without `isLast`.
    package func whenSettled(
        _ number: Int, isLast: Bool = false, _ body: @escaping @Sendable () -> Void
    ) -> Bool {
        state.withLock { state in
            guard (isLast ? state.passed : state.settled) < number else { return false }
            state.watchers.append(Watcher(number: number, isLast: isLast, body: body))
            return true
        }
    }

    /// Waits until all changes so far are settled and their watchers were called.
    package func settle() async {
        let number = latest
        await withCheckedContinuation { continuation in
            if !whenSettled(number, isLast: true, { continuation.resume() }) { continuation.resume() }
        }
    }

    /// Queues the failed writes again.
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
