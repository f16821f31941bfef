#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
import MynahCore
import MynahSupport

/// Carries messages between the processes of an air: each has a socket, and a connection to each other process.
///
/// A frame that a neighbour has no room for is lost, as on a real air, and links send again. So a process that does not read
/// delays no other and costs nothing.
final class AirMesh: Sendable {
    typealias Connection = AirNeighbours.Connection

    struct Line {
        var descriptor: Int32
        var watch: EventLoop.Watch
        /// It has no room, and a warning said so.
        var isDeaf = false
        /// It had no room when we began or ceased to want advertising, and has to hear of it.
        var isOutdated = false
    }

    /// Our socket in the directory.
    fileprivate struct Door {
        var descriptor: Int32
        var watch: EventLoop.Watch
        var identity: AirDirectory.Identity?
    }

    struct State {
        var neighbours: AirNeighbours
        var lines: [Connection: Line] = [:]
        fileprivate var door: Door?
        fileprivate var deletions: (watch: DirectoryWatch, registration: EventLoop.Watch)?
        var isOpen = true
        var wantsAdvertising = false
        /// Enough to understand what is wrong; thousands would not say more.
        var noticesLeft = 20
        /// The codes of warnings that are given once.
        fileprivate var given: Set<String> = []
    }

    private let directory: AirDirectory
    let node: UInt64
    let state: Lock<State>
    private let makeWatch: @Sendable () -> Result<DirectoryWatch, SystemError>
    let receive: @Sendable ([AirFrame]) -> Void
    let notice: @Sendable (RadioWarning) -> Void

    /// A mesh that nobody is part of yet; `receive` and `notice` are called on the loop's thread.
    init(
        _ directory: AirDirectory,
        watch makeWatch: @escaping @Sendable () -> Result<DirectoryWatch, SystemError> = DirectoryWatch.make,
        receive: @escaping @Sendable ([AirFrame]) -> Void, notice: @escaping @Sendable (RadioWarning) -> Void
    ) {
        self.makeWatch = makeWatch
        self.directory = directory
        self.receive = receive
        self.notice = notice
        node = .random(in: 1 ... .max)
        state = Lock(State(neighbours: AirNeighbours(node: node)))
    }

    /// The number of other processes.
    var count: Int { state.withLock { $0.neighbours.count } }

    /// Opens a socket, and connects to the processes that are there.
    ///
    /// Of any two processes, the one that looks later finds the other, because each opens its socket before it looks.
    func join() throws(RadioError) {
        try open()
        try find()
    }

    /// Opens our socket; processes that look from now on find us.
    func open() throws(RadioError) {
        try directory.prepare()
        // Before there is a socket that could be deleted.
        let trouble = watchForDeletions()
        let descriptor = try directory.listen(as: node)
        let identity = directory.identity(of: node)
        let former = state.withLock { state -> Door? in
            let former = state.door
            let watch = EventLoop.shared.watch(descriptor, .reading) { [weak self] _ in self?.accept() }
            state.door = Door(descriptor: descriptor, watch: watch, identity: identity)
            if let former { close(former.descriptor) }
            return former
        }
        if let former { EventLoop.shared.remove(former.watch) }
        if let trouble {
            give(
                RadioWarning(
                    "airNotWatched",
                    "the directory of the air, \(directory.path), cannot be watched (\(trouble)): if this run's socket is deleted, later runs do not find it"
                ))
        }
        // Left meanwhile by another thread.
        if !state.withLock({ $0.isOpen }) { leave() }
    }

    /// Connects to the processes that are there and that we don't know yet.
    func find() throws(RadioError) {
        for other in try directory.nodes() where other != node {
            guard !state.withLock({ $0.neighbours.knows(other) }),
                let descriptor = directory.connect(to: other)
            else { continue }
            begin(descriptor, to: other)
        }
    }

    /// Leaves the air; nothing is received any more.
    func leave() {
        let watches = state.withLock { state in
            // Closed in here, where no other thread is using them.
            for line in state.lines.values { close(line.descriptor) }
            var watches = state.lines.values.map(\.watch)
            if let door = state.door {
                close(door.descriptor)
                watches.append(door.watch)
            }
            if let deletions = state.deletions {
                close(deletions.watch.descriptor)
                watches.append(deletions.registration)
            }
            state.isOpen = false
            state.lines = [:]
            state.door = nil
            state.deletions = nil
            state.neighbours = AirNeighbours(node: node)
            return watches
        }
        for watch in watches { EventLoop.shared.remove(watch) }
        directory.remove(node)
    }

    // MARK: - Our socket

    private func accept() {
        while true {
            let descriptor = state.withLock { state in
                guard let door = state.door else { return Int32(-1) }
                return systemAccept(door.descriptor)
            }
            guard descriptor >= 0 else { return }
            Descriptor.prepare(descriptor)
            begin(descriptor, to: nil)
        }
    }

    /// Watches the directory; returns why it cannot be watched.
    private func watchForDeletions() -> SystemError? {
        state.withLock { state in
            guard state.isOpen else { return nil }
            if state.deletions == nil {
                switch makeWatch() {
                case .failure(let error): return error
                case .success(let watch):
                    let registration = EventLoop.shared.watch(watch.descriptor, .reading) { [weak self] _ in
                        self?.seeToDeletion()
                    }
                    state.deletions = (watch, registration)
                }
            }
            return state.deletions?.watch.follow(directory.path)
        }
    }

    private func seeToDeletion() {
        let isLost = state.withLock { state in
            state.deletions?.watch.mayHaveLost(AirDirectory.name(of: node)) ?? false
        }
        guard isLost else { return }
        // Connections that wait at the former socket are good all the same.
        accept()
        guard let identity = state.withLock({ $0.door?.identity }), directory.identity(of: node) != identity
        else { return }
        let outcome: String
        do throws(RadioError) {
            try reopen()
            outcome = "it was made again"
        } catch {
            outcome = "it cannot be made again, so later runs do not find this one: \(error.message)"
        }
        give(
            RadioWarning(
                "airSocketDeleted",
                "this run's socket in the directory of the air, \(directory.path), was deleted; \(outcome)"))
    }

    /// Makes the socket again, and finds the processes that started while it was gone.
    private func reopen() throws(RadioError) {
        // Somebody may still be deleting the directory: it can go between two steps of ours.
        for _ in 0..<3 {
            if (try? open()) != nil { return try find() }
        }
        try open()
        try find()
    }

    /// Gives a warning, unless it was given before.
    private func give(_ warning: RadioWarning) {
        if state.withLock({ $0.given.insert(warning.code).inserted }) { notice(warning) }
    }
}
