import Glibc
import MynahSupport

/// Reports, through inotify, that watched directories or their entries were deleted or moved away.
///
/// The process has only one watch, because the kernel allows a user few inotify instances, and is slow to
/// close one.
final class DeletionWatch: Sendable {
    /// The watch of this process.
    static let shared = DeletionWatch()

    /// A change in a watched directory.
    enum Change: Hashable, Sendable {
        /// An entry with this name was deleted or moved away.
        case entry(String)
        /// The directory was deleted or moved away, or events were lost.
        case all
    }

    /// The identifier of a follower, which is the receiver of changes in a directory.
    struct Follower: Hashable, Sendable {
        fileprivate var number: UInt64
    }

    private struct State {
        var last: UInt64 = 0
        /// The followers: for each, the kernel's number of its directory, and its handler.
        var followers: [UInt64: (watch: Int32, handler: @Sendable (Change) -> Void)] = [:]
    }

    /// The inotify descriptor, or a negative number if the kernel refused it.
    private let descriptor: Int32
    private let trouble: SystemError
    private let state = Lock(State())

    private init() {
        descriptor = inotify_init()
        trouble = SystemError(errno)
        guard descriptor >= 0 else { return }
        Descriptor.prepare(descriptor)
        _ = EventLoop.shared.watch(descriptor, .reading) { [unowned self] _ in read() }
    }

    /// `true` if the kernel has provided an inotify instance.
    var isAvailable: Bool { descriptor >= 0 }

    /// Calls `handler` on the thread of the event loop after this directory or an entry in it was deleted or
    /// moved.
    func follow(
        _ path: String, _ handler: @escaping @Sendable (Change) -> Void
    ) -> Result<Follower, SystemError> {
        guard isAvailable else { return .failure(trouble) }
        let entries = IN_DELETE | IN_MOVED_FROM
        let itself = IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR
        return state.withLock { state in
            // If the directory is already watched, the kernel returns the same number.
            let watch = inotify_add_watch(descriptor, path, UInt32(entries) | UInt32(itself))
            guard watch >= 0 else { return .failure(SystemError(errno)) }
            state.last += 1
            state.followers[state.last] = (watch, handler)
            return .success(Follower(number: state.last))
        }
    }

    /// Removes a follower; a call of its handler that has already begun may still be running.
    func remove(_ follower: Follower) {
        state.withLock { state in
            guard let removed = state.followers.removeValue(forKey: follower.number),
                !state.followers.values.contains(where: { $0.watch == removed.watch })
            else { return }
            inotify_rm_watch(descriptor, removed.watch)
        }
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = systemRead(descriptor, &buffer)
            guard count > 0 else { return }
            for event in Self.events(in: buffer[..<count]) {
                let handlers = state.withLock { state in
                    state.followers.values.filter { event.watch < 0 || $0.watch == event.watch }.map(
                        \.handler)
                }
                for handler in handlers { handler(event.change) }
            }
        }
    }

    // MARK: - Events

    /// An `inotify_event`.
    struct Event: Hashable {
        /// The kernel's number of the directory, which is negative if events of all directories were lost.
        var watch: Int32
        var change: Change
    }

    /// Parses inotify events.
    static func events(in bytes: ArraySlice<UInt8>) -> [Event] {
        let header = MemoryLayout<inotify_event>.size
        var events: [Event] = []
        var rest = bytes
        while rest.count >= header {
            let (watch, length) = rest.withUnsafeBytes { bytes in
                (
                    bytes.loadUnaligned(fromByteOffset: 0, as: Int32.self),
                    Int(bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
                )
            }
            let name = String(
                decoding: rest.dropFirst(header).prefix(length).prefix { $0 != 0 }, as: UTF8.self)
            events.append(Event(watch: watch, change: name.isEmpty ? .all : .entry(name)))
            rest = rest.dropFirst(header + length)
        }
        return events
    }
}
