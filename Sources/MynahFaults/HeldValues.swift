import MynahCore

/// The values that wait for a subscriber, because a fault delays them or because the link has no room.
///
/// A waiting value delays later values for the same central, but not those for others.
struct HeldValues: Sendable {
    /// A value for one or more centrals.
    struct Value: Hashable, Sendable {
        var attribute: AttributeKey
        var bytes: [UInt8]
        var delivery: Delivery
        /// The receivers, or `nil` for all.
        var centrals: [Peer.ID]?
        /// The time from which the value may be sent.
        var due: Duration
    }

    /// The result of sending a value.
    enum Fate: Sendable {
        /// The value can be sent to the radio unchanged.
        case unchanged
        /// The value is refused, because too many values wait.
        case refused
        /// The value waits for this number of centrals, or for an unknown number, with a part for each.
        case held(Int?, [Part], isFaulty: Bool, [FaultAction])
    }

    /// A value for one central, or for all that the radio cannot identify.
    struct Part: Hashable, Sendable {
        var central: Peer.ID?
        /// The value as changed by faults, or `nil` if they drop it.
        var value: Value?
    }

    /// An attribute and a central whose values are reordered.
    fileprivate struct Place: Hashable {
        var attribute: AttributeKey
        var central: Peer.ID?
    }

    private struct Track: Sendable {
        /// The time of the last value, and the interval to the value before.
        var last: Duration
        var gap: Duration?
        /// The value that is kept until the next one.
        var waiting: Value?

        /// Notes that a value was sent.
        ///
        /// A value that is sent twice counts once.
        mutating func pass(at now: Duration) {
            if now > last { gap = now - last }
            last = now
        }
    }

    /// The largest number of waiting values.
    static let limit = 256
    /// The time for which a value is kept for the next one if the interval between values is not known.
    static let usualGap = Duration.seconds(1)

    private(set) var values: [Value] = []
    private var tracks: [Place: Track] = [:]
    /// Whether a value was refused because too many are waiting.
    var isRefused = false

    /// Whether a new value has to be added here, because others are waiting.
    var isUsed: Bool { !values.isEmpty || tracks.values.contains { $0.waiting != nil } }
    /// Whether another value can be added.
    var hasRoom: Bool { values.count < Self.limit }

    /// Notes that the radio has room again.
    ///
    /// Returns whether a value was refused before.
    mutating func makeRoom() -> Bool {
        guard isRefused, hasRoom else { return false }
        isRefused = false
        return true
    }

    /// Adds a value that the effect of a fault may change.
    mutating func put(_ value: Value, _ effect: FaultEffect?, at now: Duration) -> [FaultAction] {
        switch effect {
        case .reorder:
            if let limit = keepForNext(value, at: now) { return [.wait(until: limit, .stopKeeping(value))] }
        case .duplicate: add(value, at: now)
        default: break
        }
        add(value, at: now)
        return value.due > now ? [.wait(until: value.due, .flush)] : []
    }

    /// Adds a value at the end.
    ///
    /// A value that was kept for this one is sent after it.
    mutating func add(_ value: Value, at now: Duration) {
        values.append(value)
        let place = Place(value)
        guard var track = tracks[place] else {
            tracks[place] = Track(last: now)
            return
        }
        track.pass(at: now)
        if var late = track.waiting {
            late.due = value.due
            values.append(late)
            track.waiting = nil
        }
        tracks[place] = track
    }

    /// Keeps a value until the next one of its attribute to its centrals.
    ///
    /// Returns the time at which to send the value if no next one comes, or `nil` if one is kept already.
    /// This is a little longer than the interval between the last two values.
    mutating func keepForNext(_ value: Value, at now: Duration) -> Duration? {
        let place = Place(value)
        var track = tracks[place] ?? Track(last: now)
        guard track.waiting == nil else { return nil }
        track.pass(at: now)
        track.waiting = value
        tracks[place] = track
        return now + (track.gap ?? Self.usualGap) * 5 / 4
    }

    /// Adds a kept value at the end, because no next value came in time.
    mutating func stopKeeping(_ value: Value, at now: Duration) {
        guard var late = tracks[Place(value)]?.waiting, late == value else { return }
        tracks[Place(value)]?.waiting = nil
        late.due = now
        values.append(late)
    }

    /// Sends the due values in order; `send` returns `false` if there is no room.
    mutating func flush(at now: Duration, _ send: (Value) -> Bool) {
        var (blocked, isAllBlocked, kept): (Set<Peer.ID>, Bool, [Value]) = ([], false, [])
        for value in values {
            let isBlocked =
                isAllBlocked || (value.centrals.map { !blocked.isDisjoint(with: $0) } ?? !blocked.isEmpty)
            if !isBlocked, value.due <= now, send(value) { continue }
            kept.append(value)
            if let centrals = value.centrals { blocked.formUnion(centrals) } else { isAllBlocked = true }
        }
        values = kept
    }

    /// Drops the values that wait for a central whose link has ended.
    mutating func forget(_ central: Peer.ID) {
        values.removeAll { $0.centrals == [central] }
        tracks = tracks.filter { $0.key.central != central }
    }

    /// Forgets everything.
    mutating func removeAll() {
        self = HeldValues()
    }
}

extension HeldValues.Value {
    /// The value as changed by the effect of a fault, or `nil` if it is dropped.
    func changed(by effect: FaultEffect?) -> HeldValues.Value? {
        var value = self
        switch effect {
        case .drop, .disconnect, .vanish: return nil
        case .some(let effect): value.bytes = effect.changed(bytes) ?? bytes
        case nil: break
        }
        return value
    }
}

extension HeldValues.Place {
    init(_ value: HeldValues.Value) {
        self.init(attribute: value.attribute, central: value.centrals?.first)
    }
}
