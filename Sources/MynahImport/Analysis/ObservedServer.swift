import MynahCore
import MynahSupport

/// The attributes of one device and the values that it sent, as far as a capture shows them.
///
/// A device may get another attribute table, as with new firmware. Each discovery makes a table. Those that
/// do not contradict each other are one, and of others the last that was discovered whole is imported.
struct ObservedServer {
    /// A write, when it was sent, and when it was answered or, without an answer, sent.
    struct Write: Hashable {
        enum Outcome: Hashable {
            case stored
            case refused(UInt8)
            /// A command, which has no answer.
            case sent
            /// A request; the capture, or the link, ended before the answer.
            case unanswered
        }
        var handle: AttributeHandle
        var value: [UInt8]
        var sentAt: Int64
        var time: Int64
        var link: Int
        var outcome: Outcome
        /// The number of its table.
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
        /// The number of its table.
        var table = 0

        init(handle: AttributeHandle, value: [UInt8], time: Int64, link: Int) {
            (self.handle, self.value, self.time, self.link) = (handle, value, time, link)
        }
    }

    /// A link whose beginning the capture shows.
    struct Link: Hashable {
        var start: Int64
        /// `true` if the link was encrypted at any time: a bond may then have kept subscriptions.
        var wasEncrypted = false
    }

    /// The moment from which values are no longer kept.
    struct Limit: Hashable {
        /// The characteristic's value; `nil` if it is about all of them.
        var handle: AttributeHandle?
        /// A warning without a full stop.
        var text: String
        /// The number of its table.
        fileprivate var table: Int
    }

    /// The values that one characteristic sends on one link while the table is the same.
    private struct Flow: Hashable {
        var handle: AttributeHandle
        var link: Int
        var table: Int
    }

    /// The table that is being discovered.
    private(set) var table = ObservedTable()
    private(set) var writes: [Write] = []
    private(set) var sent = SentLog()
    /// The links whose beginning the capture shows.
    private(set) var links: [Int: Link] = [:]
    /// Notes about its tables, for a reader of the profile.
    private(set) var notes: [String] = []

    /// The number of the table, from 0 on.
    private var number = 0
    /// The table of the discoveries before, and its numbers.
    private var earlier: (table: ObservedTable, numbers: Set<Int>)?
    private var hasChanged = false
    /// Whether a table that was discovered in part is left out, because a whole one came before it.
    private var isLastPartial = false

    /// The most values that are kept, of all characteristics and of one: a device that is recorded may send
    /// them without end.
    private let sentLimit: Int
    private let flowLimit: Int
    /// The most bytes that the lines of the values may have in a recording, or `nil` if that is seen at the
    /// end, as of a capture in a file.
    private let byteLimit: Int?
    private var byteCount = 0
    /// The most bytes that a line of each characteristic has without its value.
    private var lineSizes: [AttributeHandle: Int] = [:]
    private var sentCounts: [Flow: Int] = [:]
    /// The limits that were reached.
    private(set) var limits: [Limit] = []

    /// The attributes that were read or written while the link was not encrypted, and while it was.
    private var openAccesses: Set<AttributeHandle> = []
    private var encryptedAccesses: Set<AttributeHandle> = []

    /// A server of which nothing was seen.
    init(
        sentLimit: Int = 1 << 20, flowLimit: Int = ImportedProfile.recordingLimit, byteLimit: Int? = nil
    ) {
        (self.sentLimit, self.flowLimit, self.byteLimit) = (sentLimit, flowLimit, byteLimit)
    }

    /// Whether anything of the attribute table was seen.
    var isDiscovered: Bool { !table.services.isEmpty }

    // MARK: Links

    /// The time at which a link began, if the capture shows it.
    func start(ofLink link: Int) -> Int64? { links[link]?.start }

    mutating func beginLink(_ link: Int, at time: Int64) { links[link] = Link(start: time) }

    mutating func encryptLink(_ link: Int) { links[link]?.wasEncrypted = true }

    // MARK: Values

    /// A write was sent; returns its place.
    mutating func add(_ write: Write) -> Int {
        writes.append(write)
        writes[writes.count - 1].table = number
        return writes.count - 1
    }

    /// The answer to a write.
    mutating func answer(_ write: Int, _ outcome: Write.Outcome, at time: Int64) {
        writes[write].outcome = outcome
        writes[write].time = time
    }

    mutating func add(_ value: Sent) {
        guard let changed = changedHandles(value) else { return keep(value) }
        addTable(table.without(changed))
    }

    /// The range of handles of a Service Changed (Core Specification, Vol 3, Part G, 7.1).
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
        // A characteristic has no value without its first one.
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

    /// Counts the line of a value; returns whether the recording has room for it.
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

    /// A read or a write was answered, well or not.
    mutating func access(_ handle: AttributeHandle, isEncrypted: Bool) {
        if isEncrypted { encryptedAccesses.insert(handle) } else { openAccesses.insert(handle) }
    }

    mutating func read(_ value: [UInt8], of handle: AttributeHandle, isWhole: Bool, at time: Int64) {
        table.read(value, of: handle, isWhole: isWhole, at: time)
        // The UUID of an included service that has 128 bits (Vol 3, Part G, 4.5.1).
        if let uuid = BluetoothUUID(littleEndian: value) { table.name(uuid, serviceAt: handle) }
    }

    mutating func readOn(_ part: [UInt8], of handle: AttributeHandle, at offset: Int, isLast: Bool) {
        table.readOn(part, of: handle, at: offset, isLast: isLast)
    }

    mutating func refuse(_ handle: AttributeHandle, isWrite: Bool, _ code: UInt8, isEncrypted: Bool) {
        table.refuse(handle, isWrite: isWrite, code, isEncrypted: isEncrypted)
    }

    // MARK: Declarations

    /// A client begins to discover all primary services.
    mutating func beginDiscovery() {
        if isDiscovered { addTable(ObservedTable()) }
    }

    mutating func endServices() { table.endServices() }

    /// All primary services that begin in a range were discovered.
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

    /// The most tables that are compared: no device changes more often, but a capture may be forged.
    private static let limit = 1000

    private mutating func addTable(_ new: ObservedTable) {
        guard number < Self.limit else { return }
        settleTable()
        table = new
        number += 1
        lineSizes = [:]
    }

    /// Puts the table to those before it.
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

    /// The server at the end of the capture, with one table and its values.
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

    /// The end of a note about the writes and the values of other tables than these; empty if there are none.
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

    /// A note if it is not known whether attributes need encryption: only a refusal on an unencrypted link
    /// shows it.
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
