import MynahCore
import MynahHCI
import MynahSupport

/// The GATT server of a radio: the published services, and one ATT bearer for each link.
///
/// This state machine has no I/O: it queues PDUs in `Outbound`, and requests everything else by actions.
struct GATTServer: Sendable {
    /// An action for the driver.
    enum Action {
        case event(RadioEvent)
        /// Report a read or a write that the application need not answer.
        case request(RadioEvent)
        /// Call `confirmationDue` at the given time, the deadline for the confirmation of an indication.
        case watchConfirmation(link: ConnectionHandle, Duration)
        /// Save the changed state of a client in its bond.
        case remember(link: ConnectionHandle)
        /// Ask the application to answer a read or a write, and pass its answer to `answered`.
        case ask(link: ConnectionHandle, RadioEvent)
        /// Carry out a write if its PDU has a valid signature of the bonded client.
        case signedWrite(link: ConnectionHandle, pdu: [UInt8], WriteRequest)
        /// Report the new MTU, which also applies to the client at this end of the bearer.
        case mtuChanged(link: ConnectionHandle, Int)
    }

    /// Services that were published together.
    private struct Publication {
        var range: ClosedRange<AttributeHandle>
        var services: [ServiceDefinition]
    }

    private struct Indication {
        var handle: AttributeHandle
        var key: AttributeKey
        var value: [UInt8]
        /// `true` for the second and later pieces of a divided value.
        ///
        /// The value counts as confirmed when its last piece is.
        var isFurtherPiece = false
    }

    /// The server's end of one link's bearer.
    private struct Bearer {
        var peer: Peer
        var att = ATTServer()
        /// Indications that wait until the central has confirmed the one that was sent.
        var indications: [Indication] = []
        /// The deadline for the confirmation of the sent indication, or `nil` if there is none.
        var confirmBy: Duration?
        /// Whether the driver has scheduled a call of `confirmationDue` and not made it yet.
        var isWatched = false
        /// Whether the warning about values that are too long for the link was already reported.
        var isToldTooShort = false
        /// `false` if further pieces of the value that was sent last are waiting.
        var hasSentAll: Bool { indications.first?.isFurtherPiece != true }
        /// Whether a confirmation did not come in time, after which the bearer must not be used (Core
        /// Specification, Vol 3, Part F, 3.3.3).
        var isDead = false

        /// The way to send a value to this client.
        ///
        /// `centrals` are the recipients, or `nil` for all subscribers. `unasked` is the Client
        /// Characteristic Configuration that applies if the client has not written one.
        ///
        /// The function is mutating so that the bearer is not copied: a bearer is large, and this is called
        /// for each bearer and value.
        mutating func route(
            _ handle: AttributeHandle, as delivery: Delivery, to centrals: [Peer.ID]?, unasked: UInt16
        ) -> Route {
            // To a change-unaware client, only the Service Changed indication is sent (Vol 3, Part G,
            // 2.5.2.1).
            guard !isDead, att.client.awareness == .aware, centrals?.contains(peer.id) ?? true else {
                return .none
            }
            let configured = handle.next.flatMap { att.client.configurations[$0] } ?? 0
            let bits = configured == 0 ? unasked : configured
            guard bits != 0 else { return .none }
            let isIndication =
                switch delivery {
                case .indication: bits & 2 != 0
                case .notification, .asSubscribed: bits & 1 == 0
                }
            return isIndication
                ? .indication
                : .notification(mtu: att.mtu, takesMultiple: att.client.takesMultipleNotifications)
        }

        /// The parts in which a value is sent on the link.
        ///
        /// These are the whole value, all of it in pieces, or only its first bytes (Core Specification, Vol
        /// 3, Part F, 3.4.7.1), as `updateValue(_:for:onSubscribedCentrals:)` does. The first value that is
        /// cut on a link causes a warning, whose text mentions iOS if `isOfApp` is `true`.
        mutating func parts(
            of value: [UInt8], _ attribute: AttributeKey, _ values: PublishedValues, _ isOfApp: Bool,
            _ actions: inout [Action]
        ) -> [[UInt8]] {
            let room = att.mtu - GATT.notificationHeaderLength
            let (parts, isCut) = values.parts(of: value, attribute, room: room)
            if isCut, !isToldTooShort {
                isToldTooShort = true
                let name = peer.address.map { "\($0)" } ?? "a central"
                let message =
                    """
                    the value has \(value.count) bytes and the link to \(name) carries \(room): \
                    it is cut to that\(isOfApp ? ", as iOS does" : "")
                    """
                actions.append(.event(.warning(RadioWarning("valueTooLong", message))))
            }
            return parts
        }
    }

    /// The way to send a value to a client.
    private enum Route {
        /// The value is not sent: the client is not subscribed, not change-aware, or not a recipient.
        case none
        case notification(mtu: Int, takesMultiple: Bool)
        case indication
    }

    /// The largest number of indications that wait on one link.
    static let indicationLimit = 64

    /// The time in which a central must confirm an indication.
    let timeout: Duration
    private(set) var database = AttributeDatabase()
    private var publications: [PublishedServices.ID: Publication] = [:]
    private var lastPublication: UInt32 = 0
    /// The published characteristics, and the rules for sending their values.
    private(set) var values = PublishedValues()
    /// The way in which requests to apps' services are handled, by characteristic.
    ///
    /// This includes withdrawn services, because a fault can publish them again.
    private var modes: [AttributeKey: ServingMode] = [:]
    /// The Service Changed characteristic, or `nil` if the device has none or the radio is not started.
    private(set) var serviceChanged: AttributeKey?
    /// The largest MTU that this side accepts, in either role.
    private(set) var largestMTU = ATTServer().ownMTU
    private var bearers = SortedMap<ConnectionHandle, Bearer>()

    init(timeout: Duration) {
        self.timeout = timeout
    }

    // MARK: Services

    /// Starts to serve as a device, with only the services GAP and GATT.
    mutating func begin(as identity: DeviceIdentity) {
        database = AttributeDatabase()
        publications = [:]
        values = PublishedValues()
        modes = [:]
        largestMTU = identity.largestMTU
        let changed =
            identity.hasServiceChanged
            ? CharacteristicDefinition(uuid: AttributeType.serviceChanged, properties: .indicate) : nil
        serviceChanged = changed?.key
        if let changed { values.add(changed) }
        _ = database.publish(identity.services(serviceChanged: changed), isOwn: true)
    }

    /// Publishes services together; services that were published before get their previous handles.
    ///
    /// Throws `servicesRefused` if there are too few free handles.
    mutating func publish(
        _ services: [ServiceDefinition], at now: Duration, _ outbound: inout Outbound,
        _ actions: inout [Action]
    ) throws(RadioError) -> PublishedServices {
        guard let range = database.publish(services) else {
            throw RadioError(.servicesRefused, "there are no attribute handles left for these services")
        }
        lastPublication += 1
        let id = PublishedServices.ID(lastPublication)
        publications[id] = Publication(range: range, services: services)
        var handles: [AttributeKey: AttributeHandle] = [:]
        for service in services {
            handles[service.key] = database.handle(of: service.key)
            for characteristic in service.characteristics {
                handles[characteristic.key] = database.handle(of: characteristic.key)
                values.add(characteristic)
                for descriptor in characteristic.descriptors {
                    handles[descriptor.key] = database.handle(of: descriptor.key)
                }
            }
        }
        databaseChanged(range, at: now, &outbound, &actions)
        for index in bearers.indices {
            actions += values.unaskedEvents(for: bearers[at: index].peer.id, of: services).map { .event($0) }
        }
        return PublishedServices(id: id, handles: handles)
    }

    /// Withdraws services that were published together, and deletes the clients' configurations of them.
    mutating func withdraw(
        _ services: PublishedServices.ID, at now: Duration, _ outbound: inout Outbound,
        _ actions: inout [Action]
    ) {
        guard let publication = publications.removeValue(forKey: services) else { return }
        let range = publication.range
        for index in bearers.indices {
            for handle in bearers[at: index].att.client.configurations.keys where range.contains(handle) {
                bearers[at: index].att.client.configurations[handle] = nil
            }
            bearers[at: index].indications.removeAll { range.contains($0.handle) }
        }
        values.remove(publication.services)
        database.withdraw(range)
        databaseChanged(range, at: now, &outbound, &actions)
    }

    /// Sets the value with which the server answers reads; if it is `nil`, the application answers them.
    mutating func setValue(_ value: [UInt8]?, of attribute: AttributeKey) {
        database.setFixed(value, of: attribute)
    }

    /// Sets how later requests to services are handled.
    mutating func serve(_ services: [ServiceDefinition], as mode: ServingMode) {
        for characteristic in services.flatMap(\.characteristics) {
            modes[characteristic.key] = mode == .accessory ? nil : mode
            database.setDisabled(mode == .disabled, characteristic)
        }
    }

    /// Indicates changed attributes to every client that subscribed to Service Changed (Vol 3, Part G, 7.1).
    private mutating func databaseChanged(
        _ range: ClosedRange<AttributeHandle>, at now: Duration, _ outbound: inout Outbound,
        _ actions: inout [Action]
    ) {
        for (index, link) in zip(bearers.indices, bearers.keys) {
            bearers[at: index].att.databaseChanged()
            indicateServiceChanged(range, link, at: now, &outbound, &actions)
            actions.append(.remember(link: link))
        }
    }

    /// Indicates a range of changed handles; a waiting indication is replaced by one for both ranges.
    private mutating func indicateServiceChanged(
        _ range: ClosedRange<AttributeHandle>, _ link: ConnectionHandle, at now: Duration,
        _ outbound: inout Outbound,
        _ actions: inout [Action]
    ) {
        guard let key = serviceChanged, let handle = database.handle(of: key),
            let index = bearers.index(of: link), bearers[at: index].att.client.configurations[handle + 1] == 2
        else { return }
        var range = range
        if let waiting = bearers[at: index].indications.firstIndex(where: { $0.key == key }) {
            var reader = ByteReader(bearers[at: index].indications[waiting].value)
            let (first, last) = (
                reader.readAttributeHandle() ?? .first, reader.readAttributeHandle() ?? .last
            )
            range = min(first, range.lowerBound)...max(last, range.upperBound)
            bearers[at: index].indications.remove(at: waiting)
        }
        var writer = ByteWriter(capacity: 4)
        writer.write(range.lowerBound)
        writer.write(range.upperBound)
        indicate(
            Indication(handle: handle, key: key, value: writer.bytes), link, at: now, &outbound, &actions)
    }

    // MARK: Links

    mutating func addLink(_ link: ConnectionHandle, to peer: Peer) {
        bearers[link] = Bearer(peer: peer)
        setOwnMTU(largestMTU, link)
    }

    /// Removes a link; returns the characteristics to which its client was subscribed.
    mutating func end(_ link: ConnectionHandle) -> [AttributeKey] {
        defer { bearers[link] = nil }
        return forgetConfigurations(link) + values.unaskedKeys()
    }

    /// Deletes a client's configurations; returns the characteristics to which it was subscribed.
    mutating func forgetConfigurations(_ link: ConnectionHandle) -> [AttributeKey] {
        guard let index = bearers.index(of: link) else { return [] }
        defer { bearers[at: index].att.client.configurations = SortedMap() }
        return bearers[at: index].att.client.configurations.keys.compactMap { handle in
            guard case .configuration(let key, _)? = database[handle]?.content, key != serviceChanged,
                values.unasked(key) == 0
            else { return nil }
            return key
        }
    }

    /// Sets the peer of a link after its identity has become known.
    mutating func peerChanged(_ peer: Peer, on link: ConnectionHandle) {
        bearers[link]?.peer = peer
    }

    /// Adopts the MTU that the client at this end of the bearer has negotiated.
    mutating func agreed(on mtu: Int, _ link: ConnectionHandle) {
        guard let index = bearers.index(of: link) else { return }
        bearers[at: index].att.agreed(on: mtu)
    }

    /// The MTU of a link, in bytes.
    func mtu(of link: ConnectionHandle) -> Int { bearers[link]?.att.mtu ?? GATT.defaultMTU }

    /// Sets the largest MTU that this side accepts on a link.
    mutating func setOwnMTU(_ mtu: Int, _ link: ConnectionHandle) {
        if let index = bearers.index(of: link) { bearers[at: index].att.ownMTU = mtu }
    }

    /// The prepare queue of a client.
    func prepared(_ link: ConnectionHandle) -> [PrepareQueue.Entry] {
        bearers[link]?.att.prepared.entries ?? []
    }

    /// Empties the prepare queue of a client.
    mutating func forgetPrepared(_ link: ConnectionHandle) {
        if let index = bearers.index(of: link) { bearers[at: index].att.prepared = PrepareQueue() }
    }

    /// Whether the client of a link is change-aware (Vol 3, Part G, 2.5.2.1).
    func isAware(_ link: ConnectionHandle) -> Bool { bearers[link]?.att.client.awareness == .aware }

    // MARK: Requests

    /// Handles a PDU of the client on a link.
    ///
    /// `now` is evaluated only for PDUs that need it.
    mutating func receive(
        _ bytes: [UInt8], _ link: ConnectionHandle, _ security: LinkSecurity,
        at now: @autoclosure () -> Duration,
        _ outbound: inout Outbound, _ actions: inout [Action]
    ) {
        guard let index = bearers.index(of: link), !bearers[at: index].isDead else { return }
        let asked = bearers[at: index].att.receive(bytes, database, security)
        carryOut(asked, index, at: now(), &outbound, &actions)
    }

    /// Handles the application's answer to the last `ask` action.
    mutating func answered(
        _ outcome: PendingReply.Outcome, _ link: ConnectionHandle, _ security: LinkSecurity,
        at now: @autoclosure () -> Duration,
        _ outbound: inout Outbound, _ actions: inout [Action]
    ) {
        guard let index = bearers.index(of: link), !bearers[at: index].isDead else { return }
        let asked = bearers[at: index].att.answered(outcome, database, security)
        carryOut(asked, index, at: now(), &outbound, &actions)
    }

    private mutating func carryOut(
        _ asked: [ATTAction], _ index: Int, at now: @autoclosure () -> Duration, _ outbound: inout Outbound,
        _ actions: inout [Action]
    ) {
        let (link, central) = (bearers.keys[index], bearers[at: index].peer.id)
        for action in asked {
            switch action {
            case .send(let pdu):
                outbound.send(L2CAPFrame(channel: L2CAPFrame.Channel.attribute, payload: pdu), to: link)
            case .read(let key, let offset):
                let request = ReadRequest(central: central, attribute: key, offset: offset)
                actions.append(.ask(link: link, .read(request)))
            case .write(let parts, let wantsResponse):
                let request = WriteRequest(central: central, parts: parts, wantsResponse: wantsResponse)
                actions.append(wantsResponse ? .ask(link: link, .write(request)) : .request(.write(request)))
            case .signedWrite(let part, let pdu):
                let request = WriteRequest(central: central, parts: [part], wantsResponse: false)
                actions.append(.signedWrite(link: link, pdu: pdu, request))
            case .answered(let key, let offset, let value):
                guard reports(requestsFor: key) else { continue }
                let request = ReadRequest(central: central, attribute: key, offset: offset)
                actions.append(.request(.answeredRead(request, value)))
            case .refused(let key, let access, let error):
                guard reports(requestsFor: key) else { continue }
                actions.append(
                    .event(.refused(.init(central: central, attribute: key, access: access, error: error))))
            case .configured(let key, let bits):
                actions.append(.remember(link: link))
                if key != serviceChanged, let event = values.event(for: key, bits: bits, of: central) {
                    actions.append(.event(event))
                }
            case .confirmed(let attribute): confirmed(attribute, link, at: now(), &outbound, &actions)
            case .mtuChanged(let mtu): actions.append(.mtuChanged(link: link, mtu))
            case .clientFeatures, .becameAware: actions.append(.remember(link: link))
            }
        }
    }

    /// Whether the server reports the requests for an attribute that the server itself answers.
    ///
    /// This is so for published attributes, but not for the services GAP and GATT.
    private func reports(requestsFor key: AttributeKey) -> Bool {
        guard values.properties[key] == nil else { return true }
        guard let handle = database.handle(of: key) else { return false }
        return publications.values.contains { $0.range.contains(handle) }
    }

    // MARK: Values

    /// Sends a value to each subscriber, or to none if one of them has no room.
    ///
    /// A value that is too long for a link is cut, or sent in pieces.
    mutating func send(
        _ value: [UInt8], of attribute: AttributeKey, as delivery: Delivery, to centrals: [Peer.ID]?,
        at now: @autoclosure () -> Duration, _ outbound: inout Outbound, _ actions: inout [Action]
    ) throws(RadioError) -> SendResult {
        guard let handle = database.handle(of: attribute), values.properties[attribute] != nil else {
            throw RadioError(.unknownAttribute, "the characteristic is not published")
        }
        var count = 0
        let (unasked, isOfApp) = (values.unasked(attribute), modes[attribute] != nil)
        // All links are checked first: after a partial send, a second try would send the value to some of
        // them again.
        for index in bearers.indices {
            switch bearers[at: index].route(handle, as: delivery, to: centrals, unasked: unasked) {
            case .none: continue
            case .notification: guard hasRoom(at: index, false, &outbound) else { return .full }
            case .indication: guard hasRoom(at: index, true, &outbound) else { return .full }
            }
            count += 1
        }
        for index in bearers.indices where count > 0 {
            let link = bearers.keys[index]
            switch bearers[at: index].route(handle, as: delivery, to: centrals, unasked: unasked) {
            case .none: continue
            case .notification(let mtu, let takesMultiple):
                guard value.count > mtu - GATT.notificationHeaderLength else {
                    outbound.notify(handle, value, to: link, mtu: mtu, takesMultiple: takesMultiple)
                    continue
                }
                for part in bearers[at: index].parts(of: value, attribute, values, isOfApp, &actions) {
                    outbound.notify(handle, part, to: link, mtu: mtu, takesMultiple: takesMultiple)
                }
            case .indication:
                var part = Indication(handle: handle, key: attribute, value: value)
                for piece in bearers[at: index].parts(of: value, attribute, values, isOfApp, &actions) {
                    part.value = piece
                    indicate(part, link, at: now(), &outbound, &actions)
                    part.isFurtherPiece = true
                }
            }
        }
        return .sent(count)
    }

    /// Whether a link has room for another value.
    ///
    /// If it has none, `Outbound.takeReady` later reports that there is room again.
    private func hasRoom(at index: Int, _ isIndication: Bool, _ outbound: inout Outbound) -> Bool {
        let link = bearers.keys[index]
        guard outbound.takes(on: link) else {
            outbound.refuse(.notification, on: link)
            return false
        }
        guard !isIndication || takesIndications(link) else {
            outbound.refuse(.indication, on: link)
            return false
        }
        return true
    }

    /// Whether a link has room for another indication; also `true` if there is no such link any longer.
    func takesIndications(_ link: ConnectionHandle) -> Bool {
        bearers.index(of: link).map { bearers[at: $0].indications.count < Self.indicationLimit } ?? true
    }

    // MARK: Indications

    /// Sends an indication, or queues it if the last one is not confirmed yet.
    private mutating func indicate(
        _ indication: Indication, _ link: ConnectionHandle, at now: @autoclosure () -> Duration,
        _ outbound: inout Outbound,
        _ actions: inout [Action]
    ) {
        guard let index = bearers.index(of: link) else { return }
        guard let pdu = bearers[at: index].att.indicate(indication.handle, indication.value) else {
            return bearers[at: index].indications.append(indication)
        }
        outbound.send(L2CAPFrame(channel: L2CAPFrame.Channel.attribute, payload: pdu), to: link)
        let due = now() + timeout
        bearers[at: index].confirmBy = due
        guard !bearers[at: index].isWatched else { return }
        bearers[at: index].isWatched = true
        actions.append(.watchConfirmation(link: link, due))
    }

    /// Handles the confirmation of an indication, and sends the next one.
    private mutating func confirmed(
        _ handle: AttributeHandle, _ link: ConnectionHandle, at now: @autoclosure () -> Duration,
        _ outbound: inout Outbound,
        _ actions: inout [Action]
    ) {
        guard let index = bearers.index(of: link) else { return }
        bearers[at: index].confirmBy = nil
        if let key = serviceChanged, database.handle(of: key) == handle {
            if !bearers[at: index].indications.contains(where: { $0.key == key }) {
                bearers[at: index].att.toldOfServices()
            }
            actions.append(.remember(link: link))
        } else if case .value(let key, _)? = database[handle]?.content, bearers[at: index].hasSentAll {
            actions.append(.event(.confirmed(key, bearers[at: index].peer.id)))
        }
        guard !bearers[at: index].indications.isEmpty else { return }
        let next = bearers[at: index].indications.removeFirst()
        indicate(next, link, at: now(), &outbound, &actions)
    }

    /// Handles a call at the time that `watchConfirmation` requested: the confirmation may be overdue.
    mutating func confirmationDue(_ link: ConnectionHandle, at now: Duration, _ actions: inout [Action]) {
        guard let index = bearers.index(of: link) else { return }
        bearers[at: index].isWatched = false
        guard let due = bearers[at: index].confirmBy else { return }
        guard due <= now else {
            bearers[at: index].isWatched = true
            return actions.append(.watchConfirmation(link: link, due))
        }
        bearers[at: index].isDead = true
        bearers[at: index].confirmBy = nil
        bearers[at: index].indications = []
        let message =
            "a central did not confirm an indication within \(timeout.text); no more values are sent to it"
        actions.append(.event(.warning(RadioWarning("confirmationOverdue", message))))
    }

    // MARK: Bonds

    /// Restores a bonded client's saved configuration (Vol 3, Part G, 3.3.3.3).
    ///
    /// If the services have changed, only the client's handles in the GATT service are still valid, and
    /// Service Changed is indicated (2.5.2, 7.1).
    mutating func restore(
        _ bond: Bond, _ link: ConnectionHandle, at now: Duration, _ outbound: inout Outbound,
        _ actions: inout [Action]
    ) {
        guard let index = bearers.index(of: link) else { return }
        let isKnown = bond.databaseHash == database.hash
        bearers[at: index].att.client.features |= bond.clientFeatures.first ?? 0
        if !isKnown { bearers[at: index].att.databaseChanged() }
        for (handle, bits) in bond.configurations.sorted(by: { $0.key < $1.key }) {
            guard case .configuration(let key, _)? = database[handle]?.content,
                bearers[at: index].att.client.configurations[handle] == nil, isKnown || key == serviceChanged
            else { continue }
            bearers[at: index].att.client.configurations[handle] = bits
            guard key != serviceChanged else { continue }
            let event = values.event(for: key, bits: bits, of: bearers[at: index].peer.id)
            if let event { actions.append(.event(event)) }
        }
        if !isKnown { indicateServiceChanged(AttributeHandle.all, link, at: now, &outbound, &actions) }
        actions.append(.remember(link: link))
    }

    /// Saves a client's configurations in its bond, and the Database Hash if the client is change-aware.
    func remember(_ link: ConnectionHandle, in bond: inout Bond) {
        guard let index = bearers.index(of: link) else { return }
        let att = bearers[at: index].att
        bond.configurations = Dictionary(
            uniqueKeysWithValues: zip(att.client.configurations.keys, att.client.configurations.values))
        bond.clientFeatures = att.client.features == 0 ? [] : [att.client.features]
        guard att.client.awareness == .aware else { return }
        if let key = serviceChanged {
            let isUnderWay = att.indicated != nil && att.indicated == database.handle(of: key)
            guard !isUnderWay, !bearers[at: index].indications.contains(where: { $0.key == key }) else {
                return
            }
        }
        bond.databaseHash = database.hash
    }
}
