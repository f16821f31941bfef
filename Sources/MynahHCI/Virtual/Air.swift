package import MynahCore
import MynahSupport

/// The simulated medium between controllers: it delivers each PDU to the stations in range, and drops the
/// fraction `loss` of the PDUs.
///
/// This state machine has no I/O: its caller advances the time. One heap has the deadlines of all devices.
package struct Air: Sendable {
    /// An output of the medium.
    package enum Output: Hashable, Sendable {
        /// A packet for the host of a controller.
        case host(Station, H4Packet)
        /// A frame for the stations of other processes.
        case elsewhere(AirFrame)
        /// A frame for a capture; only if `isMonitored`.
        case captured(AirFrame)
    }

    private struct Member: Sendable {
        var controller: VirtualController
        var scheduled: AirTime?
        /// `true` if the station is in the list of listeners.
        var isListed = false
    }

    private struct Pair: Hashable, Sendable {
        var low: Station
        var high: Station

        init(_ one: Station, _ other: Station) {
            low = min(one, other)
            high = max(one, other)
        }

        func has(_ station: Station) -> Bool { low == station || high == station }
    }

    private struct NamedPair: Hashable, Sendable {
        var station: Station
        var device: DeviceAddress
    }

    /// The addresses of a device whose distance is set: the address under which it was set, and the last
    /// address on the air.
    private struct Names: Sendable {
        var set: DeviceAddress
        var latest: DeviceAddress

        func contains(_ device: DeviceAddress) -> Bool { set == device || latest == device }
    }

    private struct Delivery: Sendable {
        var from: Station
        var to: Station?
        var pdu: AirPDU
        /// The distance of the sender from all others.
        var distance: AirDistance
    }

    /// The position of a station relative to others.
    private enum Place: Sendable {
        case at(AirDistance)
        /// The station and the others do not receive each other.
        case outOfRange
    }

    /// The fraction of PDUs that are dropped, from 0 to 1.
    package var loss: Double = 0
    /// Whether the PDUs are also sent to stations of other processes.
    package var isShared = false
    /// Whether a capture records everything that is sent here or comes from other processes, including
    /// advertising.
    package var isMonitored = false
    /// The time on the air.
    package private(set) var now = AirTime.zero

    private var random: SeededRandom
    private var members = StationTable<Member>()
    private var listeners: [Station] = []
    private var heap = MinHeap<DueStation>()
    /// The positions of this process's stations, except those at the default distance.
    private var places: [Station: Place] = [:]
    /// The positions of two stations relative to each other, which override the position of each.
    private var pairs: [Pair: Place] = [:]
    /// The positions of stations relative to a device whose address is known, but not its station.
    ///
    /// They move to `pairs` when a packet of the device shows its station.
    private var named: [NamedPair: Place] = [:]
    /// The pairs of stations whose distance was set by the address of a device.
    private var known: [Pair: Names] = [:]
    private var deliveries: [Delivery] = []
    private var outputs: [Output] = []
    /// The outputs of the controller while it is being called; empty otherwise.
    private var found: [ControllerOutput] = []

    /// The RSSI in dBm below which a signal is not received.
    package static let sensitivity = -100

    /// The number of entries, in addition to two for each controller, above which the heap is rebuilt without
    /// outdated ones.
    static let spareEntries = 64

    /// Makes an empty air; all its random numbers follow from the seed.
    package init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    /// The number of controllers on the air.
    package var count: Int { members.count }

    /// Whether this process wants the advertising of other processes: a station scans or initiates, or a
    /// capture is running.
    package var wantsAdvertising: Bool { isMonitored || !listeners.isEmpty }

    /// The number of entries in the heap of due times.
    var dueCount: Int { heap.count }

    /// The time of the next event, or `nil` if none is scheduled.
    package var due: AirTime? { heap.first?.time }

    /// Adds a controller, and returns its station.
    package mutating func join(_ configuration: ControllerConfiguration) -> Station {
        var station = Station(random.next())
        while station.rawValue == 0 || members.index(of: station) != nil { station = Station(random.next()) }
        members.add(station, Member(controller: VirtualController(configuration, seed: random.next())))
        return station
    }

    /// Removes a controller; its link partners lose their links by supervision timeout.
    package mutating func leave(_ station: Station) {
        members.remove(station)
        listeners.removeAll { $0 == station }
        places[station] = nil
        pairs = pairs.filter { !$0.key.has(station) }
        named = named.filter { $0.key.station != station }
        known = known.filter { !$0.key.has(station) }
    }

    /// Sets the distance of a station from all others, including those of other processes.
    ///
    /// With `nil`, the station is out of range.
    package mutating func setDistance(_ distance: AirDistance?, of station: Station) {
        guard members.index(of: station) != nil else { return }
        places[station] = distance == .usual ? nil : distance.map { .at($0) } ?? .outOfRange
    }

    /// Sets the distance between two stations, which overrides the distance of each; with `nil` they do not
    /// receive each other.
    ///
    /// A station that is out of range of all others stays out of range. With `nil`, packets of a station of
    /// another process are not received by the station of this process.
    package mutating func setDistance(
        _ distance: AirDistance?, between one: Station, and other: Station
    ) {
        pairs[Pair(one, other)] = distance.map { .at($0) } ?? .outOfRange
    }

    /// Sets the distance between a station of this process and a device, which may be of another process.
    ///
    /// `device` is the address that the device uses on the air. The distance applies to a link between the
    /// two at once. Without a link, it applies from the next packet that the device advertises. After that,
    /// it stays in force even if the device changes its address.
    package mutating func setDistance(
        _ distance: AirDistance?, between station: Station, and device: DeviceAddress
    ) {
        let place = distance.map { Place.at($0) } ?? .outOfRange
        let before = known.filter { $0.key.has(station) && $0.value.contains(device) }
        for (pair, names) in before {
            named[NamedPair(station: station, device: names.set)] = nil
            pairs[pair] = place
            known[pair] = Names(set: device, latest: names.latest)
        }
        named[NamedPair(station: station, device: device)] = place
        guard let index = members.index(of: station),
            let other = members[at: index].controller.connections.station(of: device)
        else { return }
        pairs[Pair(station, other)] = place
        known[Pair(station, other)] = Names(set: device, latest: device)
    }

    /// Removes the distance that was set between a station of this process and the device with this address.
    package mutating func forgetDistance(between station: Station, and device: DeviceAddress) {
        named[NamedPair(station: station, device: device)] = nil
        for (pair, names) in known where pair.has(station) && names.contains(device) {
            named[NamedPair(station: station, device: names.set)] = nil
            pairs[pair] = nil
            known[pair] = nil
        }
    }

    /// The distance of a station of this process, or `nil` if it is out of range.
    private func distance(of station: Station) -> AirDistance? {
        guard !places.isEmpty else { return .usual }
        return switch places[station] {
        case .at(let distance): distance
        case .outOfRange: nil
        case nil: .usual
        }
    }

    /// The RSSI of a delivered PDU at a station of this process, in dBm, or `nil` if the signal is too weak
    /// or the PDU is dropped.
    private mutating func arrival(_ delivery: Delivery, _ to: Station, power: Int8) -> Int8? {
        guard let own = distance(of: to) else { return nil }
        var distance = max(delivery.distance, own)
        if !pairs.isEmpty {
            switch pairs[Pair(delivery.from, to)] {
            case .at(let metres): distance = metres
            case .outOfRange: return nil
            case nil: break
            }
        }
        let rssi = Int(power) - distance.pathLoss
        guard rssi >= Self.sensitivity else { return nil }
        if loss > 0, Double.random(in: 0..<1, using: &random) < loss { return nil }
        return Int8(min(max(rssi, -127), 20))
    }

    // MARK: - What comes

    /// Handles a packet from the host of a station's controller, and returns the outputs.
    package mutating func handle(_ packet: H4Packet, of station: Station) -> [Output] {
        receive(packet, of: station)
        return drain()
    }

    /// Handles a packet from the host of a station's controller; `drain` returns the outputs.
    mutating func receive(_ packet: H4Packet, of station: Station) {
        guard let index = members.index(of: station) else { return }
        members[at: index].controller.receive(packet, at: now)
        carry(index)
        deliver()
    }

    /// Handles a frame from another process, and returns the outputs.
    package mutating func handle(_ frame: AirFrame) -> [Output] {
        receive(frame)
        return drain()
    }

    /// Handles a frame from another process; `drain` returns the outputs.
    mutating func receive(_ frame: AirFrame) {
        // A frame from outside must not come from one of our own stations.
        guard members.index(of: frame.from) == nil else { return }
        if isMonitored { outputs.append(.captured(frame)) }
        deliveries.append(
            Delivery(from: frame.from, to: frame.to, pdu: frame.pdu, distance: frame.distance))
        deliver()
    }

    /// Advances the time, handles everything that is due in order, each at its time, and returns the outputs.
    package mutating func advance(to time: AirTime) -> [Output] {
        pass(to: time)
        return drain()
    }

    /// Advances the time, and handles everything that is due; `drain` returns the outputs.
    mutating func pass(to time: AirTime) {
        while let first = heap.first, first.time <= time {
            heap.removeFirst()
            // Of a station's entries only the last counts.
            guard let index = members.index(of: first.station),
                members[at: index].scheduled == first.time
            else { continue }
            members[at: index].scheduled = nil
            now = max(now, first.time)
            members[at: index].controller.pass(to: now)
            carry(index)
            deliver()
        }
        now = max(now, time)
    }

    /// Removes and returns the outputs since the last call.
    mutating func drain() -> [Output] {
        defer { outputs = [] }
        return outputs
    }

    /// Swaps the outputs with an empty array, so that neither array is allocated again.
    mutating func drain(into empty: inout [Output]) {
        swap(&outputs, &empty)
    }

    // MARK: - Carrying

    private mutating func carry(_ index: Int) {
        let station = members.station(at: index)
        // In turn with the controller's own, so that neither is made anew.
        swap(&found, &members[at: index].controller.outbox.outputs)
        for each in found {
            switch each {
            case .host(let packet): outputs.append(.host(station, packet))
            case .air(let pdu, let to):
                // Out of range nobody hears it, nor does a capture.
                guard let distance = distance(of: station) else { continue }
                if isMonitored {
                    outputs.append(
                        .captured(AirFrame(from: station, to: to, pdu: pdu, distance: distance)))
                }
                deliveries.append(Delivery(from: station, to: to, pdu: pdu, distance: distance))
            }
        }
        found.removeAll(keepingCapacity: true)
        let isListening = members[at: index].controller.isListening
        if isListening != members[at: index].isListed {
            members[at: index].isListed = isListening
            if !isListening {
                listeners.removeAll { $0 == station }
            } else {
                listeners.append(station)
                listeners.sort()
            }
        }
        if let due = members[at: index].controller.due,
            members[at: index].scheduled.map({ due < $0 }) ?? true
        {
            // An event that is already due comes next, and never twice at one time.
            let time = max(due, now + 1)
            members[at: index].scheduled = time
            heap.insert(DueStation(time: time, station: station))
            if heap.count > Self.spareEntries + 2 * members.count { forgetPassedOver() }
        }
    }

    /// Removes outdated entries from the heap.
    ///
    /// Otherwise they would stay until their time, which may be hours away.
    private mutating func forgetPassedOver() {
        heap = MinHeap()
        for index in members.indices {
            guard let time = members[at: index].scheduled else { continue }
            heap.insert(DueStation(time: time, station: members.station(at: index)))
        }
    }

    private mutating func deliver() {
        var index = 0
        while index < deliveries.count {
            let delivery = deliveries[index]
            index += 1
            if let to = delivery.to {
                if let index = members.index(of: to) {
                    deliver(delivery, to: index)
                } else if isShared, members.index(of: delivery.from) != nil, !isApart(delivery.from, to) {
                    share(delivery)
                }
                continue
            }
            for station in listeners where station != delivery.from {
                if let index = members.index(of: station) { deliver(delivery, to: index) }
            }
            if isShared, members.index(of: delivery.from) != nil { share(delivery) }
        }
        deliveries.removeAll(keepingCapacity: true)
    }

    private mutating func share(_ delivery: Delivery) {
        outputs.append(
            .elsewhere(
                AirFrame(
                    from: delivery.from, to: delivery.to, pdu: delivery.pdu, distance: delivery.distance)))
    }

    /// Whether two stations were set not to receive each other.
    private func isApart(_ one: Station, _ other: Station) -> Bool {
        if !pairs.isEmpty, case .outOfRange = pairs[Pair(one, other)] { true } else { false }
    }

    /// Notes the station of an advertising device, if its distance from the receiver was set by its address.
    private mutating func recognize(_ device: DeviceAddress, _ from: Station, _ to: Station) {
        let pair = Pair(from, to)
        if known[pair] != nil { known[pair]?.latest = device }
        guard let place = named[NamedPair(station: to, device: device)] else { return }
        pairs[pair] = place
        known[pair] = Names(set: device, latest: device)
    }

    private mutating func deliver(_ delivery: Delivery, to index: Int) {
        let power: Int8 =
            switch delivery.pdu {
            case .advertisement(let advertisement), .scanResponse(let advertisement): advertisement.power
            case .periodic(let event): event.power
            default: 0
            }
        if !named.isEmpty, case .advertisement(let advertisement) = delivery.pdu {
            recognize(advertisement.address, delivery.from, members.station(at: index))
        }
        guard let rssi = arrival(delivery, members.station(at: index), power: power) else { return }
        members[at: index].controller.receive(delivery.pdu, from: delivery.from, rssi: rssi, at: now)
        carry(index)
    }
}
