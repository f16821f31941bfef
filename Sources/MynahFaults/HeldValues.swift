import MynahCore

/// The values that wait to be sent, because a fault delays them or because the radio has no buffer space.
///
/// A waiting value delays later values for the same central, but not those for others.
struct HeldValues: Sendable {
    /// A value for one or more centrals.
    struct Value: Hashable, Sendable {
        var attribute: AttributeKey
        var bytes: [UInt8]
        var delivery: Delivery
        /// The receivers, or `nil` for all subscribers.
        var centrals: [Peer.ID]?
        /// The time from which the value may be sent.
        var due: Duration
    }

    /// The result of sending a value.
    enum Fate: Sendable {
        /// The value can be sent to the radio without changes or delay.
        case unchanged
        /// The value is refused, because too many values wait.
        case refused
        /// The value waits, with a part for each central.
        ///
        /// The number is that of the centrals, or `nil` if it is not known. `isFaulty` is `true` if a fault
        /// applies to the value. The actions report the faults and schedule the sending.
        case held(Int?, [Part], isFaulty: Bool, [FaultAction])
    }

    /// A value for one central, or for all subscribers together if the radio does not identify them.
    struct Part: Hashable, Sendable {
        var central: Peer.ID?
        /// The value as changed by faults, or `nil` if they drop it.
        var value: Value?
    }

    /// An attribute and a receiver; values are reordered only among those that have the same ones.
    fileprivate struct Place: Hashable {
        var attribute: AttributeKey
        var central: Peer.ID?
    }

    private struct Track: Sendable {
        /// The time at which the last value was sent.
        var last: Duration
        /// The interval between the last value and the value before it, or `nil` before the second value.
        var gap: Duration?
        /// The value that a fault holds back until the next value is sent, or `nil` if there is none.
        var waiting: Value?

        /// Records that a value was sent; a value that is sent twice counts once.
        mutating func pass(at now: Duration) {
            if now > last { gap = now - last }
            last = now
        }
    }

    /// The largest number of waiting values.
    static let limit = 256
    /// The interval between two values that `keepForNext` assumes until two values were sent.
    static let usualGap = Duration.seconds(1)

    private(set) var values: [Value] = []
    private var tracks: [Place: Track] = [:]
    /// Whether a value was refused because too many are waiting.
    var isRefused = false

    /// Whether values wait, so that a new value has to be added after them.
    var isUsed: Bool { !values.isEmpty || tracks.values.contains { $0.waiting != nil } }
    /// Whether another value can be added.
    var hasRoom: Bool { values.count < Self.limit }

    /// Returns `true` if a value was refused and another one can be added now; then resets `isRefused`.
    mutating func makeRoom() -> Bool {
        guard isRefused, hasRoom else { return false }
        isRefused = false
        return true
    }

    /// Adds a value; depending on the effect, adds it twice, or holds it back until the next value is added.
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

    /// Adds a value at the end, followed by the value that a fault held back until this one, if there is one.
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

    /// Holds a value back until the next value of the same attribute to the same receivers is added.
    ///
    /// Returns the latest time at which to send it: 1.25 times the last interval between values from now.
    /// Returns `nil`, and holds nothing back, if another value is held back already.
    mutating func keepForNext(_ value: Value, at now: Duration) -> Duration? {
        let place = Place(value)
        var track = tracks[place] ?? Track(last: now)
        guard track.waiting == nil else { return nil }
        track.pass(at: now)
        track.waiting = value
        tracks[place] = track
        return now + (track.gap ?? Self.usualGap) * 5 / 4
    }

    /// Releases a value that was held back, because no next value came in time.
    mutating func stopKeeping(_ value: Value, at now: Duration) {
        guard var late = tracks[Place(value)]?.waiting, late == value else { return }
        tracks[Place(value)]?.waiting = nil
        late.due = now
        values.append(late)
    }

    /// Sends the values whose time has come, in order; `send` returns `false` if there is no buffer space.
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
