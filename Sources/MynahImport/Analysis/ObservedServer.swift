import MynahCore
import MynahSupport

/// The attributes of one device and the values that it sent, as far as the capture shows them.
///
/// A device's attribute table may change, for example with new firmware, so each discovery makes a new
/// table. Tables that do not contradict each other are merged. If several tables remain, the last completely
/// discovered one is imported.
struct ObservedServer {
    /// A write, with the times of its request and its response.
    ///
    /// For a write command, both are the time at which it was sent.
    struct Write: Hashable {
        enum Outcome: Hashable {
            case stored
            case refused(UInt8)
            /// A write command, which has no response.
            case sent
            /// A write request that got no response before the capture or the link ended.
            case unanswered
        }
        var handle: AttributeHandle
        var value: [UInt8]
        var sentAt: Int64
        var time: Int64
        var link: Int
        var outcome: Outcome
        /// The number of the attribute table in which the write was made.
        fileprivate(set) var table = 0

        init(handle: AttributeHandle, value: [UInt8], time: Int64, link: Int, outcome: Outcome = .unanswered)
        {
            (self.handle, self.value, self.link) = (handle, value, link)
            (sentAt, self.time, self.outcome) = (time, time, outcome)
        }
    }

    /// A notification or an indication.
    struct Sent: Hashable {
        var handle: AttributeHandle
        var value: [UInt8]
        var time: Int64
        var link: Int
        /// The number of the attribute table in which the value was sent.
        var table = 0

        init(handle: AttributeHandle, value: [UInt8], time: Int64, link: Int) {
            (self.handle, self.value, self.time, self.link) = (handle, value, time, link)
        }
    }

    /// A link whose start is in the capture.
    struct Link: Hashable {
        var start: Int64
        /// `true` if the link was ever encrypted, so that a bond may have restored earlier subscriptions.
        var wasEncrypted = false
    }

    /// A limit that was reached; later values are not stored.
    struct Limit: Hashable {
        /// The handle of the characteristic's value, or `nil` if the limit applies to all characteristics.
        var handle: AttributeHandle?
        /// A warning as a sentence without its full stop.
        var text: String
        /// The number of the attribute table that the limit applies to.
        fileprivate var table: Int
    }

    /// A characteristic on one link and in one attribute table, whose values are counted together.
    private struct Flow: Hashable {
        var handle: AttributeHandle
        var link: Int
        var table: Int
    }

    /// The attribute table of the current discovery.
    private(set) var table = ObservedTable()
    private(set) var writes: [Write] = []
    private(set) var sent = SentLog()
    /// The links whose start is in the capture.
    private(set) var links: [Int: Link] = [:]
    /// Notes about the attribute tables, for readers of the profile.
    private(set) var notes: [String] = []

    /// The number of the current attribute table, counted from 0.
    private var number = 0
    /// The table merged from earlier discoveries, with the numbers of the tables that were merged.
    private var earlier: (table: ObservedTable, numbers: Set<Int>)?
    private var hasChanged = false
    /// `true` if a table that was discovered only partially is left out, because an earlier, complete one is
    /// used.
    private var isLastPartial = false

    /// The maximum number of values to store for all characteristics.
    ///
    /// `flowLimit` is the maximum for each characteristic. There are limits because a recorded device may
    /// send values without end.
    private let sentLimit: Int
    private let flowLimit: Int
    /// The maximum number of bytes of a recording's lines, or `nil` for a capture file.
    ///
    /// The recording of a capture file is shortened when it is written.
    private let byteLimit: Int?
    private var byteCount = 0
    /// The largest length of a recorded line of each characteristic, in bytes, besides the value in the line.
    private var lineSizes: [AttributeHandle: Int] = [:]
    private var sentCounts: [Flow: Int] = [:]
    /// The limits that were reached.
    private(set) var limits: [Limit] = []

    /// The attributes that a client has read or written on an unencrypted link.
    ///
    /// `encryptedAccesses` has those on an encrypted link.
    private var openAccesses: Set<AttributeHandle> = []
    private var encryptedAccesses: Set<AttributeHandle> = []

    /// Makes a server of which nothing was observed yet.
    init(
        sentLimit: Int = 1 << 20, flowLimit: Int = ImportedProfile.recordingLimit, byteLimit: Int? = nil
    ) {
        (self.sentLimit, self.flowLimit, self.byteLimit) = (sentLimit, flowLimit, byteLimit)
    }

    /// Whether the attribute table has any service.
    var isDiscovered: Bool { !table.services.isEmpty }

    // MARK: Links

    /// Returns the time at which a link was established, or `nil` if that was before the capture.
    func start(ofLink link: Int) -> Int64? { links[link]?.start }

    mutating func beginLink(_ link: Int, at time: Int64) { links[link] = Link(start: time) }

    mutating func encryptLink(_ link: Int) { links[link]?.wasEncrypted = true }

    // MARK: Values

    /// Adds a write, and returns its index.
    mutating func add(_ write: Write) -> Int {
        writes.append(write)
        writes[writes.count - 1].table = number
        return writes.count - 1
    }

    /// Stores the response to a write.
    mutating func answer(_ write: Int, _ outcome: Write.Outcome, at time: Int64) {
        writes[write].outcome = outcome
        writes[write].time = time
    }

    mutating func add(_ value: Sent) {
        guard let changed = changedHandles(value) else { return keep(value) }
        addTable(table.without(changed))
    }

    /// Returns the handle range of a Service Changed indication (Core Specification, Vol 3, Part G, 7.1).
    private func changedHandles(_ value: Sent) -> ClosedRange<AttributeHandle>? {
        guard value.value.count == 4,
            table.declarations.values.contains(where: { $0.value == value.handle && $0.uuid == "2A05" })
        else { return nil }
        let start = UInt16(value.value[0]) | UInt16(value.value[1]) << 8
        let end = UInt16(value.value[2]) | UInt16(value.value[3]) << 8
        return start > 0 && start <= end ? .init(rawValue: start)...(.init(rawValue: end)) : nil
    }

    private mutating func keep(_ value: Sent) {
        guard sent.count < sentLimit else {
            if !limits.contains(where: { $0.handle == nil }) {
                reach(nil, "only the first \(sentLimit) values that the device sent are kept")
            }
            return
        }
        let flow = Flow(handle: value.handle, link: value.link, table: number)
        let count = sentCounts[flow, default: 0] + 1
        // The first value of a characteristic is always stored, because the characteristic would have none
        // otherwise.
        guard hasRoom(for: value) || count == 1 else {
            if !limits.contains(where: { $0.handle == nil }) {
                reach(
                    nil,
                    """
                    the recording is full: values that the device sends from now on would make it larger \
                    than \(ProfileText.maximumRecordingSize >> 20) MiB, and are not kept
                    """)
            }
            return
        }
        guard count <= flowLimit else {
            if count == flowLimit + 1 {
                sentCounts[flow] = count
                let uuid = table.declarations.values.first { $0.value == value.handle }?.uuid
                let name = uuid.map { "\($0)" } ?? "the attribute handle \(value.handle)"
                reach(value.handle, "only the first \(flowLimit) values of \(name) are kept")
            }
            return
        }
        sentCounts[flow] = count
        var value = value
        value.table = number
        sent.append(value)
    }

    /// Counts the bytes of a value's line; returns whether the recording can contain the line.
    private mutating func hasRoom(for value: Sent) -> Bool {
        guard let byteLimit else { return true }
        guard byteCount < byteLimit else { return false }
        let size: Int
        if let known = lineSizes[value.handle] {
            size = known
        } else {
            let names = table.names(ofValue: value.handle)
            size = RecordingText.longest(names.service, names.characteristic, hasPath: names.areRepeated)
            lineSizes[value.handle] = size
        }
        byteCount += size + 2 * value.value.count
        return byteCount < byteLimit
    }

    private mutating func reach(_ handle: AttributeHandle?, _ text: String) {
        limits.append(Limit(handle: handle, text: text, table: number))
    }

    /// Records that a read or a write of an attribute got a response, which may be an error.
    mutating func access(_ handle: AttributeHandle, isEncrypted: Bool) {
        if isEncrypted { encryptedAccesses.insert(handle) } else { openAccesses.insert(handle) }
    }

    mutating func read(_ value: [UInt8], of handle: AttributeHandle, isWhole: Bool, at time: Int64) {
        table.read(value, of: handle, isWhole: isWhole, at: time)
        // The read returns the 128-bit UUID of an included service (Vol 3, Part G, 4.5.1).
        if let uuid = BluetoothUUID(littleEndian: value) { table.name(uuid, serviceAt: handle) }
    }

    mutating func readOn(_ part: [UInt8], of handle: AttributeHandle, at offset: Int, isLast: Bool) {
        table.readOn(part, of: handle, at: offset, isLast: isLast)
    }

    mutating func refuse(_ handle: AttributeHandle, isWrite: Bool, _ code: UInt8, isEncrypted: Bool) {
        table.refuse(handle, isWrite: isWrite, code, isEncrypted: isEncrypted)
    }

    // MARK: Declarations

    /// Handles the start of a discovery of all primary services, which may start another table.
    mutating func beginDiscovery() {
        if isDiscovered { addTable(ObservedTable()) }
    }

    mutating func endServices() { table.endServices() }

    /// Records that the discovery of the primary services in this range is complete.
    mutating func discovered(_ range: ClosedRange<AttributeHandle>) { table.discovered(range) }

    mutating func declare(_ declaration: ObservedTable.Declaration, at handle: AttributeHandle) {
        if let known = table.declarations[handle], known != declaration { addTable(ObservedTable()) }
        table.declare(declaration, at: handle)
    }

    mutating func declare(
        _ uuid: BluetoothUUID?, _ handles: ClosedRange<AttributeHandle>, isPrimary: Bool
    ) {
        if isPrimary, table.contradicts(uuid, handles) { addTable(ObservedTable()) }
        table.declare(uuid, handles, isPrimary: isPrimary)
    }

    mutating func setType(_ type: BluetoothUUID, of handle: AttributeHandle) {
        if let known = table.types[handle], known != type.shortest { addTable(ObservedTable()) }
        table.setType(type, of: handle)
    }

    mutating func include(_ include: ObservedTable.Include, at handle: AttributeHandle) {
        table.include(include, at: handle)
    }

    // MARK: Several tables

    /// The maximum number of tables that are compared; only a forged capture has more.
    private static let limit = 1000

    private mutating func addTable(_ new: ObservedTable) {
        guard number < Self.limit else { return }
        settleTable()
        table = new
        number += 1
        lineSizes = [:]
    }

    /// Ends the current table.
    ///
    /// The table is merged with the earlier one if they do not contradict each other. Otherwise it replaces
    /// the earlier one, unless only the earlier one is complete.
    private mutating func settleTable() {
        guard var known = earlier else {
            earlier = (table, [number])
            return
        }
        if !known.table.contradicts(table) {
            known.table.merge(table)
            known.numbers.insert(number)
            isLastPartial = isLastPartial && !table.isWhole
        } else {
            hasChanged = true
            isLastPartial = known.table.isWhole && !table.isWhole
            if !isLastPartial { known = (table, [number]) }
        }
        earlier = known
    }

    /// Returns the server at the end of the capture, with one table and the values that belong to that
    /// table.
    func settled() -> ObservedServer {
        var result = self
        result.settleTable()
        guard let last = result.earlier else { return self }
        result.table = last.table
        result.writes.removeAll { !last.numbers.contains($0.table) }
        result.sent.keep(tables: last.numbers)
        result.limits.removeAll { $0.handle != nil && !last.numbers.contains($0.table) }
        if result.hasChanged {
            result.notes.append(
                "the device's attributes changed; these are the last that were discovered"
                    + leftOut(except: last.numbers))
        }
        result.notes += limits.filter { $0.handle == nil }.map(\.text)
        if let note = securityNote { result.notes.append(note) }
        if result.isLastPartial {
            result.notes.append("a later change was discovered only in part, and is left out")
        }
        return result
    }

    /// Returns the end of a note about the writes and values of discarded tables; empty if there are none.
    private func leftOut(except numbers: Set<Int>) -> String {
        let places = sent.indices.filter { !numbers.contains(sent.table(at: $0)) }
        let writes = writes.count { !numbers.contains($0.table) }
        var parts = writes == 0 ? [] : [writes.counting("write")]
        if let first = places.first {
            let example = places.count == 1 ? ", " : ", such as "
            parts.append(places.count.counting("value") + example + PlainText.hex(sent.value(at: first)))
        }
        return parts.isEmpty ? "" : "; of others are left out: " + parts.joined(separator: " and ")
    }

    /// A note that the capture does not show which attributes require encryption, or `nil` if no note is
    /// needed.
    ///
    /// Only a refusal on an unencrypted link shows that an attribute requires encryption.
    private var securityNote: String? {
        guard !encryptedAccesses.isSubset(of: openAccesses) else { return nil }
        return openAccesses.isEmpty
            ? "the link was encrypted from the beginning, so it is not known what needs encryption"
            : """
            some attributes were used only while the link was encrypted, so it is not known whether they \
            need that
            """
    }
}
