import MynahCore
import MynahProfiles
import MynahSupport
import MynahValues

/// The values of an emulated device's attributes and their answers, without time or radio.
struct AttributeTable {
    /// Where an attribute's value comes from.
    enum Source {
        /// Bytes, which a write replaces.
        case stored([UInt8])
        /// Bytes made for a tick of `every`, or of a second without it; 0 before the first.
        case generated(@Sendable (_ tick: UInt64) -> [UInt8])
        /// Bytes made for a tick, as before, and of the variables.
        case computed(any VariableReader)

        /// The bytes of a tick.
        func value(at tick: UInt64, _ variables: Variables) -> [UInt8] {
            switch self {
            case .stored(let bytes): bytes
            case .generated(let make): make(tick)
            case .computed(let reader): (try? reader.value(at: tick, variables)) ?? []
            }
        }
    }

    /// One characteristic's value or one descriptor.
    struct Entry {
        var service: BluetoothUUID
        var characteristic: BluetoothUUID
        /// The descriptor's type, or `nil` if it is the characteristic's value.
        var descriptor: BluetoothUUID?
        /// The name that distinguishes it from others of its UUIDs, such as `180F~2/2A19`; `nil` if there are
        /// no others.
        var path: String?
        var source: Source
        var maximumLength: Int
        /// Answers every read with this instead.
        var readError: ATTError?
        /// Answers every write with this instead.
        var writeError: ATTError?
        /// How often the value is sent to subscribers.
        var every: Duration?
        /// When its values are sent to subscribers, if they are of a recording.
        var recording: RecordedValues?
        /// The layout of its value, or `nil` if it has the SIG's one for its UUID, or none.
        var layout: ValueLayout?
        /// The requests that a test answers.
        var asked: AskedAccess = []
        /// Whether the radio sends its values in pieces.
        var isInPieces = false
    }

    /// The tick of a generated value without `every`.
    static let usualTick = Duration.seconds(1)

    private(set) var entries: [AttributeKey: Entry] = [:]
    /// Beside the entries, because an event copies them, and an entry is large.
    private var eventAttributes: [AttributeKey: EventAttribute] = [:]
    /// Whether a test answers requests to one of them.
    private(set) var isAsking = false
    private var longReads = LongReads()
    /// The last tick that was sent of each recording.
    private var recordedTicks: [AttributeKey: Int64] = [:]
    /// The device's own state, which values may read.
    var variables = Variables()

    mutating func add(_ entry: Entry, as key: AttributeKey) {
        entries[key] = entry
        eventAttributes[key] = EventAttribute(entry)
        if !entry.asked.isEmpty { isAsking = true }
    }

    /// Returns whether the table has an attribute.
    func contains(_ key: AttributeKey) -> Bool { entries.index(forKey: key) != nil }

    /// An attribute as its events have it; empty if it is unknown.
    func eventAttribute(of key: AttributeKey) -> EventAttribute { eventAttributes[key] ?? .init() }

    /// The name of an attribute for people: the one that distinguishes it, else its type.
    func name(of key: AttributeKey) -> String {
        entries[key].map { $0.path ?? $0.characteristic.description } ?? "an attribute"
    }

    /// The layout of an attribute's value: its own, else the SIG's for its UUID.
    func layout(of key: AttributeKey) -> ValueLayout? {
        guard let entry = entries[key], entry.descriptor == nil else { return nil }
        return entry.layout ?? KnownLayouts.layout(of: entry.characteristic)
    }

    /// Changes where an attribute's value comes from.
    mutating func set(_ source: Source, of key: AttributeKey) {
        entries[key]?.source = source
    }

    /// The bytes that are stored for an attribute, or `nil` if they are generated.
    func stored(_ key: AttributeKey) -> [UInt8]? {
        if case .stored(let value)? = entries[key]?.source { value } else { nil }
    }

    /// The whole value now: what was stored, or what the generator makes for the last tick that has passed.
    func value(of key: AttributeKey, at elapsed: Duration) -> [UInt8]? {
        entries[key].map { value(of: $0, key, at: elapsed) }
    }

    private func value(of entry: Entry, _ key: AttributeKey, at elapsed: Duration) -> [UInt8] {
        let tick =
            entry.recording == nil
            ? TickSchedule.number(at: elapsed, every: entry.every ?? Self.usualTick)
            : recordedTicks[key] ?? 0
        return value(of: entry, at: UInt64(max(0, tick)))
    }

    /// The value that a tick sends.
    func value(of tick: TickSchedule.Tick) -> [UInt8]? {
        entries[tick.attribute].map { value(of: $0, at: UInt64(max(0, tick.number))) }
    }

    /// The tick of a recording was sent, and reads have its value from now on.
    mutating func noteSent(_ tick: TickSchedule.Tick) {
        if entries[tick.attribute]?.recording != nil { recordedTicks[tick.attribute] = tick.number }
    }

    /// Answers a read with the bytes from its offset on (Core Specification, Vol 3, Part F, 3.4.4.5).
    mutating func read(_ request: ReadRequest, at elapsed: Duration) -> PendingReply.Outcome {
        guard let entry = entries[request.attribute] else { return .failure(.unlikelyError) }
        if let error = entry.readError { return .failure(error) }
        let value: [UInt8]
        if let begun = longReads.value(continuedBy: request) {
            value = begun
        } else {
            value = self.value(of: entry, request.attribute, at: elapsed)
            if request.offset == 0 { keep(value, of: request) }
        }
        guard (0...value.count).contains(request.offset) else { return .failure(.invalidOffset) }
        return .success(request.offset == 0 ? value : Array(value[request.offset...]))
    }

    /// A central may read on, unless the value fits the shortest response (Vol 3, Part F, 3.4.4.4).
    private mutating func keep(_ value: [UInt8], of request: ReadRequest) {
        if value.count >= GATT.defaultMTU - 1 {
            longReads.keep(value, of: request)
        } else {
            longReads.forget(request)
        }
    }

    /// A central has left.
    mutating func forgetLink(of central: Peer.ID) {
        longReads.forgetAll(of: central)
    }

    /// Carries out a write: all of its parts, or none and the first error.
    ///
    /// A part with an offset replaces the bytes from there on.
    mutating func write(_ request: WriteRequest) -> PendingReply.Outcome {
        do throws(ATTError) {
            store(try effect(of: request))
            return .success([])
        } catch {
            return .failure(error)
        }
    }

    /// Keeps values that were written.
    mutating func store(_ values: [AttributeKey: [UInt8]]) {
        for (key, value) in values { entries[key]?.source = .stored(value) }
    }

    /// The values that a write comes to.
    func effect(of request: WriteRequest) throws(ATTError) -> [AttributeKey: [UInt8]] {
        for part in request.parts {
            if let error = entries[part.attribute]?.writeError { throw error }
        }
        return try newValues(of: request)
    }

    /// The values that a write comes to, whether or not the profile has an error for it.
    func newValues(of request: WriteRequest) throws(ATTError) -> [AttributeKey: [UInt8]] {
        var changed: [AttributeKey: [UInt8]] = [:]
        for part in request.parts {
            guard let entry = entries[part.attribute] else { throw .unlikelyError }
            let old: [UInt8]
            switch entry.source {
            case .stored(let bytes): old = changed[part.attribute] ?? bytes
            case .generated, .computed: old = changed[part.attribute] ?? []
            }
            guard (0...old.count).contains(part.offset) else { throw .invalidOffset }
            let new = part.offset == 0 ? part.value : old[..<part.offset] + part.value
            guard new.count <= entry.maximumLength else { throw .invalidAttributeValueLength }
            changed[part.attribute] = new
        }
        return changed
    }

    private func value(of entry: Entry, at tick: UInt64) -> [UInt8] {
        entry.source.value(at: tick, variables)
    }
}
