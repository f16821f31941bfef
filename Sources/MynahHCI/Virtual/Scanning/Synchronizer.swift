import MynahCore
import MynahSupport

/// The synchronization state of a Link Layer: the periodic advertising trains that it receives (Core
/// Specification, Vol 6, Part B, 4.4.5).
struct Synchronizer: Sendable {
    /// Identifies an advertising set by the advertiser's address and the Advertising SID.
    struct Advertiser: Hashable, Sendable {
        var address: DeviceAddress
        var identifier: UInt8
    }

    /// A request of the host to synchronize.
    struct Request: Sendable {
        /// The requested set, or `nil` for any set in the periodic advertiser list.
        var advertiser: Advertiser?
        var reports: Bool
        /// The synchronization timeout, in microseconds.
        var timeout: Int64
        /// The handle and the train that the scanner has found, until the first event is received.
        var found: (handle: UInt16, train: Train)?
    }

    /// A train that the controller receives or waits for.
    struct Train: Sendable {
        var advertiser: Advertiser
        var kindCode: UInt8
        var access: UInt32
        /// The interval, in units of 1.25 ms.
        var interval: UInt16
        var phy: UInt8
        /// Whether events are reported to the host.
        var reports: Bool
        /// The synchronization timeout, in microseconds.
        var timeout: Int64
        /// The time at which synchronization is lost unless an event is received.
        var deadline: AirTime
    }

    /// The number of events within which the first one must be received (4.4.5).
    private static let establishingEvents: Int64 = 6
    /// The largest number of data bytes in an LE Periodic Advertising Report.
    private static let longestPiece = 247
    private static let capacity = 32

    /// The pending request, or `nil` if there is none.
    private(set) var request: Request?
    private var trains = SortedMap<UInt16, Train>()
    private var list: [Advertiser] = []
    let listCapacity: Int

    init(listCapacity: Int) {
        self.listCapacity = listCapacity
    }

    /// Whether the controller receives a train, or waits for its first event.
    var isOn: Bool { request?.found != nil || trains.count > 0 }

    /// The time of the next loss of a train, or `nil` if there is no train.
    var due: AirTime? {
        var earliest = request?.found?.train.deadline
        for index in trains.indices { earliest = AirTime.earlier(earliest, trains[at: index].deadline) }
        return earliest
    }

    // MARK: Commands (Vol 4, Part E, 7.8.67 to 7.8.73 and 7.8.88)

    /// Performs LE Periodic Advertising Create Sync.
    mutating func create(_ reader: inout ByteReader) -> CommandAnswer? {
        guard let options = reader.readUInt8(), options < 8, let identifier = reader.readUInt8(),
            let kind = reader.readUInt8(), let address = reader.readAddress(kind: kind & 1),
            let skip = reader.readUInt16(), skip <= 0x01F3, let timeout = reader.readUInt16(),
            (0x000A...0x4000).contains(timeout), reader.readUInt8() != nil
        else { return nil }
        guard request == nil else { return .status(.commandDisallowed) }
        let usesList = options & 1 == 1
        guard usesList || identifier <= 0x0F && kind <= 1 else { return nil }
        let advertiser = Advertiser(address: address, identifier: identifier)
        if !usesList, trains.indices.contains(where: { trains[at: $0].advertiser == advertiser }) {
            return .status(.connectionAlreadyExists)
        }
        guard trains.count < Self.capacity else { return .status(.memoryCapacityExceeded) }
        request = Request(
            advertiser: usesList ? nil : advertiser, reports: options & 2 == 0,
            timeout: Int64(timeout) * 10_000)
        return .status(.success)
    }

    /// Performs LE Periodic Advertising Create Sync Cancel.
    mutating func cancel(_ outbox: inout ControllerOutbox) -> CommandAnswer {
        guard let request else { return .disallowed }
        self.request = nil
        reportEstablished(.operationCancelledByHost, request, &outbox)
        return .success
    }

    /// Performs LE Periodic Advertising Terminate Sync.
    mutating func terminate(_ reader: inout ByteReader) -> CommandAnswer? {
        guard let handle = reader.readUInt16() else { return nil }
        guard trains[handle] != nil else { return .complete(.unknownAdvertisingIdentifier) }
        trains[handle] = nil
        return .success
    }

    /// Performs LE Set Periodic Advertising Receive Enable.
    mutating func setReceiving(_ reader: inout ByteReader) -> CommandAnswer? {
        guard let handle = reader.readUInt16(), let enable = reader.readUInt8(), enable <= 3 else {
            return nil
        }
        guard let index = trains.index(of: handle) else { return .complete(.unknownAdvertisingIdentifier) }
        trains[at: index].reports = enable & 1 == 1
        return .success
    }

    /// Performs LE Add Device To Periodic Advertiser List.
    mutating func add(_ reader: inout ByteReader) -> CommandAnswer? {
        guard let entry = Self.entry(&reader) else { return nil }
        guard !usesList else { return .disallowed }
        guard !list.contains(entry) else { return nil }
        guard list.count < listCapacity else { return .complete(.memoryCapacityExceeded) }
        list.append(entry)
        return .success
    }

    /// Performs LE Remove Device From Periodic Advertiser List.
    mutating func remove(_ reader: inout ByteReader) -> CommandAnswer? {
        guard let entry = Self.entry(&reader) else { return nil }
        guard !usesList else { return .disallowed }
        guard let index = list.firstIndex(of: entry) else { return .complete(.unknownAdvertisingIdentifier) }
        list.remove(at: index)
        return .success
    }

    /// Performs LE Clear Periodic Advertiser List.
    mutating func clearList() -> CommandAnswer {
        guard !usesList else { return .disallowed }
        list = []
        return .success
    }

    /// Whether a pending request uses the periodic advertiser list, so that the list cannot be changed.
    private var usesList: Bool { request != nil && request?.advertiser == nil }

    private static func entry(_ reader: inout ByteReader) -> Advertiser? {
        guard let kind = reader.readUInt8(), kind <= 1, let address = reader.readAddress(kind: kind),
            let identifier = reader.readUInt8(), identifier <= 0x0F
        else { return nil }
        return Advertiser(address: address, identifier: identifier)
    }

    // MARK: The air

    /// Finds the train of a pending request in an advertisement that the scanner received.
    mutating func hear(_ advertisement: AirAdvertisement, _ identity: Identity, at now: AirTime) {
        guard let request, request.found == nil, let sync = advertisement.sync,
            let identifier = advertisement.identifier
        else { return }
        let isWanted: (Advertiser) -> Bool = { $0.identifier == identifier && identity.has($0.address) }
        guard request.advertiser.map(isWanted) ?? list.contains(where: isWanted) else { return }
        let advertiser = Advertiser(address: identity.address, identifier: identifier)
        guard !trains.indices.contains(where: { trains[at: $0].advertiser == advertiser }) else { return }
        let handle = (0..<UInt16(Self.capacity)).first { trains[$0] == nil }
        guard let handle else { return }
        let length = PeriodicTrain.microseconds(sync.interval)
        let train = Train(
            advertiser: advertiser, kindCode: identity.kindCode, access: sync.access, interval: sync.interval,
            phy: advertisement.secondaryPHY, reports: request.reports, timeout: request.timeout,
            deadline: now + Self.establishingEvents * length)
        self.request?.found = (handle, train)
    }

    /// Handles a periodic advertising event; the first one of a train establishes synchronization.
    mutating func receive(
        _ event: AirPeriodic, rssi: Int8, at now: AirTime, _ outbox: inout ControllerOutbox
    ) {
        if let request, let found = request.found, found.train.access == event.access {
            trains[found.handle] = found.train
            self.request = nil
            reportEstablished(.success, request, &outbox)
        }
        guard let index = trains.indices.first(where: { trains[at: $0].access == event.access }) else {
            return
        }
        trains[at: index].deadline = now + trains[at: index].timeout
        guard trains[at: index].reports else { return }
        report(event, handle: trains.keys[index], rssi: rssi, &outbox)
    }

    /// Reports the loss of each train from which no event was received in time.
    mutating func advance(to now: AirTime, _ outbox: inout ControllerOutbox) {
        if let request, let found = request.found, found.train.deadline <= now {
            self.request = nil
            reportEstablished(.connectionFailedToBeEstablished, request, &outbox)
        }
        while let index = trains.indices.first(where: { trains[at: $0].deadline <= now }) {
            let handle = trains.keys[index]
            trains[handle] = nil
            outbox.reportLE(HCIEvent.LESubevent.periodicSyncLost, littleEndian(handle))
        }
    }

    // MARK: Events

    /// Adds an LE Periodic Advertising Sync Established event (Vol 4, Part E, 7.7.65.14).
    private func reportEstablished(_ status: HCIStatus, _ request: Request, _ outbox: inout ControllerOutbox)
    {
        var writer = ByteWriter(capacity: 16)
        writer.write(status.code)
        if let (handle, train) = request.found {
            writer.write(handle)
            writer.write([train.advertiser.identifier, train.kindCode])
            writer.write(train.advertiser.address)
            writer.write(train.phy)
            writer.write(train.interval)
        } else {
            writer.write(repeatElement(0, count: 13))
        }
        // The clock accuracy, 500 ppm.
        writer.write(0 as UInt8)
        outbox.reportLE(HCIEvent.LESubevent.periodicSyncEstablished, writer.bytes)
    }

    /// Adds LE Periodic Advertising Reports, as many as the length of the data requires (7.7.65.15).
    private func report(
        _ event: AirPeriodic, handle: UInt16, rssi: Int8, _ outbox: inout ControllerOutbox
    ) {
        var rest = event.data[...]
        repeat {
            let piece = rest.prefix(Self.longestPiece)
            rest = rest.dropFirst(piece.count)
            var writer = ByteWriter(capacity: 8 + piece.count)
            writer.write(handle)
            // No Constant Tone Extension; then the data status, in which 1 means that more data follows.
            writer.write([
                UInt8(bitPattern: event.power), UInt8(bitPattern: rssi), 0xFF, rest.isEmpty ? 0 : 1,
            ])
            writer.write(UInt8(piece.count))
            writer.write(piece)
            outbox.reportLE(HCIEvent.LESubevent.periodicReport, writer.bytes)
        } while !rest.isEmpty
    }

    private func littleEndian(_ handle: UInt16) -> [UInt8] { [UInt8(handle & 0xFF), UInt8(handle >> 8)] }
}
