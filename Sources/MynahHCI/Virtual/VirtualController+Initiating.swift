import MynahCore
import MynahSupport

// Connecting (Core Specification, Vol 4, Part E, 7.8.12, 7.8.13, 7.8.66; Vol 6, Part B, 4.4.4).
extension VirtualController {
    mutating func createConnection(_ reader: inout ByteReader) -> Answer? {
        guard let interval = reader.readUInt16(), let window = reader.readUInt16(),
            (4...0x4000).contains(interval), (4...interval).contains(window),
            let policy = reader.readUInt8(), policy <= 1, let peerKind = reader.readUInt8(), peerKind <= 3,
            let peer = reader.readAddress(kind: peerKind), let own = reader.readUInt8(), own <= 3,
            let parameters = linkParameters(&reader)
        else { return nil }
        return initiate(policy == 0 ? peer : nil, own: own, parameters)
    }

    mutating func createExtendedConnection(_ reader: inout ByteReader) -> Answer? {
        guard let policy = reader.readUInt8(), policy <= 1, let own = reader.readUInt8(), own <= 3,
            let peerKind = reader.readUInt8(), peerKind <= 3, let peer = reader.readAddress(kind: peerKind),
            let phys = reader.readUInt8(), (1...7).contains(phys),
            reader.remaining == 16 * phys.nonzeroBitCount
        else { return nil }
        var found: LEConnection.Parameters?
        for _ in 0..<phys.nonzeroBitCount {
            guard let interval = reader.readUInt16(), let window = reader.readUInt16(), interval >= 4,
                (4...interval).contains(window), let parameters = linkParameters(&reader)
            else { return nil }
            found = found ?? parameters
        }
        guard let found else { return nil }
        return initiate(policy == 0 ? peer : nil, own: own, found)
    }

    /// The parameters of a link to be; the shortest interval that the host takes.
    func linkParameters(_ reader: inout ByteReader) -> LEConnection.Parameters? {
        guard let minimum = reader.readUInt16(), let maximum = reader.readUInt16(),
            let latency = reader.readUInt16(), let timeout = reader.readUInt16(),
            let shortest = reader.readUInt16(), let longest = reader.readUInt16(), minimum <= maximum,
            shortest <= longest
        else { return nil }
        let widest = LEConnection.Parameters(interval: maximum, latency: latency, timeout: timeout)
        let found = LEConnection.Parameters(interval: minimum, latency: latency, timeout: timeout)
        return widest.isPossible && found.isPossible ? found : nil
    }

    private mutating func initiate(
        _ peer: DeviceAddress?, own: UInt8, _ parameters: LEConnection.Parameters
    ) -> Answer {
        guard initiation == nil else { return .begun(.commandDisallowed) }
        if let peer, links.values.contains(where: { $0.peer.address == peer && $0.role == .central }) {
            return .begun(.connectionAlreadyExists)
        }
        guard links.count < configuration.linkCount else { return .begun(.connectionLimitExceeded) }
        guard own & 1 == 0 || own >= 2 || randomAddress != nil else {
            return .begun(.invalidCommandParameters)
        }
        initiation = Initiation(peer: peer, ownKind: own, parameters: parameters)
        return .begun(.success)
    }

    mutating func cancelConnection() -> Answer {
        guard let wanted = initiation else { return .disallowed }
        initiation = nil
        tellConnection(
            .unknownConnectionIdentifier, link: nil, role: .central,
            peer: wanted.peer ?? DeviceAddress(value: 0, kind: .public) ?? configuration.address)
        return .done
    }

    /// Answers an advertisement with CONNECT_IND, where it is the one that the host waits for.
    mutating func initiate(
        _ advertisement: AirAdvertisement, _ identity: Identity, from station: Station, rssi: Int8
    ) {
        guard let wanted = initiation, advertisement.properties.contains(.connectable),
            links.count < configuration.linkCount
        else { return }
        if let peer = wanted.peer {
            guard identity.address == peer || advertisement.address == peer else { return }
        } else {
            guard acceptList.contains(identity.address) else { return }
        }
        guard let own = ownAddress(wanted.ownKind, peer: identity.address, randomAddress: randomAddress)
        else { return }
        if let target = advertisement.target, !isOwn(target, own) { return }
        guard let number = freeHandle() else { return }
        initiation = nil
        var access = UInt32.random(in: 1...UInt32.max, using: &random)
        while hasLink(access, with: station) { access = access == .max ? 1 : access + 1 }
        var link = VirtualLink(
            handle: number, role: .central, station: station, access: access, peer: identity, local: own,
            parameters: wanted.parameters, now: now)
        link.rssi = rssi
        links[number] = link
        let initiator =
            advertisement.target.flatMap { isOwn($0, own) && $0.kind == .random ? $0 : nil } ?? own
        outputs.append(
            .air(
                .connect(
                    AirConnect(
                        initiator: initiator, advertiser: advertisement.address, access: access,
                        parameters: wanted.parameters)), to: station))
        tellConnection(.success, link: link, role: .central, peer: identity.address)
        begin(number)
    }

    /// LE Connection Complete, or the enhanced one where the host wants that (Vol 4, Part E, 7.7.65.1 and 7.7.65.10).
    mutating func tellConnection(
        _ status: HCIStatus, link: VirtualLink?, role: LEConnection.Role, peer: DeviceAddress
    ) {
        let isEnhanced = wantsLE(HCIEvent.LESubevent.enhancedConnectionComplete)
        var writer = ByteWriter(capacity: 32)
        writer.write(status.code)
        writer.write(link?.handle ?? 0)
        writer.write(role.rawValue)
        let isResolved = link?.peer.onAir != nil
        writer.write(peer.kindCode + (isResolved && isEnhanced ? 2 : 0))
        writer.write(peer)
        if isEnhanced {
            let none = [UInt8](repeating: 0, count: 6)
            if let local = link?.local, resolving.entries.contains(where: { $0.local == local }) {
                writer.write(local)
            } else {
                writer.write(none)
            }
            if let onAir = link?.peer.onAir { writer.write(onAir) } else { writer.write(none) }
        }
        if let link {
            writer.write(link.parameters)
        } else {
            writer.write([UInt8](repeating: 0, count: 6))
        }
        writer.write(0 as UInt8)
        tellLE(
            isEnhanced
                ? HCIEvent.LESubevent.enhancedConnectionComplete : HCIEvent.LESubevent.connectionComplete,
            writer.bytes)
    }
}
