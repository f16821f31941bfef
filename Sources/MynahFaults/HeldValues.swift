import MynahCore

/// Values that faults hold up on their way to subscribers: by a delay, or because the link has no room.
///
/// A value that waits holds up later ones to the same central, and to no other.
struct HeldValues: Sendable {
    /// A value on its way to centrals.
    struct Value: Hashable, Sendable {
        var attribute: AttributeKey
        var bytes: [UInt8]
        var delivery: Delivery
        /// The receivers, or `nil` for all.
        var centrals: [Peer.ID]?
        /// When it may be sent.
        var due: Duration
    }

    /// The fate of a value that is to be sent.
    enum Fate: Sendable {
        /// The value goes to the radio as it is.
        case unchanged
        /// The value is refused, because too many values wait.
        case refused
        /// The value is on its way to this number of centrals, or to an unknown number, to each as its part
        /// says.
        case held(Int?, [Part], isFaulty: Bool, [FaultAction])
    }

    /// A value on its way to one central, or to all that the radio does not name.
    struct Part: Hashable, Sendable {
        var central: Peer.ID?
        /// The value as faults have it, or `nil` if they drop it.
        var value: Value?
    }

    /// The attribute and the central whose values are reordered.
    fileprivate struct Place: Hashable {
        var attribute: AttributeKey
        var central: Peer.ID?
    }

    private struct Track: Sendable {
        /// The time of the last value, and the time since the value before it.
        var last: Duration
        var gap: Duration?
        /// The value that waits for the next one.
        var waiting: Value?

        /// Notes that a value was sent.
        ///
        /// A value that is sent twice counts once.
        mutating func pass(at now: Duration) {
            if now > last { gap = now - last }
            last = now
        }
    }

    /// How many values wait at most.
    static let limit = 256
    /// How long a value waits for the next one if no time between two values is known.
    static let usualGap = Duration.seconds(1)

    private(set) var values: [Value] = []
    private var tracks: [Place: Track] = [:]
    /// Whether a value was refused because too many wait.
    var isRefused = false

    /// Whether a value to be sent has to pass here, because others wait.
    var isUsed: Bool { !values.isEmpty || tracks.values.contains { $0.waiting != nil } }
    /// Whether another value may wait.
    var hasRoom: Bool { values.count < Self.limit }

    /// Notes that there is room again.
    ///
    /// Returns whether a value was refused before.
    mutating func makeRoom() -> Bool {
        guard isRefused, hasRoom else { return false }
        isRefused = false
        return true
    }

    /// Puts a value on its way that the effect of a fault has changed.
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
    /// A value that waited for this one follows it.
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
    /// Returns the time at which to send it if no next value comes, or `nil` if one is kept already. That
    /// time is a little more than the time between the last two values.
    mutating func keepForNext(_ value: Value, at now: Duration) -> Duration? {
        let place = Place(value)
        var track = tracks[place] ?? Track(last: now)
        guard track.waiting == nil else { return nil }
        track.pass(at: now)
        track.waiting = value
        tracks[place] = track
        return now + (track.gap ?? Self.usualGap) * 5 / 4
    }

    /// Puts a value at the end that has waited too long for the next one.
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
    /// The value as the effect of a fault has it, or `nil` if it is dropped.
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
