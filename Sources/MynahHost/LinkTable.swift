import MynahCore
import MynahHCI
import MynahSupport

/// The links of a radio, by handle and by peer.
///
/// This state machine has no I/O. It decides which links are reported, and requests everything else by
/// actions. The index of a link stays valid until a link begins or ends, so a packet needs only one look-up.
struct LinkTable {
    /// An action for the driver.
    enum Action {
        /// A link has begun: add it to the server, the client and the other parts of the host.
        ///
        /// `onAir` is the address that the peer uses on the air.
        case added(Link, onAir: DeviceAddress)
        /// Report a link to the peripheral role.
        ///
        /// A central has connected, or the peer of a link has used this device's services for the first time.
        case connected(Link)
        /// Report a link also to the central role, although the peer is the central on it.
        ///
        /// If a connection to the peer was requested, the link fulfils the request.
        case shared(Link, Connector.Request?)
        /// Ask a bonded central to encrypt, because subscribed values may be sent only after that (Core
        /// Specification, Vol 3, Part C, 10.3.1.1).
        case askToEncrypt(link: ConnectionHandle)
        /// Read the features of the peripheral's controller.
        ///
        /// Any answer, even an error, shows that the link works.
        case readFeatures(link: ConnectionHandle, Peer.ID)
        case exchangeMTU(link: ConnectionHandle)
        /// Report a link to the central role, because the peripheral has sent something on it.
        case reached(Peer, Connector.Request)
        case end(link: ConnectionHandle)
        /// A link has ended: remove it from the server, the client and the other parts of the host.
        case removed(Link)
        /// Report the end of a link to these roles.
        ///
        /// The error, if any, is reported to the central role. If it is a supervision timeout, the peripheral
        /// role gets an event about the lost link too.
        case disconnected(Peer.ID, Link.Halves, RadioError?)
        /// Make a request again, because its connection was lost before the peripheral sent anything.
        case connectAgain(Connector.Request)
        case connectionFailed(Connector.Request, RadioError)
    }

    /// The data about a new link that the table does not have itself.
    struct Context {
        /// The request for the link, or `nil` if there is none.
        var request: Connector.Request?
        /// The identity address of the peer, or `nil` if it is not bonded.
        var identity: DeviceAddress?
        /// Whether the controller can read the features of the peer's controller.
        var canReadFeatures = true
        /// The time at which the link begins.
        var now = Duration.zero
    }

    private var links = SortedMap<ConnectionHandle, Link>()
    private(set) var lastPeer: UInt32 = 0
    /// Whether the radio is being turned off.
    private var isLeaving = false
    /// The links that have ended since `leave` was called.
    private var left: [Link] = []

    // MARK: Looking up

    var isEmpty: Bool { links.isEmpty }
    /// The handles, in order.
    var handles: [ConnectionHandle] { links.keys }
    /// The links, in the order of their handles.
    var values: [Link] { links.values }
    /// The indices of all links.
    var indices: Range<Int> { links.indices }

    /// The index of the link with a handle, or `nil` if there is none.
    func index(of handle: ConnectionHandle) -> Int? { links.index(of: handle) }

    /// The link at an index.
    subscript(at index: Int) -> Link {
        _read { yield links[at: index] }
        _modify { yield &links[at: index] }
    }

    /// The link with a handle, or `nil` if there is none.
    subscript(handle: ConnectionHandle) -> Link? {
        get { links[handle] }
        set { links[handle] = newValue }
    }

    /// Returns the handle of the link to a peer; throws `disconnected` if there is none.
    func handle(of peer: Peer.ID) throws(RadioError) -> ConnectionHandle {
        guard let index = indices.first(where: { self[at: $0].peer.id == peer }) else {
            throw RadioError(.disconnected, "the peripheral is not connected")
        }
        return self[at: index].handle
    }

    /// The stage of the link to a peripheral, or `nil` if there is no link.
    func stage(ofPeripheral address: DeviceAddress) -> Link.Stage? {
        let index = indices.first { self[at: $0].role == .central && self[at: $0].peer.address == address }
        return index.map { self[at: $0].stage }
    }

    // MARK: Events

    /// Handles a new link; a bonded peer gets its identity address.
    mutating func began(_ connection: LEConnection, _ context: Context, _ actions: inout [Action]) {
        let handle = connection.handle
        guard index(of: handle) == nil else { return }
        if isLeaving {
            if let request = context.request { actions.append(.connectionFailed(request, Self.radioIsGone)) }
            return actions.append(.end(link: handle))
        }
        // The request was withdrawn, and the connection was made nevertheless.
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
                // The answer shows that the peripheral is on the link, even if the peripheral sends nothing
                // itself.
                actions.append(.readFeatures(link: handle, peer.id))
            } else {
                // Without the feature exchange, the link counts as working.
                heard(handle, &actions)
            }
            // An iPhone also does this before any other request.
            actions.append(.exchangeMTU(link: handle))
        }
    }

    /// Handles the first packet of a link's peer: a link made for a request is now reported.
    mutating func heard(_ handle: ConnectionHandle, _ actions: inout [Action]) {
        guard let index = index(of: handle), case .unheard(let request) = links[at: index].stage else {
            return
        }
        links[at: index].stage = .reported
        links[at: index].halves.insert(.central)
        actions.append(.reached(links[at: index].peer, request))
    }

    // MARK: Links of both roles

    /// Uses a link also in this radio's central role, if the device with this address is the central on it.
    ///
    /// Returns the peer, or `nil` if there is no such link.
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

    /// Stops using a peer's link in this radio's central role, if the peer is the central on the link.
    mutating func leave(_ peer: Peer.ID) {
        for index in indices where self[at: index].peer.id == peer && self[at: index].role == .peripheral {
            links[at: index].halves.remove(.central)
        }
    }

    /// Handles the first request of a peer for this device's services: its link is reported to the peripheral
    /// role.
    mutating func served(_ peer: Peer.ID, _ actions: inout [Action]) {
        let index = indices.first {
            self[at: $0].peer.id == peer && !self[at: $0].halves.contains(.peripheral)
        }
        guard let index else { return }
        links[at: index].halves.insert(.peripheral)
        actions.append(.connected(links[at: index]))
    }

    /// Handles the withdrawal of a connection request: its link ends if it was not reported yet.
    mutating func giveUp(_ number: UInt64, _ actions: inout [Action]) {
        for index in indices {
            guard case .unheard(let request) = links[at: index].stage, request.number == number else {
                continue
            }
            links[at: index].stage = .givenUp
            actions.append(.end(link: links[at: index].handle))
        }
    }

    /// Updates a link's use of air time after an event of the controller.
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

    /// Adds a packet of ACL data to its link's use of air time.
    ///
    /// The controller splits the packet into data PDUs (Core Specification, Vol 6, Part B, 4.5.10).
    mutating func sent(_ packet: H4Packet) {
        guard packet.body.count >= 4 else { return }
        let handle = ConnectionHandle(rawValue: UInt16(packet.body[0]) | UInt16(packet.body[1]) << 8)
        if let index = links.index(of: handle) { links[at: index].meter.sent(packet.body.count - 4) }
    }

    /// Handles a packet of ACL data.
    ///
    /// Returns the L2CAP frame that is now complete and the index of its link, or `nil` if no frame is
    /// complete.
    mutating func receive(_ packet: [UInt8]) -> (index: Int, frame: L2CAPFrame)? {
        guard let (handle, boundary, bytes) = ACLPacket.parts(of: packet),
            let index = links.index(of: handle)
        else { return nil }
        links[at: index].meter.received(bytes.count)
        guard let frame = links[at: index].reassembler.add(bytes, boundary) else { return nil }
        return (index, frame)
    }

    /// Handles the end of a link.
    mutating func ended(_ handle: ConnectionHandle, _ reason: HCIStatus, _ actions: inout [Action]) {
        guard let link = links.removeValue(forKey: handle) else { return }
        actions.append(.removed(link))
        guard !isLeaving else { return left.append(link) }
        switch link.stage {
        case .givenUp: break
        case .reported:
            actions.append(.disconnected(link.peer.id, link.halves, Self.error(for: reason)))
        case .unheard(let request):
            // The peripheral accepted another central's request, or received none (Vol 1, Part F, 2.59).
            guard reason != .connectionFailedToBeEstablished else {
                return actions.append(.connectAgain(request))
            }
            let error = Self.error(for: reason) ?? RadioError(.disconnected, "the link was ended")
            actions.append(.connectionFailed(request, error))
        }
    }

    /// Makes the table collect the links that end from now on, which `removeAll` then reports as lost.
    ///
    /// New links are ended immediately.
    mutating func leave() { isLeaving = true }

    /// Removes all links after the loss of the controller; pending connections fail with `error`.
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

    /// The error for the end of a link, or `nil` if this side ended it.
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
    /// The address that the peer uses on the air.
    ///
    /// This is the private address that the controller has resolved, if any.
    var addressOnAir: DeviceAddress { peerResolvable ?? peer }
}
