import MynahCore
import MynahSupport

/// The advertising state of a link layer: the advertising sets, their events, and their answers to requests
/// (Core Specification, Vol 6, Part B, 4.4.2).
struct Advertiser: Sendable {
    /// A set that stopped because another station has connected to it.
    struct Connected: Hashable, Sendable {
        var set: UInt8
        var events: UInt8
        var peer: Identity

        /// Reports the end of the set to a host that uses extended commands (Vol 4, Part E, 7.7.65.18).
        func report(connection: ConnectionHandle, to outbox: inout ControllerOutbox) {
            guard outbox.isExtended else { return }
            outbox.reportLE(
                HCIEvent.LESubevent.advertisingSetTerminated,
                [0, set] + connection.littleEndianBytes + [events])
        }
    }

    /// The largest number of data bytes in a legacy PDU.
    static let longestLegacyData = 31

    /// The largest number of sets.
    let capacity: Int
    var sets = SortedMap<UInt8, AdvertisingSet>()

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Whether a set is enabled.
    var isOn: Bool { sets.indices.contains { sets[at: $0].isOn } }

    /// Whether an enabled set uses the filter accept list.
    var usesAcceptList: Bool {
        sets.indices.contains { sets[at: $0].isOn && sets[at: $0].parameters.policy != 0 }
    }

    /// The time of the next advertising event or of the end of a set, or `nil` if there is none.
    var due: AirTime? {
        var earliest: AirTime?
        for index in sets.indices {
            earliest = AirTime.earlier(earliest, sets[at: index].periodic.next)
            guard sets[at: index].isOn else { continue }
            earliest = AirTime.earlier(earliest, sets[at: index].next)
            earliest = AirTime.earlier(earliest, sets[at: index].end)
        }
        return earliest
    }

    /// Sends the advertisements that are due, and ends the sets whose duration is over.
    mutating func advance(
        to now: AirTime, _ addresses: inout ControllerAddresses, _ random: inout SeededRandom,
        _ outbox: inout ControllerOutbox
    ) {
        for index in sets.indices {
            if let next = sets[at: index].periodic.next, next <= now {
                advertisePeriodically(index, now, &outbox)
            }
            guard sets[at: index].isOn else { continue }
            if let end = sets[at: index].end, end <= now {
                let isTimeout = sets[at: index].parameters.isHighDuty || outbox.isExtended
                finish(index, isTimeout ? .advertisingTimeout : .success, addresses.publicAddress, &outbox)
            } else if let next = sets[at: index].next, next <= now {
                advertise(index, dueAt: next, at: now, &addresses, &random, &outbox)
            }
        }
    }

    private mutating func advertise(
        _ index: Int, dueAt moment: AirTime, at now: AirTime, _ addresses: inout ControllerAddresses,
        _ random: inout SeededRandom, _ outbox: inout ControllerOutbox
    ) {
        if let address = sets[at: index].ownAddress(at: now, &addresses, &random) {
            sets[at: index].onAir = address
        }
        guard let address = sets[at: index].onAir else { return }
        sets[at: index].countEvent(dueAt: moment, at: now, &random)
        let target = sets[at: index].targetAddress(at: now, &addresses.resolving, &random)
        outbox.transmit(
            .advertisement(sets[at: index].advertisement(from: address, target: target, isResponse: false)),
            to: nil)
        if sets[at: index].isAtLimit { finish(index, .limitReached, addresses.publicAddress, &outbox) }
    }

    private mutating func advertisePeriodically(
        _ index: Int, _ now: AirTime, _ outbox: inout ControllerOutbox
    ) {
        let parameters = sets[at: index].parameters
        let event = sets[at: index].periodic.event(
            at: now, phy: parameters.secondaryPHY, power: parameters.power)
        if let event { outbox.transmit(.periodic(event), to: nil) }
    }

    /// Ends a set without a connection, and reports the end.
    private mutating func finish(
        _ index: Int, _ status: HCIStatus, _ publicAddress: DeviceAddress, _ outbox: inout ControllerOutbox
    ) {
        sets[at: index].stop()
        if outbox.isExtended {
            outbox.reportLE(
                HCIEvent.LESubevent.advertisingSetTerminated,
                [status.code, sets.keys[index], 0, 0, sets[at: index].eventCode])
        } else if sets[at: index].parameters.isHighDuty {
            ConnectionComplete(
                status, role: .peripheral, peer: sets[at: index].parameters.peer ?? publicAddress
            ).report(to: &outbox)
        }
    }

    // MARK: Requests of other stations

    /// The index of the set that a request is for, or `nil` if there is none.
    ///
    /// Of the sets with this address and Advertising SID, it is the one that was advertised last, because a
    /// request follows the PDU that it answers.
    private func index(
        of address: DeviceAddress, _ identifier: UInt8?, _ wanted: AirAdvertisement.Properties
    ) -> Int? {
        var found: Int?
        for index in sets.indices {
            let set = sets[at: index]
            guard set.isOn, set.onAir == address, set.parameters.identifier == identifier,
                set.parameters.properties.contains(wanted)
            else { continue }
            if let best = found, set.lastEvent <= sets[at: best].lastEvent { continue }
            found = index
        }
        return found
    }

    /// Answers a scan request, if it is for an enabled set and its filter policy allows the scanner.
    mutating func answerScan(
        of advertiser: DeviceAddress, _ identifier: UInt8?, by scanner: DeviceAddress,
        from station: Station, _ acceptList: FilterAcceptList, _ resolving: inout ResolvingList,
        _ outbox: inout ControllerOutbox
    ) {
        guard let index = index(of: advertiser, identifier, .scannable) else { return }
        let identity = resolving.resolve(scanner)
        let isFiltered = sets[at: index].parameters.policy & 1 != 0
        guard !isFiltered || acceptList.contains(identity), identity.isAllowed else { return }
        outbox.transmit(
            .scanResponse(sets[at: index].advertisement(from: advertiser, isResponse: true)), to: station)
        guard sets[at: index].parameters.reportsScanRequests else { return }
        var writer = ByteWriter()
        writer.write(sets.keys[index])
        writer.write(identity.kindCode)
        writer.write(identity.address)
        outbox.reportLE(HCIEvent.LESubevent.scanRequestReceived, writer.bytes)
    }

    /// Accepts a connection request, and stops the set that it is for (Vol 6, Part B, 4.5.4).
    ///
    /// `canConnect` is `true` if the controller has room for the connection. Returns `nil` if the request is
    /// not for an enabled set, or if the set's filter policy refuses the initiator.
    mutating func accept(
        _ connect: AirConnect, canConnect: Bool, _ acceptList: FilterAcceptList,
        _ resolving: inout ResolvingList
    ) -> Connected? {
        guard let index = index(of: connect.advertiser, connect.identifier, .connectable) else { return nil }
        let identity = resolving.resolve(connect.initiator)
        let parameters = sets[at: index].parameters
        guard identity.isAllowed else { return nil }
        if parameters.properties.contains(.directed) {
            guard let peer = parameters.peer, identity.address == peer || connect.initiator == peer
            else { return nil }
        } else if parameters.policy & 2 != 0 {
            guard acceptList.contains(identity) else { return nil }
        }
        guard canConnect else { return nil }
        sets[at: index].stop()
        return Connected(set: sets.keys[index], events: sets[at: index].eventCode, peer: identity)
    }
}
