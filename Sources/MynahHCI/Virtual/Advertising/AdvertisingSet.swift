import MynahCore
import MynahSupport

/// An advertising set (Core Specification, Vol 4, Part E, 7.8.53); the legacy commands use the one with
/// handle 0.
struct AdvertisingSet: Sendable {
    /// The data of a set or of its scan responses, which may come in fragments.
    struct Payload: Sendable {
        var bytes: [UInt8] = []
        /// The fragments so far, or `nil` if none is missing.
        var fragments: [UInt8]?
    }

    /// The transmit power that a set can have, in dBm.
    static let power: ClosedRange<Int8> = -20...8

    var parameters = Parameters()
    var randomAddress: DeviceAddress?
    var data = Payload()
    var response = Payload()

    private(set) var isOn = false
    /// The address on the air while the set is on.
    var onAir: DeviceAddress?
    /// When its last advertising event was.
    private(set) var lastEvent = AirTime.zero
    /// When the next advertising event is due.
    private(set) var next: AirTime?
    /// When the set stops by itself, or `nil` if it has no duration.
    private(set) var end: AirTime?
    private var eventLimit: Int?
    /// The advertising events since the set was enabled.
    private(set) var events = 0

    /// Whether the set has had all the advertising events that the host asked for.
    var isAtLimit: Bool { eventLimit.map { events >= $0 } ?? false }

    /// The number of events as Advertising Set Terminated reports it.
    var eventCode: UInt8 { UInt8(min(events, 255)) }

    /// Whether an advertisement of the set carries its data.
    ///
    /// A directed legacy PDU has no data, and an extended scannable one has it in the scan response.
    var hasData: Bool {
        let properties = parameters.properties
        return properties.contains(.legacy)
            ? !properties.contains(.directed) : !properties.contains(.scannable)
    }

    /// Enables the set, or returns why it cannot be enabled.
    ///
    /// `duration` is in units of 10 ms, and `limit` is a number of events; 0 means no limit. `hasRoom` says
    /// whether the controller can hold another connection. A set that is on keeps its rhythm.
    mutating func start(
        duration: UInt16, limit: UInt8, hasRoom: Bool, at now: AirTime,
        _ addresses: inout ControllerAddresses,
        _ random: inout SeededRandom
    ) -> HCIStatus? {
        let properties = parameters.properties
        guard data.fragments == nil, response.fragments == nil else { return .commandDisallowed }
        if !properties.contains(.legacy), properties.contains(.scannable), response.bytes.isEmpty {
            return .commandDisallowed
        }
        guard let address = ownAddress(at: now, &addresses, &random) else { return .invalidCommandParameters }
        if properties.contains(.connectable), !hasRoom { return .connectionLimitExceeded }
        let wasOn = isOn
        isOn = true
        onAir = address
        events = 0
        eventLimit = limit == 0 ? nil : Int(limit)
        end = duration == 0 ? nil : now + Int64(duration) * 10_000
        if parameters.isHighDuty { end = min(end ?? now + 1_280_000, now + 1_280_000) }
        if !wasOn || next == nil { next = now + Self.delay(&random) }
        return nil
    }

    mutating func stop() {
        isOn = false
        onAir = nil
        next = nil
        end = nil
    }

    /// Counts an event that was due at `moment`, and schedules the next one.
    ///
    /// A late event doesn't shift those after it; events that were missed are left out.
    mutating func countEvent(dueAt moment: AirTime, at now: AirTime, _ random: inout SeededRandom) {
        events += 1
        lastEvent = now
        let interval = parameters.isHighDuty ? parameters.interval : parameters.interval + Self.delay(&random)
        let following = moment + interval
        next = following > now ? following : now + interval
    }

    /// The address that the set would advertise with now, or `nil` if the controller has none of its type.
    func ownAddress(
        at now: AirTime, _ addresses: inout ControllerAddresses, _ random: inout SeededRandom
    ) -> DeviceAddress? {
        addresses.own(
            parameters.ownType, peer: parameters.peer, randomAddress: randomAddress, at: now, &random)
    }

    /// The address of the device that the set is directed to: one that its own key made, if the resolving
    /// list has the key.
    func targetAddress(
        at now: AirTime, _ resolving: inout ResolvingList, _ random: inout SeededRandom
    ) -> DeviceAddress? {
        guard parameters.properties.contains(.directed), let peer = parameters.peer else { return nil }
        guard parameters.ownType >= 2 else { return peer }
        return resolving.targetAddress(of: peer, at: now, &random) ?? peer
    }

    /// An advertisement of the set, or a scan response.
    func advertisement(
        from address: DeviceAddress, target: DeviceAddress? = nil, isResponse: Bool
    ) -> AirAdvertisement {
        AirAdvertisement(
            isResponse ? parameters.properties.union(.scanResponse) : parameters.properties, address: address,
            target: target, identifier: parameters.identifier, secondaryPHY: parameters.secondaryPHY,
            isPrimaryCoded: parameters.isPrimaryCoded,
            power: parameters.power, data: isResponse ? response.bytes : hasData ? data.bytes : [])
    }

    /// advDelay, in microseconds (Vol 6, Part B, 4.4.2.2.1).
    private static func delay(_ random: inout SeededRandom) -> Int64 {
        Int64.random(in: 0...10_000, using: &random)
    }
}
