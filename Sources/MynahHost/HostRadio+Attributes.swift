public import MynahCore
import MynahHCI
import MynahSupport

// Services, requests and values.
extension HostRadio {
    /// Publishes a batch; handles that the same services had before they have again.
    public func publish(_ services: [ServiceDefinition]) async throws(RadioError) -> PublishedServices {
        guard state == .running else {
            throw RadioError(.invalidState, "services can be published while the radio runs")
        }
        guard let range = database.publish(services) else {
            throw RadioError(.servicesRefused, "there are no attribute handles left for these services")
        }
        lastBatch += 1
        let id = PublishedServices.ID(lastBatch)
        batches[id] = Batch(range: range, services: services)
        var handles: [AttributeKey: UInt16] = [:]
        for service in services {
            handles[service.key] = database.handle(of: service.key)
            for characteristic in service.characteristics {
                handles[characteristic.key] = database.handle(of: characteristic.key)
                properties[characteristic.key] = characteristic.properties
                for descriptor in characteristic.descriptors {
                    handles[descriptor.key] = database.handle(of: descriptor.key)
                }
            }
        }
        databaseChanged(range)
        return PublishedServices(id: id, handles: handles)
    }

    /// Withdraws a batch, and tells the centrals.
    public func withdraw(_ services: PublishedServices.ID) async {
        guard let batch = batches.removeValue(forKey: services) else { return }
        for handle in links.keys {
            let configured = links[handle]?.server.configurations ?? [:]
            for place in configured.keys where batch.range.contains(place) {
                links[handle]?.server.configurations[place] = nil
            }
            links[handle]?.indications.removeAll { batch.range.contains($0.handle) }
        }
        for characteristic in batch.services.flatMap(\.characteristics) {
            properties[characteristic.key] = nil
        }
        database.withdraw(batch.range)
        databaseChanged(batch.range)
    }

    /// What the host answers by itself.
    public func setValue(_ value: [UInt8]?, of attribute: AttributeKey) {
        database.setFixed(value, of: attribute)
    }

    // MARK: Requests

    func takeAttribute(_ bytes: [UInt8], _ handle: UInt16) {
        guard let index = links.index(of: handle), !links[at: index].isBearerDead else { return }
        let security = links[at: index].security
        carryOut(links[at: index].server.receive(bytes, database, security), handle)
    }

    private func carryOut(_ actions: [ATTAction], _ handle: UInt16) {
        for action in actions {
            guard let index = links.index(of: handle) else { return }
            let central = links[at: index].peer.id
            switch action {
            case .send(let pdu):
                send(L2CAPFrame(channel: L2CAPFrame.Channel.attribute, payload: pdu), to: handle)
            case .read(let key, let offset):
                let request = ReadRequest(central: central, attribute: key, offset: offset)
                take(tell(.read(request)), handle)
            case .write(let parts, let wantsResponse):
                let request = WriteRequest(central: central, parts: parts, wantsResponse: wantsResponse)
                let answer = tell(.write(request))
                if wantsResponse { take(answer, handle) }
            case .signedWrite(let part, let pdu):
                guard isSigned(pdu, links[at: index]) else { continue }
                tell(.write(WriteRequest(central: central, parts: [part], wantsResponse: false)))
            case .answered(let key, let offset, let value):
                guard properties[key] != nil || isOurs(key) else { continue }
                tell(.answeredRead(ReadRequest(central: central, attribute: key, offset: offset), value))
            case .configured(let key, let bits):
                remember(handle)
                guard key != serviceChanged else { continue }
                let delivery: Delivery? = bits & 2 != 0 ? .indication : bits & 1 != 0 ? .notification : nil
                tell(delivery.map { .subscribed(key, central, $0) } ?? .unsubscribed(key, central))
            case .confirmed(let place):
                confirmed(place, handle)
            case .mtuChanged(let mtu):
                links[at: index].client.bearer.mtu = mtu
                switch links[at: index].role {
                case .peripheral: tell(.mtuChanged(central, mtu))
                case .central: tellCentral(.mtuChanged(central, mtu))
                }
            case .clientFeatures, .becameAware:
                remember(handle)
            }
        }
    }

    /// Whether an attribute was published through `publish`, and not by the host itself.
    private func isOurs(_ key: AttributeKey) -> Bool {
        batches.values.contains { batch in database.handle(of: key).map(batch.range.contains) ?? false }
    }

    private func take(_ answer: RadioAnswer, _ handle: UInt16) {
        switch answer {
        case .none: answered(.failure(.unlikelyError), handle)
        case .answer(let outcome): answered(outcome, handle)
        case .later(let pending):
            guard let peer = links[handle]?.peer.id else { return }
            pending.whenAnswered { [weak self] outcome in
                guard let self else { return }
                Task { await self.answeredLater(outcome, handle, peer) }
            }
        }
    }

    private func answeredLater(_ outcome: PendingReply.Outcome, _ handle: UInt16, _ peer: Peer.ID) {
        // The link may be another one's by now.
        guard links[handle]?.peer.id == peer else { return }
        answered(outcome, handle)
    }

    private func answered(_ outcome: PendingReply.Outcome, _ handle: UInt16) {
        guard let index = links.index(of: handle) else { return }
        let security = links[at: index].security
        carryOut(links[at: index].server.answered(outcome, database, security), handle)
    }

    // MARK: Values

    /// Sends to each subscriber as it subscribed; `full` where the controller and our own queue have no more room.
    public func send(
        _ value: [UInt8], of attribute: AttributeKey, as delivery: Delivery, to centrals: [Peer.ID]?
    ) throws(RadioError) -> SendResult {
        guard state == .running else { throw RadioError(.lost, "the radio is gone") }
        guard let place = database.handle(of: attribute), properties[attribute] != nil else {
            throw RadioError(.unknownAttribute, "the characteristic is not published")
        }
        var subscribers: [(handle: UInt16, bits: UInt16)] = []
        var tooShort: [UInt16] = []
        for index in links.indices {
            // What a client does not know of it is not sent, but for the news itself (Vol 3, Part G, 2.5.2.1).
            guard !links[at: index].isBearerDead, links[at: index].server.awareness == .aware,
                centrals?.contains(links[at: index].peer.id) ?? true,
                let bits = links[at: index].server.configurations[place &+ 1]
            else { continue }
            guard value.count <= links[at: index].server.mtu - GATT.notificationHeaderLength else {
                tooShort.append(links[at: index].handle)
                continue
            }
            let handle = links[at: index].handle
            // All of them or nobody: who has it already would be sent it again when it is tried again.
            guard data.count(of: handle) < options.queueLimit,
                !Self.indicates(bits, delivery) || links[at: index].indications.count < Link.indicationLimit
            else {
                refusals.add(handle)
                return .full
            }
            subscribers.append((handle, bits))
        }
        if !tooShort.isEmpty { try tell(value, isTooLongFor: tooShort, othersHaveIt: !subscribers.isEmpty) }
        for (handle, bits) in subscribers {
            if Self.indicates(bits, delivery) {
                indicate(place, attribute, value, handle)
            } else {
                notify(place, value, handle)
            }
        }
        return .sent(subscribers.count)
    }

    /// What a link does not carry is an error, and where others have it a warning, once for each link: they are not to miss it
    /// because of one that has agreed on no larger MTU.
    private func tell(
        _ value: [UInt8], isTooLongFor handles: [UInt16], othersHaveIt: Bool
    ) throws(RadioError) {
        for handle in handles {
            guard let link = links[handle], !(othersHaveIt && link.isToldTooShort) else { continue }
            let message =
                "the value has \(value.count) bytes and the link to \(link.peer.address.map { "\($0)" } ?? "a central") carries \(link.server.mtu - GATT.notificationHeaderLength) of one"
            guard othersHaveIt else { throw RadioError(.valueTooLong, message) }
            links[handle]?.isToldTooShort = true
            tell(.warning(RadioWarning("valueTooLong", message + ": it is sent to the others")))
        }
    }

    private static func indicates(_ bits: UInt16, _ delivery: Delivery) -> Bool {
        switch delivery {
        case .indication: bits & 2 != 0
        case .notification: bits & 1 == 0
        case .asSubscribed: bits & 1 == 0
        }
    }

    /// One indication of a link is under way at a time; the next follows its confirmation.
    func indicate(_ place: UInt16, _ key: AttributeKey, _ value: [UInt8], _ handle: UInt16) {
        guard let pdu = links[handle]?.server.indicate(place, value) else {
            links[handle]?.indications.append((place, key, value))
            return
        }
        send(L2CAPFrame(channel: L2CAPFrame.Channel.attribute, payload: pdu), to: handle)
        watchConfirmation(handle)
    }

    /// Gives the indication that is under way its time (Vol 3, Part F, 3.3.3); one task looks after all of a link.
    private func watchConfirmation(_ handle: UInt16) {
        guard let index = links.index(of: handle) else { return }
        links[at: index].confirmedBy = now() + options.transactionTimeout
        guard links[at: index].confirmationWatch == nil else { return }
        let peer = links[at: index].peer.id
        links[at: index].confirmationWatch = Task { await lookAfterConfirmation(handle, peer) }
    }

    private func lookAfterConfirmation(_ handle: UInt16, _ peer: Peer.ID) async {
        while let link = links[handle], link.peer.id == peer, link.server.indicated != nil {
            let left = link.confirmedBy - now()
            guard left > .zero else {
                confirmationOverdue(handle)
                break
            }
            guard (try? await sleep(left)) != nil else { return }
        }
        if links[handle]?.peer.id == peer { links[handle]?.confirmationWatch = nil }
    }

    private func confirmed(_ place: UInt16, _ handle: UInt16) {
        guard let link = links[handle] else { return }
        if case .value(let key, _)? = database[place]?.content, key != serviceChanged {
            tell(.confirmed(key, link.peer.id))
        }
        if let key = serviceChanged, database.handle(of: key) == place {
            if !link.indications.contains(where: { $0.key == key }) {
                links[handle]?.server.toldOfServices()
            }
            remember(handle)
        }
        guard let next = links[handle]?.indications.first else { return }
        links[handle]?.indications.removeFirst()
        if let key = next.key { indicate(next.handle, key, next.value, handle) }
        tellOfRoom()
    }

    /// There may be room again for what was refused.
    func tellOfRoom() {
        if refusals.end(where: hasRoom) { tell(.readyToSend) }
    }

    private func confirmationOverdue(_ handle: UInt16) {
        links[handle]?.isBearerDead = true
        links[handle]?.indications = []
        // The others have waited for it.
        defer { tellOfRoom() }
        tell(
            .warning(
                RadioWarning(
                    "confirmationOverdue",
                    "a central did not confirm an indication within \(options.transactionTimeout), and is sent nothing more"
                )))
    }
}
