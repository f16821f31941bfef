import MynahCore

/// The attribute table of one device by handle, as far as the capture shows it.
struct ObservedTable {
    /// A service declaration.
    struct Service: Hashable {
        /// The UUID, or `nil` if the service is known only from an include declaration.
        var uuid: BluetoothUUID?
        var end: AttributeHandle
        var isPrimary: Bool
    }

    /// An include declaration.
    struct Include: Hashable {
        var start: AttributeHandle
        var end: AttributeHandle
        /// The UUID, or `nil` if it has 128 bits, and is therefore not part of the declaration (Core
        /// Specification, Vol 3, Part G, 3.2).
        var uuid: BluetoothUUID?
    }

    /// A characteristic declaration.
    struct Declaration: Hashable {
        var uuid: BluetoothUUID
        var properties: UInt8
        var value: AttributeHandle
    }

    /// A value that was read.
    struct Reading: Hashable {
        /// The value of the first read.
        var value: [UInt8]
        /// `true` if the bytes are the complete value.
        var isWhole: Bool
        /// The time of the first read, which may have returned only a part of the value.
        var time: Int64
        /// Whether a later read returned another value.
        var hasChanged = false
    }

    /// An access that the device refused with an error.
    struct Refusal: Hashable {
        var isWrite: Bool
        var code: UInt8
        var isEncrypted: Bool
    }

    /// The most attributes of each kind that are stored; no real device has as many, but a capture may be
    /// forged.
    static let limit = 2048

    private(set) var services: [AttributeHandle: Service] = [:]
    private(set) var includes: [AttributeHandle: Include] = [:]
    private(set) var declarations: [AttributeHandle: Declaration] = [:]
    /// The attribute types from Find Information and Read By Type responses.
    private(set) var types: [AttributeHandle: BluetoothUUID] = [:]
    private(set) var readings: [AttributeHandle: Reading] = [:]
    private(set) var refusals: [AttributeHandle: [Refusal]] = [:]
    /// Whether the discovery has reached the last primary service.
    private var hasLastService = false
    /// The handle ranges that have changed, and whose services were not discovered since.
    private var pending: [ClosedRange<AttributeHandle>] = []

    /// The most pending ranges; if there are more, all handles are pending.
    private static let pendingLimit = 16

    /// Whether all primary services were discovered.
    var hasAllServices: Bool { hasLastService && pending.isEmpty }

    /// Whether all services were discovered, and the characteristics of each service that can have any.
    var isWhole: Bool {
        guard hasAllServices else { return false }
        let handles = SortedHandles(declarations.keys)
        return services.allSatisfy { start, service in
            // A phone may read the characteristics of these services without a discovery.
            if service.uuid == GATT.genericAccess || service.uuid == GATT.genericAttribute { return true }
            return start >= service.end || !handles[start...service.end].isEmpty
        }
    }

    // MARK: Values

    /// Returns the UUIDs of the characteristic with this value handle, and of its service.
    ///
    /// `areRepeated` is `true` if other characteristics may have the same UUIDs.
    func names(
        ofValue handle: AttributeHandle
    ) -> (service: String, characteristic: String, areRepeated: Bool) {
        let start = services.keys.filter { $0 < handle }.max()
        let service = start.flatMap { services[$0]?.uuid }
        let characteristics = declarations.values.filter { $0.value == handle }.map(\.uuid)
        let characteristic = characteristics.max { $0.description.utf8.count < $1.description.utf8.count }
        return (
            service?.description ?? "", characteristic?.description ?? "",
            services.values.count { $0.uuid == service } > 1
                || declarations.values.count { $0.uuid == characteristic } > 1
        )
    }

    /// Stores a value that was read from its beginning.
    mutating func read(_ value: [UInt8], of handle: AttributeHandle, isWhole: Bool, at time: Int64) {
        read(Reading(value: value, isWhole: isWhole, time: time), of: handle)
    }

    private mutating func read(_ new: Reading, of handle: AttributeHandle) {
        guard var reading = readings[handle] else {
            readings[handle] = new
            return
        }
        // The first read may have returned only a part.
        if !reading.isWhole, new.value.starts(with: reading.value) {
            reading.value = new.value
            reading.isWhole = new.isWhole
        } else if reading.isWhole ? reading.value != new.value : !reading.value.starts(with: new.value) {
            reading.hasChanged = true
        }
        if new.hasChanged { reading.hasChanged = true }
        readings[handle] = reading
    }

    /// Stores another part of a value, if it continues the parts that were read before.
    mutating func readOn(_ part: [UInt8], of handle: AttributeHandle, at offset: Int, isLast: Bool) {
        guard var reading = readings[handle], !reading.isWhole, reading.value.count == offset else { return }
        reading.value += part
        reading.isWhole = isLast
        readings[handle] = reading
    }

    mutating func refuse(
        _ handle: AttributeHandle, isWrite: Bool, _ code: UInt8, isEncrypted: Bool
    ) {
        refuse(handle, Refusal(isWrite: isWrite, code: code, isEncrypted: isEncrypted))
    }

    private mutating func refuse(_ handle: AttributeHandle, _ refusal: Refusal) {
        // The number of refusals is small: 256 codes, for reads and writes, with and without encryption.
        if refusals[handle]?.contains(refusal) != true { refusals[handle, default: []].append(refusal) }
    }

    // MARK: Declarations

    /// Records that no primary service follows the known ones.
    mutating func endServices() { hasLastService = true }

    /// Records that the discovery of the primary services in this range is complete.
    mutating func discovered(_ range: ClosedRange<AttributeHandle>) {
        guard !pending.isEmpty else { return }
        let rest = pending.flatMap { one -> [ClosedRange<AttributeHandle>] in
            guard one.overlaps(range) else { return [one] }
            var parts: [ClosedRange<AttributeHandle>] = []
            if one.lowerBound < range.lowerBound { parts.append(one.lowerBound...(range.lowerBound - 1)) }
            if one.upperBound > range.upperBound { parts.append((range.upperBound + 1)...one.upperBound) }
            return parts
        }
        if rest.count <= Self.pendingLimit { pending = rest }
    }

    mutating func declare(_ declaration: Declaration, at handle: AttributeHandle) {
        guard declarations[handle] != nil || declarations.count < Self.limit else { return }
        declarations[handle] = declaration
    }

    mutating func declare(
        _ uuid: BluetoothUUID?, _ handles: ClosedRange<AttributeHandle>, isPrimary: Bool
    ) {
        // A client may get 0xFFFF as the end handle of the device's last service.
        let known = services[handles.lowerBound]
        guard known != nil || services.count < Self.limit else { return }
        services[handles.lowerBound] = Service(
            uuid: uuid?.shortest ?? known?.uuid, end: handles.upperBound,
            isPrimary: isPrimary || known?.isPrimary == true)
    }

    /// Sets the 128-bit UUID of a service that is known only from an include declaration.
    mutating func name(_ uuid: BluetoothUUID, serviceAt handle: AttributeHandle) {
        guard let service = services[handle], service.uuid == nil else { return }
        services[handle]?.uuid = uuid.shortest
    }

    mutating func setType(_ type: BluetoothUUID, of handle: AttributeHandle) {
        types[handle] = type.shortest
    }

    /// Adds an include declaration, which may be the only evidence of a secondary service.
    mutating func include(_ include: Include, at handle: AttributeHandle) {
        guard includes.count < Self.limit else { return }
        includes[handle] = include
        guard services[include.start] == nil, include.start <= include.end else { return }
        declare(include.uuid, include.start...include.end, isPrimary: false)
    }

    // MARK: Several discoveries

    /// Returns the table after Service Changed, without the attributes in the range (Core Specification, Vol
    /// 3, Part G, 7.1).
    ///
    /// Attributes outside the range are unchanged. A service that is partly in the range is removed with all
    /// its attributes.
    func without(_ changed: ClosedRange<AttributeHandle>) -> ObservedTable {
        var range = changed
        for (start, service) in services {
            let handles = start...max(start, service.end)
            guard handles.overlaps(changed) else { continue }
            range = min(range.lowerBound, start)...max(range.upperBound, handles.upperBound)
        }
        var rest = self
        rest.services = services.filter { !range.overlaps($0.key...max($0.key, $0.value.end)) }
        rest.includes = includes.filter { !range.contains($0.key) }
        rest.declarations = declarations.filter { !range.contains($0.key) }
        rest.types = types.filter { !range.contains($0.key) }
        rest.readings = readings.filter { !range.contains($0.key) }
        rest.refusals = refusals.filter { !range.contains($0.key) }
        let others = pending.filter { !$0.overlaps(range) }
        for other in pending where other.overlaps(range) {
            range = min(range.lowerBound, other.lowerBound)...max(range.upperBound, other.upperBound)
        }
        rest.pending =
            others.count < Self.pendingLimit ? others + [range] : [AttributeHandle.all]
        return rest
    }

    /// Whether a primary service differs from the one with the same handle in this table.
    func contradicts(_ uuid: BluetoothUUID?, _ handles: ClosedRange<AttributeHandle>) -> Bool {
        guard let known = services[handles.lowerBound], known.isPrimary else { return false }
        return Self.differ(
            known, .init(uuid: uuid?.shortest ?? known.uuid, end: handles.upperBound, isPrimary: true))
    }

    /// Whether a later discovery of the same device found a different table.
    ///
    /// A discovery goes from the lowest handle to the highest. Up to the lower of the two last handles, both
    /// discoveries therefore have all attributes, except changed ones that were not discovered again.
    func contradicts(_ later: ObservedTable) -> Bool {
        let (mine, theirs) = (services.filter(\.value.isPrimary), later.services.filter(\.value.isPrimary))
        let isAll = hasAllServices && later.hasAllServices
        if let first = mine.keys.max(), let second = theirs.keys.max() {
            let last = isAll ? max(first, second) : min(first, second)
            let starts = Set(mine.keys).union(theirs.keys).filter { $0 <= last }
            let unseen = pending + later.pending
            if starts.contains(where: { start in
                guard let one = mine[start], let other = theirs[start] else {
                    return !unseen.contains { $0.contains(start) }
                }
                return Self.differ(one, other)
            }) {
                return true
            }
        }
        let handles = SortedHandles(declarations.keys)
        let laterHandles = SortedHandles(later.declarations.keys)
        for (start, service) in mine where theirs[start] != nil && start < service.end {
            guard let last = handles[start...service.end].last,
                let other = laterHandles[start...service.end].last
            else { continue }
            let seen = start...min(last, other)
            guard handles[seen].elementsEqual(laterHandles[seen]),
                handles[seen].allSatisfy({ declarations[$0] == later.declarations[$0] })
            else { return true }
        }
        return types.contains { handle, type in later.types[handle].map { $0 != type } ?? false }
    }

    private static func differ(_ one: Service, _ other: Service) -> Bool {
        if let first = one.uuid, let second = other.uuid, first != second { return true }
        return one.end != other.end && one.end != .last && other.end != .last
    }

    /// Adds the attributes of a later discovery of the same table.
    mutating func merge(_ later: ObservedTable) {
        for (start, service) in later.services where service.end >= start {
            declare(service.uuid, start...service.end, isPrimary: service.isPrimary)
        }
        for (handle, include) in later.includes { self.include(include, at: handle) }
        for (handle, declaration) in later.declarations { declare(declaration, at: handle) }
        types.merge(later.types) { mine, _ in mine }
        for (handle, reading) in later.readings { read(reading, of: handle) }
        for (handle, list) in later.refusals { for refusal in list { refuse(handle, refusal) } }
        if later.hasAllServices { (hasLastService, pending) = (true, []) }
    }
}
