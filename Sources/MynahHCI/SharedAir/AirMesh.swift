import Glibc
import MynahCore
import MynahSupport

/// Carries messages between the processes of a `SharedAir`, each of which is connected to every other one.
///
/// A frame is dropped if the connection to another process cannot accept it. Links survive this, because they
/// repeat lost frames as on a real radio channel. A process that does not read therefore does not delay the
/// others.
final class AirMesh: Sendable {
    typealias Connection = AirNeighbours.Connection
    /// The type of `DeletionWatch.follow`, for which a test can pass a substitute.
    typealias Follow =
        @Sendable (String, @escaping @Sendable (DeletionWatch.Change) -> Void)
        -> Result<DeletionWatch.Follower, SystemError>

    struct Line {
        var descriptor: Int32
        var watch: EventLoop.Watch
        /// `true` if a message was dropped because the connection was full, and a warning was given.
        var isDeaf = false
        /// `true` if the last `AirMessage.wantsAdvertising` could not be sent, because the connection was
        /// full.
        ///
        /// The message must be sent again.
        var isOutdated = false
    }

    /// The socket of this process in the directory.
    fileprivate struct Door {
        var descriptor: Int32
        var watch: EventLoop.Watch
        var identity: AirDirectory.Identity?
    }

    struct State {
        var neighbours: AirNeighbours
        var lines: [Connection: Line] = [:]
        fileprivate var door: Door?
        fileprivate var follower: DeletionWatch.Follower?
        var isOpen = true
        var wantsAdvertising = false
        /// The number of warnings about other processes that may still be given.
        var noticesLeft = 20
        /// The codes of the warnings that are not given again.
        fileprivate var given: Set<String> = []
    }

    private let directory: AirDirectory
    let node: UInt64
    let state: Lock<State>
    private let opening = Lock(())
    private let follow: Follow
    let receive: @Sendable ([AirFrame]) -> Void
    let notice: @Sendable (RadioWarning) -> Void

    /// Makes a mesh without connections; `receive` and `notice` are called on the thread of the event loop.
    init(
        _ directory: AirDirectory,
        follow: @escaping Follow = { DeletionWatch.shared.follow($0, $1) },
        receive: @escaping @Sendable ([AirFrame]) -> Void, notice: @escaping @Sendable (RadioWarning) -> Void
    ) {
        self.follow = follow
        self.directory = directory
        self.receive = receive
        self.notice = notice
        node = .random(in: 1 ... .max)
        state = Lock(State(neighbours: AirNeighbours(node: node)))
    }

    /// The number of other processes.
    var count: Int { state.withLock { $0.neighbours.count } }

    /// Opens this process's socket, and connects to the processes in the directory.
    ///
    /// Each process opens its socket before it searches the directory. Of any two processes, the one that
    /// searches later therefore finds the other one.
    func join() throws(RadioError) {
        try keepOpen()
        try find()
    }

    /// Opens this process's socket unless it is open, so that other processes can connect.
    private func keepOpen() throws(RadioError) {
        // One thread at a time, because the event loop may find the socket deleted while it is being
        // created.
        try opening.withLock { _ throws(RadioError) in
            // The directory may be deleted between two steps, if another program is deleting it.
            for _ in 0..<3 {
                if !isOpen || hasSocket || (try? open()) != nil && hasSocket { return }
            }
            try open()
        }
    }

    private var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Whether this process's socket is in the directory, where other processes can find it.
    private var hasSocket: Bool {
        guard let identity = state.withLock({ $0.door?.identity }) else { return false }
        return directory.identity(of: node) == identity
    }

    /// Tries to open this process's socket, once.
    func open() throws(RadioError) {
        try directory.prepare()
        // The watch starts before there is a socket that could be deleted.
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
                    """
                    the virtual radio's directory \(directory.path) cannot be watched (\(trouble)): if \
                    this run's socket was deleted, so later runs do not find it
                    """
                ))
        }
        // Another thread may have called `leave`.
        if !isOpen { leave() }
    }

    /// Connects to the processes in the directory to which there is no connection yet.
    func find() throws(RadioError) {
        for other in try directory.nodes() where other != node {
            guard !state.withLock({ $0.neighbours.knows(other) }),
                let descriptor = directory.connect(to: other)
            else { continue }
            greet(descriptor, to: other)
        }
    }

    /// Leaves the air; afterwards, nothing is received.
    func leave() {
        let watches = state.withLock { state in
            // The descriptors are closed under the lock, so that no other thread is using them.
            for line in state.lines.values { close(line.descriptor) }
            var watches = state.lines.values.map(\.watch)
            if let door = state.door {
                close(door.descriptor)
                watches.append(door.watch)
            }
            if let follower = state.follower { DeletionWatch.shared.remove(follower) }
            state.isOpen = false
            state.lines = [:]
            state.door = nil
            state.follower = nil
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
            greet(descriptor, to: nil)
        }
    }

    /// Starts to watch the directory for deletions; returns the error if that is not possible.
    private func watchForDeletions() -> SystemError? {
        let name = AirDirectory.name(of: node)
        let followed = follow(directory.path) { [weak self] change in
            if change == .all || change == .entry(name) { self?.seeToDeletion() }
        }
        let former = state.withLock { state in
            defer { state.follower = try? followed.get() }
            return state.follower
        }
        if let former { DeletionWatch.shared.remove(former) }
        if case .failure(let error) = followed { return error }
        return nil
    }

    private func seeToDeletion() {
        // The connections that are pending at the old socket are still good.
        accept()
        guard isOpen, state.withLock({ $0.door != nil }), !hasSocket else { return }
        let outcome: String
        do throws(RadioError) {
            try keepOpen()
            try find()
            outcome = "it was created again"
        } catch {
            outcome = "it cannot be created again, so later runs do not find this one: \(error.message)"
        }
        give(
            RadioWarning(
                "airSocketDeleted",
                "this run's socket in the directory \(directory.path) was deleted; \(outcome)"))
    }

    /// Gives a warning, unless a warning with the same code was given before.
    private func give(_ warning: RadioWarning) {
        if state.withLock({ $0.given.insert(warning.code).inserted }) { notice(warning) }
    }
}
