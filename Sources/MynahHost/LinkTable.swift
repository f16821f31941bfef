import MynahCore
import MynahHCI
import MynahSupport

/// The links of a radio, by handle and by peer.
///
/// A part without I/O. It decides which links are reported, and asks for everything else by actions. A packet
/// costs one look-up: the place of its link is good for everything that is done with the packet, until a link
/// begins or ends.
struct LinkTable {
    /// An action for the driver.
    enum Action {
        /// A link began, and the other parts are to begin on it too; with the peer's address on the air.
        case added(Link, onAir: DeviceAddress)
        /// A central has connected, or the peripheral of a link uses this device's services too.
        case connected(Link)
        /// The link that a central made is one to a peripheral too, as a request asked for.
        case shared(Link, Connector.Request?)
        /// A bonded central may have subscriptions that are not served before the link is encrypted (Core
        /// Specification, Vol 3, Part C, 10.3.1.1).
        case askToEncrypt(link: ConnectionHandle)
        /// Read the features of the peripheral's controller: any answer, even an error, shows a working link.
        case readFeatures(link: ConnectionHandle, Peer.ID)
        case exchangeMTU(link: ConnectionHandle)
        /// A peripheral was heard for the first time on the link that a request asked for.
        case reached(Peer, Connector.Request)
        /// A link is to be ended.
        case end(link: ConnectionHandle)
        /// A link ended, and the other parts are to end on it too.
        case removed(Link)
        /// The link that ended was reported as connected to these halves. The central's hears the reason, and
        /// the peripheral's whether the link was lost.
        case disconnected(Peer.ID, Link.Halves, RadioError?)
        /// A connection that was lost before the peripheral was heard is to be tried again.
        case connectAgain(Connector.Request)
        case connectionFailed(Connector.Request, RadioError)
    }

    /// The values that a new link takes from other parts.
    struct Context {
        /// The request that it fulfils, or `nil` if it fulfils none.
        var request: Connector.Request?
        /// The identity of the peer, if it is bonded.
        var identity: DeviceAddress?
        /// Whether the controller can ask the peer's for its features.
        var canReadFeatures = true
        /// The time at which the link begins.
        var now = Duration.zero
    }

    private var links = SortedMap<ConnectionHandle, Link>()
    private(set) var lastPeer: UInt32 = 0
    /// The radio is being turned off.
    private var isLeaving = false
    /// The links that have ended since.
    private var left: [Link] = []

    // MARK: Looking up

    var isEmpty: Bool { links.isEmpty }
    /// The handles, in order.
    var handles: [ConnectionHandle] { links.keys }
    /// The links, in the order of their handles.
    var values: [Link] { links.values }
    /// The places of all links.
    var indices: Range<Int> { links.indices }

    /// The index of the link with a handle, or `nil` if there is none.
    func index(of handle: ConnectionHandle) -> Int? { links.index(of: handle) }

    /// The link at a place.
    subscript(at index: Int) -> Link {
        _read { yield links[at: index] }
        _modify { yield &links[at: index] }
    }

    /// The link with a handle, or `nil` if there is none.
    subscript(handle: ConnectionHandle) -> Link? {
        get { links[handle] }
        set { links[handle] = newValue }
    }

    /// Returns the handle of the link to a peer.
    ///
    /// Throws `disconnected` if there is none.
    func handle(of peer: Peer.ID) throws(RadioError) -> ConnectionHandle {
        guard let index = indices.first(where: { self[at: $0].peer.id == peer }) else {
            throw RadioError(.disconnected, "the peripheral is not connected")
        }
        return self[at: index].handle
    }

    /// The stage of the link to the peripheral with an address, or `nil` if there is no link.
    func stage(ofPeripheral address: DeviceAddress) -> Link.Stage? {
        let index = indices.first { self[at: $0].role == .central && self[at: $0].peer.address == address }
        return index.map { self[at: $0].stage }
    }

    // MARK: Events

    /// A link began; a bonded peer is known by its identity.
    mutating func began(_ connection: LEConnection, _ context: Context, _ actions: inout [Action]) {
        let handle = connection.handle
        guard index(of: handle) == nil else { return }
        if isLeaving {
            if let request = context.request { actions.append(.connectionFailed(request, Self.radioIsGone)) }
            return actions.append(.end(link: handle))
        }
        // The call that asked for it was given up, and it came after all.
        guard connection.role == .peripheral || context.request != nil else {
            return actions.append(.end(link: handle))
        }
        lastPeer += 1
        let peer = Peer(
            id: Peer.ID(lastPeer), address: context.identity ?? connection.peer,
            isPaired: context.identity != nil)
        var link = Link(
            handle: handle, role: connection.role, peer: peer, parameters: connection.parameters)
        if let request = context.request, connection.role == .central { link.stage = .unheard(request) }
        let interval = connection.parameters.attendedInterval(connection.role)
        link.meter = LinkMeter(interval: interval, at: context.now)
        links[handle] = link
        actions.append(.added(link, onAir: connection.addressOnAir))
        switch connection.role {
        case .peripheral:
            links[handle]?.halves = .peripheral
            actions.append(.connected(link))
            if let request = context.request { share(handle, request, &actions) }
            if peer.isPaired { actions.append(.askToEncrypt(link: handle)) }
        case .central:
            if context.canReadFeatures {
                // The answer shows that the peripheral is on the link, though it may send nothing else by
                // itself.
                actions.append(.readFeatures(link: handle, peer.id))
            } else {
                // The controller's reports of the link are trusted.
                heard(handle, &actions)
            }
            // As an iPhone does: before anything else is asked for.
            actions.append(.exchangeMTU(link: handle))
        }
    }

    /// The peer was heard on a link.
    mutating func heard(_ handle: ConnectionHandle, _ actions: inout [Action]) {
        guard let index = index(of: handle), case .unheard(let request) = links[at: index].stage else {
            return
        }
        links[at: index].stage = .reported
        links[at: index].halves.insert(.central)
        actions.append(.reached(links[at: index].peer, request))
    }

    // MARK: Links of both halves

    /// The central's half uses a link to the device with an address that the device made; returns the peer,
    /// or `nil` if there is none.
    mutating func share(withCentral address: DeviceAddress, _ actions: inout [Action]) -> Peer? {
        let index = indices.first {
            self[at: $0].role == .peripheral && self[at: $0].peer.address == address
        }
        guard let index else { return nil }
        share(self[at: index].handle, nil, &actions)
        return self[at: index].peer
    }

    private mutating func share(
        _ handle: ConnectionHandle, _ request: Connector.Request?, _ actions: inout [Action]
    ) {
        guard let index = index(of: handle), !self[at: index].halves.contains(.central) else { return }
        links[at: index].halves.insert(.central)
        actions.append(.shared(self[at: index], request))
    }

    /// The central's half stops using a link that the device made.
    mutating func leave(_ peer: Peer.ID) {
        for index in indices where self[at: index].peer.id == peer && self[at: index].role == .peripheral {
            links[at: index].halves.remove(.central)
        }
    }

    /// The peripheral of a link asks for something of this device's services.
    mutating func served(_ peer: Peer.ID, _ actions: inout [Action]) {
        let index = indices.first {
            self[at: $0].peer.id == peer && !self[at: $0].halves.contains(.peripheral)
        }
        guard let index else { return }
        links[at: index].halves.insert(.peripheral)
        actions.append(.connected(links[at: index]))
    }

    /// A request for a connection was given up: the link that it asked for ends, if it began and was not
    /// reported.
    mutating func giveUp(_ number: UInt64, _ actions: inout [Action]) {
        for index in indices {
            guard case .unheard(let request) = links[at: index].stage, request.number == number else {
                continue
            }
            links[at: index].stage = .givenUp
            actions.append(.end(link: links[at: index].handle))
        }
    }

    /// Notes an event of the controller about the use of a link.
    mutating func noteUse(_ event: HCIEventContent, at now: Duration) {
        switch event {
        case .connectionUpdateComplete(.success, let handle, let parameters):
            guard let index = index(of: handle) else { return }
            links[at: index].parameters = parameters
            let interval = parameters.attendedInterval(links[at: index].role)
            links[at: index].meter.change(interval: interval, at: now)
        case .encryptionChange(.success, let handle, let isOn): links[handle]?.meter.isEncrypted = isOn
        case .dataLengthChange(let handle, let sent, let received):
            links[handle]?.meter.change(sentLength: sent, receivedLength: received)
        default: break
        }
    }

    /// A packet of ACL data goes to the controller, which cuts it into data PDUs (Core Specification, Vol 6,
    /// Part B, 4.5.10).
    mutating func sent(_ packet: H4Packet) {
        guard packet.body.count >= 4 else { return }
        let handle = ConnectionHandle(rawValue: UInt16(packet.body[0]) | UInt16(packet.body[1]) << 8)
        if let index = links.index(of: handle) { links[at: index].meter.sent(packet.body.count - 4) }
    }

    /// Receives a packet of ACL data.
    ///
    /// Returns the L2CAP frame that it completes and the index of its link, or `nil` if it completes no
    /// frame.
    mutating func receive(_ packet: [UInt8]) -> (index: Int, frame: L2CAPFrame)? {
        guard let (handle, boundary, bytes) = ACLPacket.parts(of: packet),
            let index = links.index(of: handle)
        else { return nil }
        links[at: index].meter.received(bytes.count)
        guard let frame = links[at: index].reassembler.add(bytes, boundary) else { return nil }
        return (index, frame)
    }

    /// A link ended.
    mutating func ended(_ handle: ConnectionHandle, _ reason: HCIStatus, _ actions: inout [Action]) {
        guard let link = links.removeValue(forKey: handle) else { return }
        actions.append(.removed(link))
        guard !isLeaving else { return left.append(link) }
        switch link.stage {
        case .givenUp: break
        case .reported:
            actions.append(.disconnected(link.peer.id, link.halves, Self.error(for: reason)))
        case .unheard(let request):
            // The peripheral took another central's request, or heard none (Vol 1, Part F, 2.59).
            guard reason != .connectionFailedToBeEstablished else {
                return actions.append(.connectAgain(request))
            }
            let error = Self.error(for: reason) ?? RadioError(.disconnected, "the link was ended")
            actions.append(.connectionFailed(request, error))
        }
    }

    /// Has `removeAll` report the links that end from now on, as lost with the radio.
    ///
    /// New links are ended.
    mutating func leave() { isLeaving = true }

    /// Removes all links, because the controller is gone; `error` ends calls for connections.
    mutating func removeAll(_ error: RadioError, _ actions: inout [Action]) {
        let (ended, all) = (left, links)
        (left, links, isLeaving) = ([], SortedMap(), false)
        for link in ended { reportLost(link, error, &actions) }
        for link in all.values {
            actions.append(.removed(link))
            reportLost(link, error, &actions)
        }
    }

    private func reportLost(_ link: Link, _ error: RadioError, _ actions: inout [Action]) {
        switch link.stage {
        case .givenUp: break
        case .reported:
            let reason = link.halves.contains(.central) ? Self.radioIsGone : nil
            actions.append(.disconnected(link.peer.id, link.halves, reason))
        case .unheard(let request): actions.append(.connectionFailed(request, error))
        }
    }

    private static let radioIsGone = RadioError(.lost, "the radio is gone")

    /// The error for the end of a link to a peripheral, or `nil` if this side ended it.
    private static func error(for reason: HCIStatus) -> RadioError? {
        let message: String
        switch reason {
        case .connectionTerminatedByLocalHost: return nil
        case .remoteUserTerminatedConnection: message = "the peripheral ended the link"
        case .connectionTimeout: message = "the supervision timeout expired"
        case .connectionFailedToBeEstablished: message = "the connection could not be established"
        default: message = "the link ended: reason \(reason.hexadecimal)"
        }
        return RadioError(.disconnected, message, reason: reason.code)
    }
}

extension LEConnection {
    /// The peer's address on the air, which is its identity unless the controller resolved another.
    var addressOnAir: DeviceAddress { peerResolvable ?? peer }
}
