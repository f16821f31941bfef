import MynahCore
package import MynahSupport

/// An air for several threads, whose time comes from the system's clock, a test, or a run's virtual time.
///
/// The thread that sends a packet also delivers it, so there is no change of thread between two hosts of one
/// process. The air's own thread handles only timed events, and sleeps between them.
public final class LiveAir: Sendable {
    /// The source of the time.
    public enum Time: Hashable, Sendable {
        /// The system's clock.
        case real
        /// Calls of `advance(by:)` move the time.
        case manual
    }

    private enum Delivery {
        case packet(PacketReceiver, H4Packet)
        case message(AirMessage)
        case captured(AirFrame)
    }

    private struct State {
        var air: Air
        var receivers = SortedMap<Station, PacketReceiver>()
        var elsewhere: (@Sendable (AirMessage) -> Void)?
        /// Whether this process wants to receive advertising, as last reported to the other processes.
        var wantsAdvertising = false
        var captures: [@Sendable (AirFrame) -> Void] = []
        /// The outputs of the air while they are being processed; empty otherwise.
        var outputs: [Air.Output] = []
        /// The PDUs to deliver, in the order in which they were sent.
        var deliveries: [Delivery] = []
        /// Whether a thread is delivering PDUs; that thread continues until none is left.
        var isDelivering = false
        /// The time that the alarm is set for, or `nil` if it is not set.
        var armed: AirTime?
        var source: Source
        /// The number of the alarm that is scheduled in a run's virtual time, or `nil` if there is none.
        var scheduled: UInt64?
    }

    private enum Source: Sendable {
        case machine(AirClock)
        case manual
        /// The virtual time of a run, with its value when the air began.
        case virtual(VirtualTime, start: Int64)

        /// The time on the air, if the next event is due at `due`; `nil` for manual time.
        mutating func now(due: AirTime?) -> AirTime? {
            switch self {
            case .machine(var clock):
                defer { self = .machine(clock) }
                return clock.time(at: EventLoop.now, due: due)
            case .manual: return nil
            case .virtual(let time, let start): return AirTime(microseconds: time.microseconds - start)
            }
        }
    }

    private let state: Lock<State>
    private let time: Time
    private let loop: EventLoop
    private let alarm: Lock<EventLoop.Alarm?>

    /// Makes an empty air; all its random numbers follow from the seed.
    public convenience init(seed: UInt64 = .random(in: .min ... .max), time: Time = .real) {
        self.init(seed, time, time == .real ? .machine(AirClock(start: EventLoop.now)) : .manual)
        guard time == .real else { return }
        let made = loop.alarm { [weak self] in self?.ring() }
        alarm.withLock { $0 = made }
    }

    /// Makes an empty air with a run's virtual time; all its random numbers follow from the seed.
    package convenience init(seed: UInt64, time: VirtualTime) {
        self.init(seed, .real, .virtual(time, start: time.microseconds))
    }

    private init(_ seed: UInt64, _ time: Time, _ source: Source) {
        state = Lock(State(air: Air(seed: seed), source: source))
        self.time = time
        loop = .shared
        alarm = Lock(nil)
    }

    deinit {
        if let alarm = alarm.withLock({ $0 }) { loop.remove(alarm) }
    }

    /// Makes a new controller on the air, which is switched on each time the transport is opened.
    public func transport(_ configuration: ControllerConfiguration) -> VirtualTransport {
        VirtualTransport(air: self, configuration: configuration)
    }

    /// The number of this process's controllers on the air.
    package var count: Int { state.withLock { $0.air.count } }

    /// The time on the air.
    package var now: AirTime { state.withLock { $0.air.now } }

    /// Advances the time of an air with `manual` time.
    public func advance(by microseconds: Int64) {
        precondition(time == .manual, "the clock moves the time of this air")
        enter { air in air.pass(to: air.now + microseconds) }
    }

    /// Changes the conditions of the air, such as distances and loss.
    package func change(_ body: (inout Air) -> Void) {
        enter { air in body(&air) }
    }

    // MARK: - Stations

    func join(
        _ configuration: ControllerConfiguration, _ receiver: PacketReceiver, at distance: AirDistance?
    ) -> Station {
        state.withLock { state in
            let station = state.air.join(configuration)
            state.air.setDistance(distance, of: station)
            state.receivers[station] = receiver
            return station
        }
    }

    func setDistance(_ distance: AirDistance?, of station: Station) {
        state.withLock { $0.air.setDistance(distance, of: station) }
    }

    func setDistance(_ distance: AirDistance?, of station: Station, from device: DeviceAddress) {
        state.withLock { $0.air.setDistance(distance, between: station, and: device) }
    }

    func forgetDistance(of station: Station, from device: DeviceAddress) {
        state.withLock { $0.air.forgetDistance(between: station, and: device) }
    }

    func leave(_ station: Station) {
        let isMine = state.withLock { state in
            state.air.leave(station)
            state.receivers[station] = nil
            return Self.settle(&state)
        }
        if isMine { deliver() }
    }

    func handle(_ packet: H4Packet, of station: Station) {
        enter { $0.receive(packet, of: station) }
    }

    // MARK: - Other processes

    /// Sets the function that receives the messages for other processes, or removes it with `nil`.
    func share(_ elsewhere: (@Sendable (AirMessage) -> Void)?) {
        let isMine = state.withLock { state in
            state.elsewhere = elsewhere
            state.air.isShared = elsewhere != nil
            state.wantsAdvertising = false
            return Self.settle(&state)
        }
        if isMine { deliver() }
    }

    func handle(_ frames: [AirFrame]) {
        enter { air in
            for frame in frames { air.receive(frame) }
        }
    }

    /// Calls `capture` with each frame that this process sends or receives, in order and on any thread.
    func capture(_ capture: @escaping @Sendable (AirFrame) -> Void) {
        state.withLock { $0.captures.append(capture) }
        enter { $0.isMonitored = true }
    }

    // MARK: - Work

    private func ring() {
        state.withLock { ($0.armed, $0.scheduled) = (nil, nil) }
        enter { _ in }
    }

    private func enter(_ body: (inout Air) -> Void) {
        let (isMine, moment) = state.withLock { state in
            // Events that were due earlier come first.
            if let now = state.source.now(due: state.air.due) { state.air.pass(to: now) }
            body(&state.air)
            let moment = arm(&state)
            return (Self.settle(&state), moment)
        }
        if let moment, let alarm = alarm.withLock({ $0 }) { loop.set(alarm, by: moment) }
        if isMine { deliver() }
    }

    /// Schedules the alarm for the next event, unless it is scheduled already.
    ///
    /// Returns the time of the machine's clock for which the caller has to set the alarm, or `nil` if the
    /// caller need not set it.
    private func arm(_ state: inout State) -> Int64? {
        guard let due = state.air.due, state.armed.map({ due < $0 }) ?? true else { return nil }
        switch state.source {
        case .machine(let clock):
            state.armed = due
            return clock.start &+ due.microseconds
        case .virtual(let time, let start):
            state.armed = due
            // An alarm that stayed would ring too, and each ring sets another.
            if let scheduled = state.scheduled { time.cancel(scheduled) }
            state.scheduled = time.schedule(at: .microseconds(start &+ due.microseconds)) { [weak self] in
                self?.ring()
            }
            return nil
        case .manual: return nil
        }
    }

    /// Queues the outputs of the air.
    ///
    /// Returns `true` if the caller has to deliver them.
    private static func settle(_ state: inout State) -> Bool {
        state.air.drain(into: &state.outputs)
        for output in state.outputs {
            switch output {
            case .host(let station, let packet):
                if let receiver = state.receivers[station] {
                    state.deliveries.append(.packet(receiver, packet))
                }
            case .elsewhere(let frame): state.deliveries.append(.message(.frame(frame)))
            case .captured(let frame): state.deliveries.append(.captured(frame))
            }
        }
        state.outputs.removeAll(keepingCapacity: true)
        let isWanted = state.air.wantsAdvertising
        if state.air.isShared, isWanted != state.wantsAdvertising {
            state.wantsAdvertising = isWanted
            state.deliveries.append(.message(.wantsAdvertising(isWanted)))
        }
        guard !state.isDelivering, !state.deliveries.isEmpty else { return false }
        state.isDelivering = true
        return true
    }

    /// Delivers PDUs until none waits, without holding the lock, because a receiver may send at once.
    private func deliver() {
        var batch: [Delivery] = []
        while true {
            let emptied = batch
            let (taken, elsewhere, captures) = state.withLock { state in
                let taken = state.deliveries
                state.deliveries = emptied
                if taken.isEmpty { state.isDelivering = false }
                return (taken, state.elsewhere, state.captures)
            }
            guard !taken.isEmpty else { return }
            for delivery in taken {
                switch delivery {
                case .packet(let receiver, let packet): receiver.tell(packet)
                case .message(let message): elsewhere?(message)
                case .captured(let frame): for capture in captures { capture(frame) }
                }
            }
            batch = taken
            batch.removeAll(keepingCapacity: true)
        }
    }
}
