import MynahCore
import MynahProfiles

/// Decides which periodic values are due, and which wait for space in a link's send queue.
///
/// Periodic values have the key `every` in the profile. This type does not use the radio: the player sends
/// the due values to each target and reports the result. A link without space does not delay other links.
/// When it has space again, it receives only the newest value of each attribute.
struct Ticker {
    /// The recipients of a value in one call.
    enum Target: Hashable {
        /// All subscribers, on a radio that cannot address a single one.
        case everyone
        case central(Peer.ID)
    }

    /// A value that waits for space in a link's send queue.
    struct Waiting: Equatable {
        var attribute: AttributeKey
        var value: [UInt8]
        /// The number of the value's tick.
        var tick: Int64
    }

    /// A link that has refused a value because its send queue was full.
    private struct Link {
        /// The newest waiting value of each attribute; empty if the link has space again.
        var waiting: [Waiting]
        /// The last time that the link refused a value.
        var behind: Duration
    }

    /// The time without refused values after which a link has recovered, so that a new delay is reported
    /// again.
    static let recovery = Duration.seconds(1)

    private var schedule = TickSchedule()
    private var links: [Peer.ID: Link] = [:]
    /// `true` while a value for all subscribers waits for space.
    private var isBlocked = false
    private var isBehindReported = false

    /// The attributes with scheduled ticks.
    var attributes: [AttributeKey] { schedule.attributes }

    /// The time of the next tick, or `nil` if there is none or if a value for all subscribers waits.
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

    /// Returns the next tick if it is due, or `nil`.
    func due(at now: Duration) -> TickSchedule.Tick? {
        guard !isBlocked, let tick = schedule.earliest, tick.due <= now else { return nil }
        return tick
    }

    /// Returns the next tick that is due, with the value to send.
    ///
    /// Stops the ticks of attributes that are no longer in the table.
    mutating func due(at now: Duration, in table: AttributeTable) -> (
        tick: TickSchedule.Tick, value: [UInt8]
    )? {
        while let tick = due(at: now) {
            if let value = table.value(of: tick) { return (tick, value) }
            stop(tick.attribute)
        }
        return nil
    }

    /// Records that a tick was sent.
    mutating func sent(_ tick: TickSchedule.Tick) {
        schedule.sent(tick)
    }

    /// Pauses all ticks until `unblock()` is called; no tick is skipped.
    ///
    /// This is necessary if a value to all subscribers finds no space in the send queue.
    mutating func block() {
        isBlocked = true
    }

    /// Returns `true` once if the values for all subscribers are more than a second late.
    mutating func isNewlyBehind(_ delay: Duration) -> Bool {
        guard delay > .seconds(1), !isBehindReported else { return false }
        isBehindReported = true
        return true
    }

    // MARK: Links without room

    /// Stores a value that waits for space on a central's link, in place of an earlier value of its
    /// attribute.
    ///
    /// Returns `true` if the caller must warn: once, until the link has recovered.
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

    /// Continues the ticks that `block()` has paused.
    mutating func unblock() {
        isBlocked = false
    }

    /// The centrals for which values wait.
    var fullLinks: [Peer.ID] {
        links.filter { !$0.value.waiting.isEmpty }.keys.sorted { $0.rawValue < $1.rawValue }
    }

    /// Returns the next value for a central's link, or `nil` if none waits.
    func waiting(for central: Peer.ID) -> Waiting? {
        links[central]?.waiting.first
    }

    /// Removes the first waiting value, which the link has accepted.
    mutating func took(_ central: Peer.ID) {
        guard links[central]?.waiting.isEmpty == false else { return }
        links[central]?.waiting.removeFirst()
    }

    /// Discards the waiting value of an attribute for a central that is no longer subscribed.
    mutating func forget(_ attribute: AttributeKey, of central: Peer.ID) {
        links[central]?.waiting.removeAll { $0.attribute == attribute }
    }

    /// Discards the state of a central whose link has ended.
    mutating func forget(_ central: Peer.ID) {
        links[central] = nil
    }
}
