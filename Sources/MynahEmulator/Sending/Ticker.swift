import MynahCore
import MynahProfiles

/// Which values with `every` are due, and what waits for room on a link.
///
/// Names no radio: the player sends what is due to each target and reports the outcome. A link without
/// room holds back no other link. It keeps the newest value of each attribute alone, which it gets when it
/// has room again.
struct Ticker {
    /// The recipients of a value in one call.
    enum Target: Hashable {
        /// All subscribers: the radio cannot address one.
        case everyone
        case central(Peer.ID)
    }

    /// A value that waits for room.
    struct Waiting: Equatable {
        var attribute: AttributeKey
        var value: [UInt8]
        /// The number of the value's tick.
        var tick: Int64
    }

    /// A link that has refused a value.
    private struct Link {
        /// The newest value of each attribute; empty if it has room again.
        var waiting: [Waiting]
        /// When it refused a value last, or one was replaced.
        var behind: Duration
    }

    /// A link that has kept up for this time has recovered: a later delay is reported again.
    static let recovery = Duration.seconds(1)

    private var schedule = TickSchedule()
    private var links: [Peer.ID: Link] = [:]
    /// Whether a value for everyone found no room.
    private var isBlocked = false
    private var isBehindReported = false

    /// The attributes that are sent.
    var attributes: [AttributeKey] { schedule.attributes }

    /// When the next tick is due; `nil` if none is, or if it has to wait for room.
    var next: Duration? { isBlocked ? nil : schedule.earliest?.due }

    mutating func start(_ attribute: AttributeKey, every period: Duration, now: Duration) {
        schedule.start(attribute, every: period, now: now)
    }

    mutating func start(_ attribute: AttributeKey, _ recording: RecordedValues, now: Duration) {
        schedule.start(attribute, recording, now: now)
    }

    mutating func stop(_ attribute: AttributeKey) {
        schedule.stop(attribute)
        for id in Array(links.keys) { forget(attribute, of: id) }
    }

    mutating func stopAll() {
        self = Ticker()
    }

    // MARK: Ticks

    /// Returns the next tick if it is due.
    func due(at now: Duration) -> TickSchedule.Tick? {
        guard !isBlocked, let tick = schedule.earliest, tick.due <= now else { return nil }
        return tick
    }

    /// Returns the next tick that is due, with the value that it sends.
    ///
    /// An attribute that the table no longer holds is not sent any more; the ticks of all others go on.
    mutating func due(at now: Duration, in table: AttributeTable) -> (
        tick: TickSchedule.Tick, value: [UInt8]
    )? {
        while let tick = due(at: now) {
            if let value = table.value(of: tick) { return (tick, value) }
            stop(tick.attribute)
        }
        return nil
    }

    /// The tick is done with.
    mutating func sent(_ tick: TickSchedule.Tick) {
        schedule.sent(tick)
    }

    /// A value for everyone found no room: it and all later ticks wait, and none is skipped.
    mutating func block() {
        isBlocked = true
    }

    /// Returns whether to warn that all subscribers are behind: once, after a second.
    mutating func isNewlyBehind(_ delay: Duration) -> Bool {
        guard delay > .seconds(1), !isBehindReported else { return false }
        isBehindReported = true
        return true
    }

    // MARK: Links without room

    /// A value waits for room on the central's link and replaces an earlier one of its attribute.
    ///
    /// Returns whether to warn: once until the link has recovered.
    mutating func wait(
        _ value: [UInt8], of tick: TickSchedule.Tick, for central: Peer.ID, now: Duration
    ) -> Bool {
        var link = links[central] ?? Link(waiting: [], behind: now)
        let isNew = links[central] == nil || link.waiting.isEmpty && now - link.behind >= Self.recovery
        let waiting = Waiting(attribute: tick.attribute, value: value, tick: tick.number)
        if let index = link.waiting.firstIndex(where: { $0.attribute == tick.attribute }) {
            link.waiting[index] = waiting
        } else {
            link.waiting.append(waiting)
        }
        link.behind = now
        links[central] = link
        return isNew
    }

    /// There is room again somewhere: ticks for everyone go on.
    mutating func unblock() {
        isBlocked = false
    }

    /// The centrals whose values wait.
    var fullLinks: [Peer.ID] {
        links.filter { !$0.value.waiting.isEmpty }.keys.sorted { $0.rawValue < $1.rawValue }
    }

    /// The value that a central's link gets next, or `nil` if none waits.
    func waiting(for central: Peer.ID) -> Waiting? {
        links[central]?.waiting.first
    }

    /// The link took the value that waited first.
    mutating func took(_ central: Peer.ID) {
        guard links[central]?.waiting.isEmpty == false else { return }
        links[central]?.waiting.removeFirst()
    }

    /// The central is not subscribed to the attribute any more.
    mutating func forget(_ attribute: AttributeKey, of central: Peer.ID) {
        links[central]?.waiting.removeAll { $0.attribute == attribute }
    }

    /// The link has ended.
    mutating func forget(_ central: Peer.ID) {
        links[central] = nil
    }
}
