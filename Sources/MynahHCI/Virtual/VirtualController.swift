import MynahCore
import MynahSupport

/// A simulated LE controller: it speaks HCI to its host, and exchanges PDUs with other stations of an air.
///
/// The controller has no I/O: packets of the host, PDUs of the air and times go in; packets and PDUs come
/// out. Its commands are those of the Core Specification, Vol 4, Part E, 7, and its Link Layer follows Vol 6,
/// Part B. Each state of the Link Layer has a type of its own, to which the controller passes its input.
package struct VirtualController: Sendable {
    let configuration: ControllerConfiguration
    var random: SeededRandom
    var now = AirTime.zero
    var outbox = ControllerOutbox()
    var addresses: ControllerAddresses
    var acceptList: FilterAcceptList
    var advertiser: Advertiser
    var scanner = Scanner()
    var synchronizer: Synchronizer
    var initiator = Initiator()
    var connections: Connections

    /// Makes a controller that has just been switched on; all its random numbers follow from the seed.
    package init(_ configuration: ControllerConfiguration, seed: UInt64) {
        self.configuration = configuration
        random = SeededRandom(seed: seed)
        addresses = ControllerAddresses(configuration)
        acceptList = FilterAcceptList(capacity: configuration.listLength)
        advertiser = Advertiser(capacity: configuration.setCount)
        synchronizer = Synchronizer(listCapacity: configuration.listLength)
        connections = Connections(configuration)
    }

    /// Whether the controller receives advertising now, including periodic advertising.
    package var isListening: Bool { isSearching || synchronizer.isOn }

    /// Whether the controller scans or initiates.
    private var isSearching: Bool { scanner.isOn || initiator.isOn }

    /// The time at which `pass` must be called if nothing is received, or `nil` for never.
    package var due: AirTime? {
        let ofLinks = AirTime.earlier(connections.due, synchronizer.due)
        return AirTime.earlier(AirTime.earlier(advertiser.due, ofLinks), scanner.due)
    }

    // MARK: The host

    /// Handles a packet of the host, and adds the outputs to the outbox.
    mutating func receive(_ packet: H4Packet, at time: AirTime) {
        now = max(now, time)
        switch packet.type {
        case .command:
            // A body whose lengths disagree still names a command if it has two bytes.
            var reader = ByteReader(packet.body)
            guard let opcode = reader.readUInt16() else { return }
            perform(HCIOpcode(opcode), HCICommand(packet.body)?.parameters)
        case .aclData:
            if let data = ACLPacket(packet.body) { connections.send(data, at: now, &outbox) }
        case .event, .synchronousData, .isochronousData:
            break
        }
    }

    /// Performs a command; its answer precedes all other outputs of the command.
    ///
    /// `parameters` is `nil` if the length in the packet's header is wrong.
    private mutating func perform(_ opcode: HCIOpcode, _ parameters: [UInt8]?) {
        let place = outbox.outputs.count
        guard let row = CommandRow.all[opcode], row.isKnown(to: configuration) else {
            return outbox.answer(opcode, .status(.unknownCommand), isLong: true, at: place)
        }
        let answer = row.perform(parameters, on: &self)
        outbox.answer(opcode, answer, isLong: row.isLong, at: place)
    }

    /// HCI Reset: connections end without notice, as if the controller had lost power, and the peers detect a
    /// supervision timeout.
    mutating func reset() {
        var new = VirtualController(configuration, seed: 0)
        new.random = random
        new.now = now
        new.outbox = outbox
        new.outbox.reset()
        self = new
    }

    /// Whether the random address is in use, so that it cannot be changed.
    var usesRandomAddress: Bool { isSearching || !outbox.isExtended && advertiser.isOn }

    /// Whether the filter accept list is in use, so that it cannot be changed.
    var usesAcceptList: Bool {
        scanner.usesAcceptList || initiator.usesAcceptList || advertiser.usesAcceptList
    }

    /// `true` if the controller advertises, scans or initiates.
    var isBusy: Bool { isSearching || advertiser.isOn }

    // MARK: The air

    /// Handles a PDU of another station with its RSSI in dBm, and adds the outputs to the outbox.
    mutating func receive(_ pdu: AirPDU, from station: Station, rssi: Int8, at time: AirTime) {
        now = max(now, time)
        switch pdu {
        case .advertisement(let advertisement): hear(advertisement, from: station, rssi: rssi)
        case .scanRequest(let scanner, let address, let identifier):
            advertiser.answerScan(
                of: address, identifier, by: scanner, from: station, acceptList, &addresses.resolving,
                &outbox)
        case .scanResponse(let response):
            scanner.hearResponse(response, rssi: rssi, &addresses.resolving, &outbox)
        case .connect(let connect): accept(connect, from: station, rssi: rssi)
        case .periodic(let event): synchronizer.receive(event, rssi: rssi, at: now, &outbox)
        case .link(let frame): connections.receive(frame, from: station, rssi: rssi, at: now, &outbox)
        }
    }

    /// Handles an advertisement as scanner and as initiator.
    private mutating func hear(_ advertisement: AirAdvertisement, from station: Station, rssi: Int8) {
        // A host that uses legacy commands gets no reports of extended PDUs (Vol 4, Part E, 7.7.65.2).
        guard outbox.isExtended || advertisement.properties.contains(.legacy) else { return }
        let identity = addresses.resolving.resolve(advertisement.address)
        guard identity.isAllowed else { return }
        let heard = ScanReport(advertisement, identity, rssi: rssi)
        scanner.hear(heard, from: station, acceptList, addresses.resolving, at: now, &outbox)
        if scanner.listens(at: now) { synchronizer.hear(advertisement, identity, at: now) }
        guard connections.hasRoom,
            let match = initiator.match(
                advertisement, identity, acceptList, connections, &addresses, at: now, &random)
        else { return }
        let access = connections.newAccess(with: station, &random)
        let endpoints = connections.open(
            as: .central, with: station, access: access, peer: identity, local: match.own, match.parameters,
            rssi: rssi, at: now)
        guard let endpoints else { return }
        let connect = AirConnect(
            initiator: match.own, advertiser: advertisement.address,
            identifier: advertisement.identifier, access: access, parameters: match.parameters)
        outbox.transmit(.connect(connect), to: station)
        report(endpoints, match.parameters)
        connections.start(endpoints.handle, at: now, &outbox)
    }

    /// Handles a connection request of another station.
    private mutating func accept(_ connect: AirConnect, from station: Station, rssi: Int8) {
        let peer = addresses.resolving.resolve(connect.initiator)
        let canConnect = connections.canAccept(connect, from: station, peer)
        let connected = advertiser.accept(
            connect, canConnect: canConnect, acceptList, &addresses.resolving)
        guard let connected else { return }
        let endpoints = connections.open(
            as: .peripheral, with: station, access: connect.access, peer: connected.peer,
            local: connect.advertiser, connect.parameters, rssi: rssi, at: now)
        guard let endpoints else { return }
        report(endpoints, connect.parameters)
        connected.report(connection: endpoints.handle, to: &outbox)
        connections.start(endpoints.handle, at: now, &outbox)
    }

    private mutating func report(_ endpoints: ConnectionEndpoints, _ parameters: LEConnection.Parameters) {
        let isLocalMade = addresses.resolving.hasMade(endpoints.local)
        ConnectionComplete(endpoints, parameters, isLocalMade: isLocalMade).report(to: &outbox)
    }

    // MARK: Time

    /// Handles everything that is due, and adds the outputs to the outbox.
    mutating func pass(to time: AirTime) {
        now = max(now, time)
        advertiser.advance(to: now, &addresses, &random, &outbox)
        scanner.advance(to: now, &outbox)
        synchronizer.advance(to: now, &outbox)
        connections.advance(to: now, &outbox)
    }
}
