import MynahCore
import MynahSupport

/// An advertising set (Core Specification, Vol 4, Part E, 7.8.53); legacy commands use the set with handle 0.
struct AdvertisingSet: Sendable {
    /// The advertising data or the scan response data of a set, which the host may send in fragments.
    struct Payload: Sendable {
        var bytes: [UInt8] = []
        /// The fragments so far, or `nil` if all were received.
        var fragments: [UInt8]?
    }

    /// The range of the transmit power of a set, in dBm.
    static let power: ClosedRange<Int8> = -20...8

    var parameters = Parameters()
    var randomAddress: DeviceAddress?
    var data = Payload()
    var response = Payload()
    /// The periodic advertising of the set.
    var periodic = PeriodicTrain()

    private(set) var isOn = false
    /// The address on the air while the set is enabled.
    var onAir: DeviceAddress?
    /// The time of the last advertising event.
    private(set) var lastEvent = AirTime.zero
    /// The time of the next advertising event.
    private(set) var next: AirTime?
    /// The time at which the set stops by itself, or `nil` if it has no duration.
    private(set) var end: AirTime?
    private var eventLimit: Int?
    /// The number of advertising events since the set was enabled.
    private(set) var events = 0

    /// Whether the set has sent all the advertising events that the host requested.
    var isAtLimit: Bool { eventLimit.map { events >= $0 } ?? false }

    /// The number of events in Advertising Set Terminated.
    var eventCode: UInt8 { UInt8(min(events, 255)) }

    /// Whether the advertising PDU of the set carries its data.
    ///
    /// A directed legacy PDU has no data, and an extended scannable PDU has its data in the scan response.
    var hasData: Bool {
        let properties = parameters.properties
        return properties.contains(.legacy)
            ? !properties.contains(.directed) : !properties.contains(.scannable)
    }

    /// Enables the set, or returns the error.
    ///
    /// `duration` is in units of 10 ms, and `limit` is a number of events; 0 means no limit. `hasRoom` is
    /// `true` if the controller has room for another connection. A set that is enabled already keeps the
    /// times of its events.
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
        periodic.startIfEnabled(at: now, &random)
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
    /// A late event does not delay the later events; missed events are left out.
    mutating func countEvent(dueAt moment: AirTime, at now: AirTime, _ random: inout SeededRandom) {
        events += 1
        lastEvent = now
        let interval = parameters.isHighDuty ? parameters.interval : parameters.interval + Self.delay(&random)
        let following = moment + interval
        next = following > now ? following : now + interval
    }

    /// The address with which the set would advertise now.
    ///
    /// The value is `nil` if the controller has no address of the type that the host requested for the set.
    func ownAddress(
        at now: AirTime, _ addresses: inout ControllerAddresses, _ random: inout SeededRandom
    ) -> DeviceAddress? {
        addresses.own(
            parameters.ownType, peer: parameters.peer, randomAddress: randomAddress, at: now, &random)
    }

    /// The address of the target of directed advertising, which is a resolvable private address if the
    /// resolving list has the target's IRK.
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
            power: parameters.power, sync: periodic.information,
            data: isResponse ? response.bytes : hasData ? data.bytes : [])
    }

    /// A random advDelay, in microseconds (Vol 6, Part B, 4.4.2.2.1).
    private static func delay(_ random: inout SeededRandom) -> Int64 {
        Int64.random(in: 0...10_000, using: &random)
    }
}
