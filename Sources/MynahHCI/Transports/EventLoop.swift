import Glibc
import MynahSupport

/// A thread that waits for descriptors and deadlines, and calls their handlers.
///
/// A handler must not block, because all transports and airs of the process share this thread, which never
/// ends.
final class EventLoop: Sendable {
    /// The event loop of the process.
    static let shared = EventLoop()

    /// The events to wait for on a descriptor.
    struct Interest: OptionSet, Hashable, Sendable {
        let rawValue: UInt8
        static let reading = Interest(rawValue: 1)
        static let writing = Interest(rawValue: 2)
    }

    /// The identifier of a watch.
    ///
    /// Numbers are not reused, so a late handler of a closed descriptor finds no watch.
    struct Watch: Hashable, Sendable {
        fileprivate var number: UInt64
    }

    /// The identifier of an alarm, whose handler the thread calls at a set time.
    struct Alarm: Hashable, Sendable {
        fileprivate var number: UInt64
    }

    private struct Watched {
        var descriptor: Int32
        var interest: Interest
        var handler: @Sendable (Interest) -> Void
    }

    private struct Clock {
        /// The time of the alarm, in microseconds of the monotonic clock, or `nil` if it is not set.
        var moment: Int64?
        var handler: @Sendable () -> Void
    }

    private struct State {
        var last: UInt64 = 0
        var watches: [UInt64: Watched] = [:]
        var alarms: [UInt64: Clock] = [:]
        var works: [@Sendable () -> Void] = []
        /// The time until which the thread sleeps, or `nil` while it is awake.
        ///
        /// An awake thread checks every source before it sleeps.
        var sleepsUntil: Int64?
    }

    private let state = Lock(State())
    private let wakes: (reading: Int32, writing: Int32)

    private init() {
        var ends: [Int32] = [-1, -1]
        let made = pipe(&ends)
        precondition(made == 0, "a pipe could not be made")
        for end in ends { Descriptor.prepare(end) }
        wakes = (ends[0], ends[1])
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue().run()
            }, Unmanaged.passRetained(self).toOpaque())
        precondition(code == 0, "the thread of the transports could not be started")
        pthread_detach(thread)
    }

    /// The current time of the monotonic clock, in microseconds.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    // MARK: - Who waits

    /// Calls `handler` on the loop's thread whenever the descriptor is ready.
    func watch(_ descriptor: Int32, _ interest: Interest, _ handler: @escaping @Sendable (Interest) -> Void)
        -> Watch
    {
        change { state in
            state.last += 1
            state.watches[state.last] = Watched(
                descriptor: descriptor, interest: interest, handler: handler)
            return Watch(number: state.last)
        }
    }

    /// Changes the events that a watch waits for.
    func change(_ watch: Watch, _ interest: Interest) {
        change { state in state.watches[watch.number]?.interest = interest }
    }

    /// Removes a watch; a call of its handler that has already begun may still be running.
    func remove(_ watch: Watch) {
        change { state in state.watches[watch.number] = nil }
    }

    /// Makes an alarm that is not set.
    func alarm(_ handler: @escaping @Sendable () -> Void) -> Alarm {
        state.withLock { state in
            state.last += 1
            state.alarms[state.last] = Clock(moment: nil, handler: handler)
            return Alarm(number: state.last)
        }
    }

    /// Sets an alarm to a time of the monotonic clock, unless it is already set to an earlier time.
    ///
    /// The alarm's handler is called once.
    func set(_ alarm: Alarm, by moment: Int64) {
        let isLate = state.withLock { state in
            guard let clock = state.alarms[alarm.number], clock.moment.map({ moment < $0 }) ?? true
            else { return false }
            state.alarms[alarm.number]?.moment = moment
            return state.sleepsUntil.map { moment < $0 } ?? false
        }
        if isLate { wake() }
    }

    /// Cancels an alarm.
    func remove(_ alarm: Alarm) {
        state.withLock { $0.alarms[alarm.number] = nil }
    }

    /// Runs `work` later on the thread of the event loop.
    func perform(_ work: @escaping @Sendable () -> Void) {
        change { state in state.works.append(work) }
    }

    private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, isAsleep) = state.withLock { state in (body(&state), state.sleepsUntil != nil) }
        if isAsleep { wake() }
        return result
    }

    private func wake() {
        var byte: UInt8 = 1
        // A full pipe wakes the thread too.
        _ = write(wakes.writing, &byte, 1)
    }

    // MARK: - The thread

    private func run() -> Never {
        var numbers: [UInt64] = []
        var polled: [pollfd] = []
        while true {
            let works = state.withLock { state in
                defer { state.works = [] }
                return state.works
            }
            for work in works { work() }
            let milliseconds = prepare(&numbers, &polled)
            let count = poll(&polled, nfds_t(polled.count), milliseconds)
            state.withLock { $0.sleepsUntil = nil }
            if count > 0 {
                if polled[0].revents != 0 { emptyPipe() }
                for (index, number) in numbers.enumerated() where polled[index + 1].revents != 0 {
                    call(number, polled[index + 1].revents)
                }
            }
            // Alarms come after descriptors, so that data that arrived in time is handled before its
            // timeout.
            ringAlarms()
        }
    }

    private func ringAlarms() {
        let now = Self.now
        let due = state.withLock { state in
            let due = state.alarms.filter { $0.value.moment.map { $0 <= now } ?? false }
                .sorted { $0.key < $1.key }
            for (number, _) in due { state.alarms[number]?.moment = nil }
            return due.map(\.value.handler)
        }
        for handler in due { handler() }
    }

    /// Collects the descriptors to wait for; returns the timeout in milliseconds, or -1 if there is none.
    private func prepare(_ numbers: inout [UInt64], _ polled: inout [pollfd]) -> Int32 {
        let (watches, moment) = state.withLock { state in
            let earliest = state.alarms.values.compactMap(\.moment).min()
            state.sleepsUntil = state.works.isEmpty ? earliest ?? .max : .min
            return (
                state.watches.map { ($0.key, $0.value.descriptor, $0.value.interest) },
                state.sleepsUntil
            )
        }
        numbers.removeAll(keepingCapacity: true)
        polled.removeAll(keepingCapacity: true)
        polled.append(pollfd(fd: wakes.reading, events: Int16(POLLIN), revents: 0))
        for (number, descriptor, interest) in watches {
            var events: Int16 = 0
            if interest.contains(.reading) { events |= Int16(POLLIN) }
            if interest.contains(.writing) { events |= Int16(POLLOUT) }
            guard events != 0 else { continue }
            numbers.append(number)
            polled.append(pollfd(fd: descriptor, events: events, revents: 0))
        }
        guard let moment, moment != .max else { return -1 }
        guard moment != .min else { return 0 }
        // Rounded up, because a thread that wakes slightly too early would spin until the time has come.
        let rest = max(0, moment - Self.now)
        return Int32(clamping: (rest + 999) / 1000)
    }

    private func call(_ number: UInt64, _ events: Int16) {
        let found = state.withLock { $0.watches[number] }
        guard let found else { return }
        // Errors and the end of a connection are detected by reading.
        var ready: Interest = []
        if events & Int16(POLLIN | POLLHUP | POLLERR | POLLNVAL) != 0 { ready.insert(.reading) }
        if events & Int16(POLLOUT) != 0 { ready.insert(.writing) }
        found.handler(ready)
    }

    private func emptyPipe() {
        var bytes = [UInt8](repeating: 0, count: 256)
        while read(wakes.reading, &bytes, bytes.count) == bytes.count {}
    }
}
