import MynahCore
import MynahSupport

// Advertising on the air (Core Specification, Vol 6, Part B, 4.4.2).
extension VirtualController {
    /// Sends what is due, and ends sets whose time is over.
    mutating func advertise() {
        for handle in sets.keys.sorted() {
            guard let set = sets[handle], set.isOn else { continue }
            if let end = set.end, end <= now {
                finish(
                    handle, set.parameters.isHighDuty || style == .extended ? .advertisingTimeout : .success)
                continue
            }
            guard let next = set.next, next <= now else { continue }
            send(handle, at: next)
        }
    }

    private mutating func send(_ handle: UInt8, at moment: AirTime) {
        guard var set = sets[handle] else { return }
        let parameters = set.parameters
        if let address = ownAddress(
            parameters.ownKind, peer: parameters.peer, randomAddress: set.randomAddress)
        {
            set.onAir = address
        }
        guard let address = set.onAir else { return }
        set.events += 1
        // An event is late by what it waited; the rhythm is not. What was slept through is not caught up.
        let interval = parameters.isHighDuty ? parameters.interval : parameters.interval + delay()
        let next = moment + interval
        set.next = next > now ? next : now + interval
        sets[handle] = set
        let isDirected = parameters.properties.contains(.directed)
        let hasData =
            parameters.properties.contains(.legacy)
            ? !isDirected : !parameters.properties.contains(.scannable)
        outputs.append(
            .air(
                .advertisement(
                    AirAdvertisement(
                        parameters.properties, address: address,
                        target: isDirected ? directedAddress(parameters) : nil,
                        identifier: parameters.identifier, secondaryPHY: parameters.secondaryPHY,
                        power: parameters.power, data: hasData ? set.data : [])), to: nil))
        if let limit = set.eventLimit, set.events >= limit { finish(handle, .limitReached) }
    }

    /// The peer as it is called now: by an address that its own key made, where the resolving list has one.
    private mutating func directedAddress(_ parameters: AdvertisingSet.Parameters) -> DeviceAddress? {
        guard let peer = parameters.peer else { return nil }
        guard parameters.ownKind >= 2 else { return peer }
        return peerAddress(of: peer) ?? peer
    }

    /// Ends a set without a link, and says so.
    private mutating func finish(_ handle: UInt8, _ status: HCIStatus) {
        guard let set = sets[handle] else { return }
        sets[handle]?.stop()
        if style == .extended {
            tellLE(
                HCIEvent.LESubevent.advertisingSetTerminated,
                [status.code, handle, 0, 0, UInt8(min(set.events, 255))])
        } else if set.parameters.isHighDuty {
            tellConnection(
                status, link: nil, role: .peripheral,
                peer: set.parameters.peer ?? configuration.address)
        }
    }

    // MARK: - Answers

    private func set(of address: DeviceAddress, _ wanted: AirAdvertisement.Properties) -> UInt8? {
        sets.keys.sorted().first { handle in
            guard let set = sets[handle], set.isOn, set.onAir == address else { return false }
            return set.parameters.properties.contains(wanted)
        }
    }

    mutating func answerScan(from station: Station, _ scanner: DeviceAddress, _ advertiser: DeviceAddress) {
        guard let handle = set(of: advertiser, .scannable), let set = sets[handle] else { return }
        let identity = resolve(scanner)
        guard set.parameters.policy & 1 == 0 || acceptList.contains(identity.address), identity.isAllowed
        else { return }
        let properties = set.parameters.properties
        outputs.append(
            .air(
                .scanResponse(
                    AirAdvertisement(
                        properties.union(.scanResponse), address: advertiser,
                        identifier: set.parameters.identifier, secondaryPHY: set.parameters.secondaryPHY,
                        power: set.parameters.power, data: set.response)), to: station))
        if set.parameters.tellsScanRequests {
            var writer = ByteWriter()
            writer.write(handle)
            writer.write(identity.kindCode)
            writer.write(identity.address)
            tellLE(HCIEvent.LESubevent.scanRequestReceived, writer.bytes)
        }
    }

    /// Takes a link that another station wants (Vol 6, Part B, 4.5.4).
    mutating func accept(_ connect: AirConnect, from station: Station, rssi: Int8) {
        guard let handle = set(of: connect.advertiser, .connectable), let set = sets[handle] else { return }
        let identity = resolve(connect.initiator)
        let parameters = set.parameters
        guard identity.isAllowed else { return }
        if parameters.properties.contains(.directed) {
            guard let peer = parameters.peer, identity.address == peer || connect.initiator == peer
            else { return }
        } else if parameters.policy & 2 != 0 {
            guard acceptList.contains(identity.address) else { return }
        }
        guard connect.parameters.isPossible, links.count < configuration.linkCount,
            let number = freeHandle(), !hasLink(connect.access, with: station)
        else { return }
        sets[handle]?.stop()
        var link = VirtualLink(
            handle: number, role: .peripheral, station: station, access: connect.access,
            peer: identity, local: connect.advertiser, parameters: connect.parameters, now: now)
        link.isEstablished = true
        link.rssi = rssi
        links[number] = link
        tellConnection(.success, link: link, role: .peripheral, peer: identity.address)
        if style == .extended {
            tellLE(
                HCIEvent.LESubevent.advertisingSetTerminated,
                [
                    0, handle, UInt8(number & 0xFF), UInt8(number >> 8), UInt8(min(set.events, 255)),
                ])
        }
        begin(number)
    }
}
