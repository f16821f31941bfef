import MynahCore
import MynahHCI
import MynahSupport

// The services that every server has, and what they are for.
extension HostRadio {
    /// GAP and GATT (Core Specification, Vol 3, Part C, 12 and Part G, 7).
    func publishOwnServices() {
        let name = CharacteristicDefinition(
            uuid: AttributeType.deviceName, properties: .read, value: Array(identity.name.utf8.prefix(248)))
        var writer = ByteWriter(capacity: 2)
        writer.write(identity.appearance ?? 0)
        let appearance = CharacteristicDefinition(
            uuid: AttributeType.appearance, properties: .read, value: writer.bytes)
        let changed = CharacteristicDefinition(uuid: AttributeType.serviceChanged, properties: .indicate)
        let client = CharacteristicDefinition(
            uuid: AttributeType.clientSupportedFeatures, properties: [.read, .write])
        let hash = CharacteristicDefinition(uuid: AttributeType.databaseHash, properties: .read)
        // No bit: there is no enhanced bearer.
        let server = CharacteristicDefinition(
            uuid: AttributeType.serverSupportedFeatures, properties: .read, value: [0])
        serviceChanged = changed.key
        properties[changed.key] = changed.properties
        _ = database.publish(
            [
                ServiceDefinition(uuid: GATT.genericAccess, characteristics: [name, appearance]),
                ServiceDefinition(
                    uuid: GATT.genericAttribute, characteristics: [changed, client, hash, server]),
            ], isOwn: true)
        database.hash = SecurityToolbox.databaseHash(database.hashInput)
    }

    /// Tells whoever asked for it that attributes came or went (Vol 3, Part G, 7.1).
    func databaseChanged(_ range: ClosedRange<UInt16>) {
        database.hash = SecurityToolbox.databaseHash(database.hashInput)
        for handle in links.keys.sorted() {
            links[handle]?.server.databaseChanged()
            indicateServiceChanged(range, handle)
            remember(handle)
        }
    }

    /// One that waits already is widened.
    func indicateServiceChanged(_ range: ClosedRange<UInt16>, _ handle: UInt16) {
        guard let key = serviceChanged, let place = database.handle(of: key), let link = links[handle],
            link.server.configurations[place + 1] == 2
        else { return }
        var range = range
        if let waiting = link.indications.firstIndex(where: { $0.key == key }) {
            var reader = ByteReader(link.indications[waiting].value)
            let (first, last) = (reader.readUInt16() ?? 1, reader.readUInt16() ?? 0xFFFF)
            range = min(first, range.lowerBound)...max(last, range.upperBound)
            links[handle]?.indications.remove(at: waiting)
        }
        var writer = ByteWriter(capacity: 4)
        writer.write(range.lowerBound)
        writer.write(range.upperBound)
        indicate(place, key, writer.bytes, handle)
    }

    /// Whether a command that came unencrypted was signed by the bonded peer just now (Vol 3, Part C, 10.4.2).
    func isSigned(_ pdu: [UInt8], _ link: Link) -> Bool {
        guard link.security.isBonded, let address = link.peer.address else { return false }
        var isGood = false
        security.bonds.update(address) { isGood = $0.verify(signed: pdu) }
        if isGood { saveBonds() }
        return isGood
    }

    // MARK: Several values at once

    /// Sends a notification; while others of the link wait for room, several to a client that takes them go into one PDU (Vol 3,
    /// Part F, 3.4.7.4).
    func notify(_ place: UInt16, _ value: [UInt8], _ handle: UInt16) {
        guard let index = links.index(of: handle) else { return }
        let mtu = links[at: index].server.mtu
        guard links[at: index].server.takesMultipleNotifications, data.count(of: handle) > 0,
            1 + 4 + value.count <= mtu
        else {
            let pdu = ATTPDU.handleValue(ATTOpcode.handleValueNotification, place, value)
            return send(L2CAPFrame(channel: L2CAPFrame.Channel.attribute, payload: pdu), to: handle)
        }
        let length = links[at: index].collected.reduce(1) { $0 + 4 + $1.value.count }
        if length + 4 + value.count > mtu { sendCollected(handle) }
        links[at: index].collected.append((place, value))
        collecting.insert(handle)
    }

    /// What was collected goes before anything else does.
    func sendCollected(_ handle: UInt16) {
        guard !collecting.isEmpty, collecting.remove(handle) != nil, let index = links.index(of: handle),
            !links[at: index].collected.isEmpty
        else { return }
        let collected = links[at: index].collected
        links[at: index].collected = []
        let pdu: [UInt8]
        if collected.count == 1 {
            pdu = ATTPDU.handleValue(
                ATTOpcode.handleValueNotification, collected[0].handle, collected[0].value)
        } else {
            pdu = ATTPDU.multipleHandleValue(collected)
        }
        data.add(L2CAPFrame(channel: L2CAPFrame.Channel.attribute, payload: pdu), for: handle)
    }
}
