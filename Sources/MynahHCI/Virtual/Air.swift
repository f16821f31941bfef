#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What lies between controllers: it carries what one sends to those who hear it, as far and as reliably as it is told to.
///
/// A machine without I/O; time moves when it is told to, and many devices cost one heap of due times.
public struct Air: Sendable {
    /// What it wants done.
    public enum Output: Hashable, Sendable {
        /// A packet for the host of a controller.
        case host(Station, H4Packet)
        /// A frame for the stations of other processes.
        case elsewhere(AirFrame)
    }

    private struct Member: Sendable {
        var controller: VirtualController
        var scheduled: AirTime?
    }

    private struct Pair: Hashable, Sendable {
        var low: Station
        var high: Station

        init(_ one: Station, _ other: Station) {
            low = min(one, other)
            high = max(one, other)
        }
    }

    private struct Delivery: Sendable {
        var from: Station
        var to: Station?
        var pdu: AirPDU
    }

    /// How much is lost, from 0 for nothing to 1 for everything.
    public var loss: Double = 0
    /// Whether stations of other processes hear this one.
    public var isShared = false
    /// What time it is on it.
    public private(set) var now = AirTime.zero

    private var random: SplitMix
    private var members: [Station: Member] = [:]
    private var listeners: [Station] = []
    private var heap = DueHeap()
    private var distances: [Pair: Double] = [:]
    private var deliveries: [Delivery] = []
    private var outputs: [Output] = []

    /// Signals weaker than this are not heard, in dBm.
    public static let sensitivity = -100

    /// How many entries beyond two for each controller are borne before those that say nothing are thrown out.
    static let spareEntries = 64

    /// An empty air; whatever is drawn on it follows from the seed.
    public init(seed: UInt64) {
        random = SplitMix(seed: seed)
    }

    /// How many controllers are on it.
    public var count: Int { members.count }

    /// How many entries are held of when something is due.
    var dueCount: Int { heap.count }

    /// When something is due next; nil: never.
    public var due: AirTime? { heap.first?.time }

    /// Puts a controller on it, and returns what it is called there.
    public mutating func join(_ configuration: ControllerConfiguration) -> Station {
        var station = Station(random.next())
        while station.rawValue == 0 || members[station] != nil { station = Station(random.next()) }
        members[station] = Member(controller: VirtualController(configuration, seed: random.next()))
        return station
    }

    /// Takes a controller off it; those who had a link with it notice its silence.
    public mutating func leave(_ station: Station) {
        members[station] = nil
        listeners.removeAll { $0 == station }
        distances = distances.filter { $0.key.low != station && $0.key.high != station }
    }

    /// How far two stations are apart, in metres, one unless said; infinitely far, they don't hear each other.
    public mutating func setDistance(_ metres: Double, between one: Station, and other: Station) {
        distances[Pair(one, other)] = metres
    }

    /// How loud something arrives; nil: too weak, or lost.
    private mutating func arrival(_ from: Station, _ to: Station, power: Int8) -> Int8? {
        // 40 dB over the first metre of free space at 2.4 GHz, 20 dB more for ten times as far.
        var rssi = Int(power) - 40
        if let metres = distances[Pair(from, to)] {
            guard metres.isFinite else { return nil }
            rssi -= Int((20 * log10(min(max(metres, 0.1), 1_000_000))).rounded())
        }
        guard rssi >= Self.sensitivity else { return nil }
        if loss > 0, Double.random(in: 0..<1, using: &random) < loss { return nil }
        return Int8(min(max(rssi, -127), 20))
    }

    // MARK: - What comes

    /// Takes a packet of a controller's host.
    public mutating func take(_ packet: H4Packet, of station: Station) -> [Output] {
        guard let found = members[station]?.controller.take(packet, at: now) else { return [] }
        carry(found, of: station)
        return settle()
    }

    /// Takes a frame of another process.
    public mutating func take(_ frame: AirFrame) -> [Output] {
        // Who speaks for one of ours is no one.
        guard members[frame.from] == nil else { return [] }
        deliveries.append(Delivery(from: frame.from, to: frame.to, pdu: frame.pdu))
        return settle()
    }

    /// Moves the time, and does what became due, each at its moment.
    public mutating func advance(to time: AirTime) -> [Output] {
        while let first = heap.first, first.time <= time {
            heap.removeFirst()
            // Of a station's entries only the last counts.
            guard members[first.station]?.scheduled == first.time else { continue }
            members[first.station]?.scheduled = nil
            now = max(now, first.time)
            let found = members[first.station]?.controller.advance(to: now) ?? []
            carry(found, of: first.station)
            deliver()
        }
        now = max(now, time)
        return settle()
    }

    // MARK: - Carrying

    private mutating func carry(_ found: [VirtualController.Output], of station: Station) {
        for each in found {
            switch each {
            case .host(let packet): outputs.append(.host(station, packet))
            case .air(let pdu, let to): deliveries.append(Delivery(from: station, to: to, pdu: pdu))
            }
        }
        guard let controller = members[station]?.controller else { return }
        let isListed = listeners.contains(station)
        if controller.isListening != isListed {
            if isListed {
                listeners.removeAll { $0 == station }
            } else {
                listeners.append(station)
                listeners.sort()
            }
        }
        if let due = controller.due, members[station]?.scheduled.map({ due < $0 }) ?? true {
            // What is due already comes next, and never again at once.
            let time = max(due, now + 1)
            members[station]?.scheduled = time
            heap.insert(DueHeap.Entry(time: time, station: station))
            if heap.count > Self.spareEntries + 2 * members.count { forgetPassedOver() }
        }
    }

    /// Entries that an earlier one has passed over stay until their time comes, which may be hours away.
    private mutating func forgetPassedOver() {
        heap = DueHeap()
        for (station, member) in members {
            if let time = member.scheduled { heap.insert(DueHeap.Entry(time: time, station: station)) }
        }
    }

    private mutating func settle() -> [Output] {
        deliver()
        guard !outputs.isEmpty else { return [] }
        defer { outputs.removeAll(keepingCapacity: true) }
        return outputs
    }

    private mutating func deliver() {
        var index = 0
        while index < deliveries.count {
            let delivery = deliveries[index]
            index += 1
            if let to = delivery.to {
                if members[to] != nil {
                    hand(delivery, to: to)
                } else if isShared, members[delivery.from] != nil {
                    outputs.append(.elsewhere(AirFrame(from: delivery.from, to: to, pdu: delivery.pdu)))
                }
                continue
            }
            for station in listeners where station != delivery.from { hand(delivery, to: station) }
            if isShared, members[delivery.from] != nil {
                outputs.append(.elsewhere(AirFrame(from: delivery.from, to: nil, pdu: delivery.pdu)))
            }
        }
        deliveries.removeAll(keepingCapacity: true)
    }

    private mutating func hand(_ delivery: Delivery, to station: Station) {
        let power: Int8 =
            switch delivery.pdu {
            case .advertisement(let advertisement), .scanResponse(let advertisement): advertisement.power
            default: 0
            }
        guard let rssi = arrival(delivery.from, station, power: power),
            let found = members[station]?.controller.take(
                delivery.pdu, from: delivery.from, rssi: rssi, at: now)
        else { return }
        carry(found, of: station)
    }
}
