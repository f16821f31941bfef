import MynahCore
import MynahSupport

extension [ImportedAdvertising] {
    /// Makes the advertising sets that were observed, or none if no advertising was seen.
    init(_ observed: ObservedSets, appearance: UInt16?) {
        let sets = observed.sets
        self = sets.prefix(ObservedSets.limit).map { ImportedAdvertising($0, appearance: appearance) }
        guard !isEmpty else { return }
        for index in indices { self[index].noteIdentifier(sets[index], number: index) }
        if sets.count > count {
            let others = (sets.count - count).counting("advertising set")
            self[0].notes.append(
                "\(others) more \(sets.count - count == 1 ? "was" : "were") seen, and left out")
        }
        if observed.directedCount > 0 {
            let events = observed.directedCount.counting("directed advertising event")
            self[0].notes.append(
                "\(events) \(observed.directedCount == 1 ? "was" : "were") seen, and left out")
        }
    }
}

extension ImportedAdvertising {
    /// Makes the advertising set that was observed, with the same bytes.
    ///
    /// An AD structure becomes a field of the profile if the radio would encode the field as the same bytes,
    /// and a raw structure otherwise.
    init(_ observed: ObservedAdvertising, appearance: UInt16?) {
        let room = observed.room
        let data = ObservedPayload(observed.usualData, "advertising data", room: room)
        let response = ObservedPayload(observed.usualScanResponse, "scan response", room: room)
        notes += data.notes + response.notes
        advertisement.isConnectable = observed.isConnectable
        advertisement.isScannable = observed.isConnectable || observed.isScannable
        if let extended = observed.extended {
            advertisement.extended = extended
            advertisement.isScannable = !observed.isConnectable && observed.isScannable
        }
        advertisement.flags = data.flags
        advertisement.data = data.contents(advertising: appearance)
        advertisement.scanResponse = response.contents(advertising: appearance)
        useRawWhereItDiffers(data, response)
        moveNameWhereItGoesByItself(data, response)
        if let interval = observed.interval {
            advertisement.interval = .microseconds(interval)
        } else {
            notes.append("too few advertisements were seen to know the interval")
        }
        if advertisement.extended != nil, advertisement.isScannable,
            (try? AccessoryAdvertising.compose(advertisement))?.scanResponse.isEmpty == true
        {
            advertisement.isScannable = false
            notes.append("it was scannable, but its scan response was not seen")
        }
        if !observed.hasScanResponse, advertisement.isScannable { notes.append("no scan response was seen") }
        if observed.hasOtherKinds {
            let kinds = "its events were connectable or scannable at times, and not at others"
            notes.append("\(kinds); this is what they were at last")
        }
        if observed.hasOtherPHYs { notes.append("its PHYs changed; these are the last") }
        if observed.incompleteCount > 0 {
            let count = observed.incompleteCount
            notes.append(
                """
                \(count.counting("advertisement")) \(count == 1 ? "was" : "were") received only in part, and \
                \(count == 1 ? "is" : "are") left out
                """)
        }
        if let train = observed.train { addTrain(train, isHeard: observed.hasAdvertisements, appearance) }
        addChanges(observed)
    }

    // MARK: Periodic advertising

    /// Adds the periodic advertising of the set, if a set of this kind can have it.
    private mutating func addTrain(_ train: ObservedTrain, isHeard: Bool, _ appearance: UInt16?) {
        if !isHeard { notes.append("only the periodic advertising of this set was seen") }
        if train.incompleteCount > 0 {
            let count = train.incompleteCount
            notes.append(
                """
                \(count.counting("periodic advertising event")) \(count == 1 ? "was" : "were") received only \
                in part, and \(count == 1 ? "is" : "are") left out
                """)
        }
        if train.subeventCount > 0 {
            notes.append("its periodic advertising has subevents (PAwR), which are left out")
        }
        guard advertisement.extended != nil, !advertisement.isConnectable, !advertisement.isScannable else {
            let data = train.data.usual.map { ": " + ($0.isEmpty ? "no data" : Hex.encode($0)) } ?? ""
            notes.append(
                "its periodic advertising is left out, because the set is connectable or scannable\(data)")
            return
        }
        let room = ExactAdvertisement.extendedCapacity
        let payload = ObservedPayload(
            train.data.usual ?? [], AdvertisingPayload.periodic.rawValue, room: room)
        notes += payload.notes
        var periodic = Advertisement.Periodic()
        periodic.contents = payload.contents(advertising: appearance)
        var alone = Advertisement()
        (alone.isConnectable, alone.isScannable, alone.extended) = (false, false, advertisement.extended)
        alone.periodic = periodic
        if (try? AccessoryAdvertising.compose(alone))?.periodic != payload.structures {
            periodic.contents = payload.raw
        }
        if let interval = train.interval {
            let unit = Duration.microseconds(1250)
            periodic.interval = unit * Int(interval.lowerBound)...unit * Int(interval.upperBound)
        } else {
            notes.append("the interval of its periodic advertising is not known")
        }
        if train.hasOtherIntervals {
            notes.append("the interval of its periodic advertising changed; this is the first")
        }
        if train.data.list.isEmpty { notes.append("its periodic advertising data was not seen") }
        advertisement.periodic = periodic
    }

    /// Adds a note if the observed Advertising SID differs from the one that the set gets from its place in
    /// the list.
    fileprivate mutating func noteIdentifier(_ observed: ObservedAdvertising, number: Int) {
        guard let identifier = observed.identifier, Int(identifier) != number else { return }
        notes.append("its Advertising_SID was \(identifier), which is not kept: sets are numbered from 0")
    }

    /// Makes the advertising of a device whose real advertising is not known; `because` is the reason.
    ///
    /// The advertisement has the device's name, if that is known, and as many services as fit.
    init(name: String?, services: [BluetoothUUID], because reason: String) {
        advertisement.localName = name
        let content = name == nil ? "these are the services" : "this is the name and the services"
        notes = ["\(reason); \(content) that fit"]
        for uuid in services where !advertisement.serviceUUIDs.contains(uuid) {
            advertisement.serviceUUIDs.append(uuid)
            if (try? AccessoryAdvertising.compose(advertisement)) == nil {
                advertisement.serviceUUIDs.removeLast()
            }
        }
        if (try? AccessoryAdvertising.compose(advertisement)) == nil { advertisement.localName = nil }
    }

    /// Whether a profile may list a UUID as a service.
    static func isService(_ uuid: BluetoothUUID) -> Bool {
        !AssignedNumbers.isDeclaration(uuid) && !AssignedNumbers.isDescriptor(uuid)
    }

    private mutating func useRawWhereItDiffers(_ data: ObservedPayload, _ response: ObservedPayload) {
        // Each payload is checked separately, so that one that does not fit does not affect the other.
        var alone = advertisement
        alone.scanResponse = Advertisement.Contents()
        if (try? AccessoryAdvertising.compose(alone))?.data != data.structures {
            advertisement.data = data.raw
            advertisement.flags = nil
        }
        alone = Advertisement()
        (alone.isConnectable, alone.isScannable) = (advertisement.isConnectable, advertisement.isScannable)
        (alone.extended, alone.scanResponse) = (advertisement.extended, advertisement.scanResponse)
        if (try? AccessoryAdvertising.compose(alone))?.scanResponse != response.structures {
            advertisement.scanResponse = response.raw
        }
    }

    /// Moves the local name from the scan response to the advertising data, if the scan response has only the
    /// name.
    ///
    /// The name is moved only if the radio would send the same bytes: it puts a name that does not fit in the
    /// advertising data into the scan response.
    private mutating func moveNameWhereItGoesByItself(_ data: ObservedPayload, _ response: ObservedPayload) {
        guard advertisement.data.localName == nil, let name = advertisement.scanResponse.localName else {
            return
        }
        var moved = advertisement
        moved.scanResponse.localName = nil
        guard moved.scanResponse == Advertisement.Contents() else { return }
        moved.localName = name
        let exact = try? AccessoryAdvertising.compose(moved)
        if exact?.data == data.structures, exact?.scanResponse == response.structures {
            advertisement = moved
        }
    }

    // MARK: Changes

    /// Adds values that change over time for manufacturer data and service data that changed.
    ///
    /// Every other change of the advertising is described in a note.
    private mutating func addChanges(_ observed: ObservedAdvertising) {
        var payloads = [
            (observed.data, AdvertisingPayload.data, advertisement.data, room: observed.room),
            (observed.scanResponses, .scanResponse, advertisement.scanResponse, room: observed.room),
        ]
        if let train = observed.train?.data, let periodic = advertisement.periodic {
            payloads.append(
                (train, .periodic, periodic.contents, room: ExactAdvertisement.extendedCapacity))
        }
        var periods: [(payload: AdvertisingPayload, period: Duration)] = []
        for (seen, payload, written, room) in payloads where seen.list.count > 1 {
            let contents = seen.list.map { [ADStructure].decode($0.bytes).structures }
            let period = seen.period
            // Two contents may just be two states of the device.
            guard contents.count > 2, contents.allSatisfy({ $0.bytes.count <= room }),
                let changed = Self.changedStructures(contents), !changed.isEmpty, let period,
                written.raw.isEmpty, let added = Self.values(at: changed, of: contents, in: payload)
            else {
                notes.append(Self.note(on: seen, seen.usual ?? [], payload))
                continue
            }
            values += added
            periods.append((payload, period))
            if seen.isCut {
                notes.append("the \(payload.rawValue) had more contents; these are the first")
            }
        }
        guard let every = periods.map(\.period).min() else { return }
        self.every = every
        // A set has one time for all of its values.
        for (payload, period) in periods where period > every * 1.25 {
            notes.append("the \(payload.rawValue) changed more slowly, every \(period.text)")
        }
    }

    /// Returns the indices of the structures that changed, or `nil` if their number or types changed.
    private static func changedStructures(_ contents: [[ADStructure]]) -> [Int]? {
        guard let first = contents.first,
            contents.allSatisfy({ $0.map(\.type) == first.map(\.type) })
        else { return nil }
        return first.indices.filter { index in contents.contains { $0[index] != first[index] } }
    }

    /// Whether several payloads differ only in values that a profile can change.
    static func hasChangingValues(_ seen: ObservedAdvertising.Payloads) -> Bool {
        let contents = seen.list.map { [ADStructure].decode($0.bytes).structures }
        guard contents.count > 2, let changed = changedStructures(contents), !changed.isEmpty else {
            return false
        }
        return values(at: changed, of: contents, in: .data) != nil
    }

    private static func values(
        at changed: [Int], of contents: [[ADStructure]], in payload: AdvertisingPayload
    ) -> [ImportedAdvertisedValue]? {
        guard let first = contents.first else { return nil }
        var values: [ImportedAdvertisedValue] = []
        for index in changed {
            let type = first[index].type
            let number = first[..<index].count { $0.type == type }
            let header: Int
            switch type {
            case .manufacturerSpecificData: header = 2
            case .serviceData(.bits16): header = 2
            case .serviceData(.bits32): header = 4
            case .serviceData(.bits128): header = 16
            default: return nil
            }
            let prefix = first[index].data.prefix(header)
            guard contents.allSatisfy({ $0[index].data.starts(with: prefix) }) else { return nil }
            let isCompany = type == .manufacturerSpecificData
            // Service data of all UUID widths is counted together, in the order of the payload.
            let place = isCompany ? number : first[..<index].count { $0.type.isServiceData }
            values.append(
                ImportedAdvertisedValue(
                    payload: payload, isManufacturerData: isCompany, index: place,
                    values: contents.map { Array($0[index].data.dropFirst(header)) }))
        }
        return values
    }

    private static func note(
        on seen: ObservedAdvertising.Payloads, _ usual: [UInt8], _ payload: AdvertisingPayload
    ) -> String {
        let others = seen.list.map(\.bytes).filter { $0 != usual }
        let shown = others.prefix(8).map { $0.isEmpty ? "none" : Hex.encode($0) }.joined(separator: ", ")
        return """
            the \(payload.rawValue) changed; this is what was seen most often, and left out \
            \(others.count == 1 ? "is" : "are") \(shown)\(others.count > 8 ? ", …" : "")
            """
    }
}

/// A value of an advertisement that changed over time.
struct ImportedAdvertisedValue: Hashable {
    var payload: AdvertisingPayload
    /// `true` for manufacturer data, `false` for service data.
    var isManufacturerData: Bool
    /// The index of the value among the manufacturer data or the service data.
    var index: Int
    /// The bytes of the value, in the order in which they were seen.
    var values: [[UInt8]]
}

/// One payload of an observed advertisement.
private struct ObservedPayload {
    let structures: [ADStructure]
    private(set) var notes: [String] = []

    /// Makes a payload of at most `room` bytes; only a damaged capture has a longer payload.
    init(_ bytes: [UInt8], _ name: String, room: Int) {
        let decoded = [ADStructure].decode(bytes)
        let whole = decoded.structures.bytes
        var kept = decoded.structures.filter { $0.type.rawValue != 0 }
        if kept.count < decoded.structures.count {
            notes.append("the \(name) had structures of the AD type 0x00, which are left out")
        }
        let count = kept.count
        while kept.bytes.count > room { kept.removeLast() }
        if kept.count < count {
            notes.append(
                """
                the \(name) had \(bytes.count) bytes, and such a packet has at most \(room); what is beyond \
                them is left out: \(Hex.encode(bytes))
                """)
        }
        structures = kept
        guard whole.count < bytes.count else { return }
        let rest = bytes[whole.count...]
        let end =
            rest.contains { $0 != 0 }
            ? "bytes that are no AD structure, which are left out: \(Hex.encode(Array(rest)))"
            : "\(rest.count.counting("zero byte")), which mean nothing and are left out"
        notes.append("the \(name) ended in \(end)")
    }

    /// The Flags, or `nil` if there are none.
    var flags: UInt8? {
        guard let first = structures.first, first.type == .flags, first.data.count == 1 else { return nil }
        return first.data[0]
    }

    /// All structures as raw data.
    var raw: Advertisement.Contents {
        var contents = Advertisement.Contents()
        contents.raw = structures
        return contents
    }

    /// Returns the structures as fields, as far as possible; `appearance` is that of the device.
    func contents(advertising appearance: UInt16?) -> Advertisement.Contents {
        var contents = Advertisement.Contents()
        for structure in structures where structure.type != .flags {
            var reader = ByteReader(structure.data)
            switch structure.type {
            case .completeLocalName:
                contents.localName = PlainText.name(String(decoding: structure.data, as: UTF8.self))
            case .manufacturerSpecificData:
                guard let company = reader.readUInt16() else { return raw }
                contents.manufacturerData.append(.init(company: company, data: reader.readRest()))
            case .txPowerLevel:
                contents.txPower = structure.data.first.map { .level(Int8(bitPattern: $0)) }
            case .appearance: contents.appearance = reader.readUInt16()
            default:
                if !Self.add(structure, to: &contents) { contents.raw.append(structure) }
            }
        }
        return contents
    }

    /// Adds a list of services or service data; returns `false` for any other structure.
    private static func add(_ structure: ADStructure, to contents: inout Advertisement.Contents) -> Bool {
        for width in BluetoothUUID.Width.allCases {
            var reader = ByteReader(structure.data)
            switch structure.type {
            case .serviceUUIDs(width, isComplete: true):
                contents.serviceUUIDs += uuids(&reader, width)
            case .serviceUUIDs(width, isComplete: false):
                contents.incompleteServiceUUIDs += uuids(&reader, width)
            case .solicitedServiceUUIDs(width): contents.solicitedServiceUUIDs += uuids(&reader, width)
            case .serviceData(width):
                guard let bytes = reader.readBytes(width.byteCount),
                    let uuid = BluetoothUUID(littleEndian: bytes), ImportedAdvertising.isService(uuid)
                else { return false }
                contents.serviceData.append(.init(uuid: uuid, data: reader.readRest()))
            default: continue
            }
            return true
        }
        return false
    }

    private static func uuids(_ reader: inout ByteReader, _ width: BluetoothUUID.Width) -> [BluetoothUUID] {
        var uuids: [BluetoothUUID] = []
        while let bytes = reader.readBytes(width.byteCount), let uuid = BluetoothUUID(littleEndian: bytes) {
            uuids.append(uuid)
        }
        return uuids
    }
}

extension ADType {
    fileprivate var isServiceData: Bool {
        BluetoothUUID.Width.allCases.contains { self == .serviceData($0) }
    }
}
