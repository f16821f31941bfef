import MynahCore
import MynahProfiles
import MynahSupport
import MynahValues

/// The values and errors of a device's attributes; the table uses neither a clock nor the radio.
struct AttributeTable {
    /// The source of an attribute's value.
    enum Source {
        /// Stored bytes, which a write replaces.
        case stored([UInt8])
        /// Bytes that are generated from a tick number.
        ///
        /// The tick period is `every`, or a second if the attribute has no `every`. Before the first tick,
        /// the number is 0.
        case generated(@Sendable (_ tick: UInt64) -> [UInt8])
        /// Bytes that are computed from the variables and a tick number, which is counted as for `generated`.
        case computed(any VariableReader)

        /// Returns the bytes for a tick.
        func value(at tick: UInt64, _ variables: Variables) -> [UInt8] {
            switch self {
            case .stored(let bytes): bytes
            case .generated(let make): make(tick)
            case .computed(let reader): (try? reader.value(at: tick, variables)) ?? []
            }
        }
    }

    /// A characteristic's value or a descriptor.
    struct Entry {
        var service: BluetoothUUID
        var characteristic: BluetoothUUID
        /// The descriptor's type, or `nil` for a characteristic's value.
        var descriptor: BluetoothUUID?
        /// The unambiguous name of an attribute that shares its UUIDs with others, such as `180F~2/2A19`.
        ///
        /// The value is `nil` if the UUIDs are unique.
        var path: String?
        var source: Source
        var maximumLength: Int
        /// The error with which every read is answered, or `nil` if reads return values.
        var readError: ATTError?
        /// The error with which every write is answered, or `nil` if writes are accepted.
        var writeError: ATTError?
        /// The period in which the value is sent to subscribers, or `nil` if it is not sent periodically.
        var every: Duration?
        /// The recorded values with the times at which they are sent to subscribers, or `nil` if there is no
        /// recording.
        var recording: RecordedValues?
        /// The layout of the attribute's value, or `nil` to use the SIG's layout for its UUID, if any.
        var layout: ValueLayout?
        /// The kinds of requests for the attribute that a test answers.
        var asked: AskedAccess = []
        /// `true` if values that are too long for a link are sent in several notifications.
        var isInPieces = false
    }

    /// The tick period of a generated value that has no `every`.
    static let usualTick = Duration.seconds(1)

    private(set) var entries: [AttributeKey: Entry] = [:]
    /// The attributes as events describe them.
    ///
    /// Each event copies its attribute, so they are stored apart from the entries, which are large.
    private var eventAttributes: [AttributeKey: EventAttribute] = [:]
    /// Whether a test answers requests for at least one attribute.
    private(set) var isAsking = false
    private var longReads = LongReads()
    /// The last tick that was sent of each recording.
    private var recordedTicks: [AttributeKey: Int64] = [:]
    /// The device's variables, on which values may depend.
    var variables = Variables()

    mutating func add(_ entry: Entry, as key: AttributeKey) {
        entries[key] = entry
        eventAttributes[key] = EventAttribute(entry)
        if !entry.asked.isEmpty { isAsking = true }
    }

    /// Whether the table has this attribute.
    func contains(_ key: AttributeKey) -> Bool { entries.index(forKey: key) != nil }

    /// Returns the attribute as events describe it; empty if the attribute is unknown.
    func eventAttribute(of key: AttributeKey) -> EventAttribute { eventAttributes[key] ?? .init() }

    /// Returns an attribute's name for messages: its unambiguous name, or else its characteristic's UUID.
    func name(of key: AttributeKey) -> String {
        entries[key].map { $0.path ?? $0.characteristic.description } ?? "an attribute"
    }

    /// Returns the layout of a characteristic's value: its own, or else the SIG's for its UUID.
    func layout(of key: AttributeKey) -> ValueLayout? {
        guard let entry = entries[key], entry.descriptor == nil else { return nil }
        return entry.layout ?? KnownLayouts.layout(of: entry.characteristic)
    }

    /// Sets the source of an attribute's value.
    mutating func set(_ source: Source, of key: AttributeKey) {
        entries[key]?.source = source
    }

    /// Returns the stored bytes of an attribute, or `nil` if its value is generated.
    func stored(_ key: AttributeKey) -> [UInt8]? {
        if case .stored(let value)? = entries[key]?.source { value } else { nil }
    }

    /// Returns the whole current value: the stored bytes, or the value generated for the latest tick.
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

    /// Returns the value to send for a tick.
    func value(of tick: TickSchedule.Tick) -> [UInt8]? {
        entries[tick.attribute].map { value(of: $0, at: UInt64(max(0, tick.number))) }
    }

    /// Records that a recording's tick was sent; later reads return the value of this tick.
    mutating func noteSent(_ tick: TickSchedule.Tick) {
        if entries[tick.attribute]?.recording != nil { recordedTicks[tick.attribute] = tick.number }
    }

    /// Answers a read with the bytes from the requested offset (Core Specification, Vol 3, Part F, 3.4.4.5).
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

    /// Keeps the value of a read if it may be too long for one response.
    ///
    /// The central may request the rest of the value (Vol 3, Part F, 3.4.4.4).
    private mutating func keep(_ value: [UInt8], of request: ReadRequest) {
        if value.count >= GATT.defaultMTU - 1 {
            longReads.keep(value, of: request)
        } else {
            longReads.forget(request)
        }
    }

    /// Discards the partly read values of a central that has disconnected.
    mutating func forgetLink(of central: Peer.ID) {
        longReads.forgetAll(of: central)
    }

    /// Carries out all parts of a write; if a part fails, changes nothing and returns the first error.
    ///
    /// A part with an offset replaces the bytes from the offset to the end.
    mutating func write(_ request: WriteRequest) -> PendingReply.Outcome {
        do throws(ATTError) {
            store(try effect(of: request))
            return .success([])
        } catch {
            return .failure(error)
        }
    }

    /// Stores written values.
    mutating func store(_ values: [AttributeKey: [UInt8]]) {
        for (key, value) in values { entries[key]?.source = .stored(value) }
    }

    /// Returns the attributes' new values after a write, or throws the first error.
    func effect(of request: WriteRequest) throws(ATTError) -> [AttributeKey: [UInt8]] {
        for part in request.parts {
            if let error = entries[part.attribute]?.writeError { throw error }
        }
        return try newValues(of: request)
    }

    /// Returns the attributes' new values after a write; ignores a `writeError` of the profile.
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
