public import MynahCore
import MynahLifecycle
import MynahSupport

// Requests to a peripheral.
extension Peripheral {
    private func link() throws(RequestError) -> Peer.ID {
        guard let peer else {
            throw .failed(RadioError(.disconnected, "\(address) is not connected"))
        }
        return peer
    }

    /// Sends a request and returns the answer to the program; both wait while its app is suspended.
    ///
    /// With `isPreserved`, the answer changes the preserved state, which is saved before the call returns.
    private func answering<Value: Sendable>(
        isPreserved: Bool = false, _ body: (Peer.ID) async throws(RequestError) -> Value
    ) async throws(RequestError) -> Value {
        try await access.waitUntilRunning()
        let peer = try link()
        let result: Result<Value, RequestError>
        do throws(RequestError) {
            result = .success(try await body(peer))
        } catch {
            access.failed(error, on: peer)
            result = .failure(error)
        }
        if isPreserved { access.preserve() }
        hasAnswerWaited = try await access.answered()
        return try result.get()
    }

    /// Sends a request as `answering` does, and pairs if the peripheral requires security.
    private func asking<Value: Sendable>(
        _ body: @Sendable (any CentralRadio, Peer.ID) async throws(RequestError) -> Value
    ) async throws(RequestError) -> Value {
        try await answering { peer throws(RequestError) in
            try await radio.asking(
                peer, pairs: pairsWhenAsked, consents: { await access.consents(toPairOn: peer) }, body)
        }
    }

    /// Opens an L2CAP channel to a PSM that the peripheral published.
    public func openL2CAPChannel(_ psm: UInt16) async throws(RequestError) -> any L2CAPChannel {
        let channel = try await asking { radio, peer throws(RequestError) in
            do throws(RadioError) {
                return try await radio.openL2CAPChannel(psm, with: peer)
            } catch {
                throw .failed(error)
            }
        }
        if let channel = access.owned(channel) { return channel }
        await channel.close()
        throw .failed(RadioError(.disconnected, "\(address) is not connected"))
    }

    // MARK: - Discovery

    /// Discovers primary services: all, or those of these types.
    ///
    /// A service that was discovered before keeps its characteristics, with their subscriptions. If types are
    /// named, `services` keeps those of other types.
    @discardableResult
    public func discoverServices(
        _ uuids: [BluetoothUUID]? = nil
    ) async throws(RequestError) -> [DiscoveredService] {
        try await answering(isPreserved: true) { peer throws(RequestError) in
            var found: [RemoteService] = []
            if let uuids {
                for uuid in uuids where shows(uuid) {
                    found += try await discovering(.primary(uuid), on: peer)
                }
            } else {
                found = try await discovering(.primary(nil), on: peer).filter { shows($0.uuid) }
            }
            access.found(found.map(\.uuid), on: peer)
            let known = services
            let new = found.map { one in known.first { $0.attribute == one } ?? DiscoveredService(one) }
                .sorted { $0.id < $1.id }
            guard isLinked(peer) else { return new }
            // A service whose handles overlap those of a new one no longer exists.
            let rest = known.filter { one in
                uuids?.contains(one.uuid) == false
                    && !found.contains { $0.handles.overlaps(one.attribute.handles) }
            }
            services = (new + rest).sorted { $0.id < $1.id }
            return new
        }
    }

    /// Discovers attributes, or returns the answer in the attribute table that the phone keeps.
    private func discovering<Found: Sendable>(
        on peer: Peer.ID, kept: (KeptTables.Table) -> Found?,
        note: @Sendable (inout KeptTables.Table, Found) -> Void,
        _ discover: () async throws(RequestError) -> Found
    ) async throws(RequestError) -> Found {
        let (table, number) = access.keptTable(of: peer)
        if let known = table.flatMap(kept) { return known }
        let found = try await discover()
        if let number { access.noted(in: number, of: peer) { note(&$0, found) } }
        return found
    }

    /// Discovers services, or returns the answer in the attribute table that the phone keeps.
    private func discovering(
        _ asked: KeptTables.Table.Services, on peer: Peer.ID
    ) async throws(RequestError) -> [RemoteService] {
        try await discovering(on: peer) {
            $0.found(asked)
        } note: {
            $0.note($1, to: asked)
        } _: { () async throws(RequestError) in
            switch asked {
            case .primary(let type): try await radio.discoverServices(type, of: peer)
            case .secondary: try await radio.discoverSecondaryServices(of: peer)
            case .included(let service): try await radio.discoverIncludedServices(in: service, of: peer)
            }
        }
    }

    /// Whether a link is still the peripheral's current one; answers from an earlier link are not kept.
    private func isLinked(_ peer: Peer.ID) -> Bool { (try? link()) == peer }

    /// Discovers secondary services, and adds them to `services`.
    @discardableResult
    public func discoverSecondaryServices() async throws(RequestError) -> [DiscoveredService] {
        try await answering(isPreserved: true) { peer throws(RequestError) in
            let found = try await discovering(.secondary, on: peer)
            guard isLinked(peer) else { return }
            let new = found.filter { one in !services.contains { $0.id == one.handles.lowerBound } }
            services = (services + new.map { DiscoveredService($0) }).sorted { $0.id < $1.id }
        }
        return services.filter { !$0.isPrimary }
    }

    /// Discovers the included services of a service.
    @discardableResult
    public func discoverIncludedServices(
        for service: DiscoveredService
    ) async throws(RequestError) -> [RemoteService] {
        try await answering(isPreserved: true) { peer throws(RequestError) in
            var found = try await discovering(.included(in: service.attribute), on: peer)
            for index in found.indices {
                found[index].isPrimary = services.contains {
                    $0.id == found[index].handles.lowerBound && $0.isPrimary
                }
            }
            if let index = services.firstIndex(where: { $0.id == service.id }) {
                services[index].includedServices = found
            }
            return found
        }
    }

    /// Discovers the characteristics of a service: all, or those of these types.
    ///
    /// A characteristic that was discovered before keeps its descriptors, its value and its subscription.
    @discardableResult
    public func discoverCharacteristics(
        _ uuids: [BluetoothUUID]? = nil, for service: DiscoveredService
    ) async throws(RequestError) -> [DiscoveredCharacteristic] {
        try await answering(isPreserved: true) { peer throws(RequestError) in
            let attribute = service.attribute
            let all = try await discovering(on: peer) {
                $0.characteristics[attribute]
            } note: {
                $0.note($1, of: attribute)
            } _: { () async throws(RequestError) in
                try await radio.discoverCharacteristics(in: attribute, of: peer)
            }
            let index = services.firstIndex { $0.id == service.id }
            let known = index.map { services[$0].characteristics } ?? []
            let found = all.filter { uuids?.contains($0.uuid) ?? true }.map { attribute in
                known.first { $0.attribute == attribute }
                    ?? DiscoveredCharacteristic(attribute, of: service.uuid)
            }
            if let index {
                let rest = uuids == nil ? [] : known.filter { one in !found.contains { $0.id == one.id } }
                services[index].characteristics = (found + rest).sorted { $0.id < $1.id }
            }
            return found
        }
    }

    /// Discovers the descriptors of a characteristic.
    @discardableResult
    public func discoverDescriptors(
        for characteristic: DiscoveredCharacteristic
    ) async throws(RequestError) -> [RemoteDescriptor] {
        try await answering(isPreserved: true) { peer throws(RequestError) in
            let attribute = characteristic.attribute
            let found = try await discovering(on: peer) {
                $0.descriptors[attribute]
            } note: {
                $0.note($1, of: attribute)
            } _: { () async throws(RequestError) in
                try await radio.discoverDescriptors(of: attribute, of: peer)
            }
            change(characteristic.id) { $0.descriptors = found }
            return found
        }
    }

    /// Discovers services with the services they include, their characteristics and their descriptors: every
    /// primary and secondary service, or the primary services of these types.
    @discardableResult
    public func discoverAll(
        _ uuids: [BluetoothUUID]? = nil
    ) async throws(RequestError) -> [DiscoveredService] {
        var found = try await discoverServices(uuids)
        if uuids == nil {
            try await discoverSecondaryServices()
            found = services
        }
        for service in found {
            try await discoverIncludedServices(for: service)
            for characteristic in try await discoverCharacteristics(for: service) {
                try await discoverDescriptors(for: characteristic)
            }
        }
        return services.filter { service in found.contains { $0.id == service.id } }
    }

    // MARK: - Values

    /// Reads the value of a characteristic, by several requests if it is long.
    public func readValue(for characteristic: DiscoveredCharacteristic) async throws(RequestError) -> [UInt8]
    {
        let value = try await readValue(at: characteristic.id)
        change(characteristic.id) { $0.value = value }
        return value
    }

    /// Reads the value of a descriptor.
    public func readValue(for descriptor: RemoteDescriptor) async throws(RequestError) -> [UInt8] {
        try await readValue(at: descriptor.handle)
    }

    /// Reads the values of several characteristics, by as few requests as possible.
    ///
    /// Values may be of any length, and are returned in the order of `characteristics`.
    public func readValues(
        for characteristics: [DiscoveredCharacteristic]
    ) async throws(RequestError) -> [[UInt8]] {
        let values = try await asking { radio, peer throws(RequestError) in
            try await radio.read(characteristics.map(\.id), of: peer)
        }
        for (characteristic, value) in zip(characteristics, values) {
            change(characteristic.id) { $0.value = value }
        }
        return values
    }

    /// Reads several values by one Read Multiple request, and returns them as one array of bytes.
    ///
    /// The caller has to know their lengths. The result ends after ATT_MTU − 1 bytes.
    public func readConcatenatedValues(
        for characteristics: [DiscoveredCharacteristic]
    ) async throws(RequestError) -> [UInt8] {
        try await asking { radio, peer throws(RequestError) in
            try await radio.readConcatenated(characteristics.map(\.id), of: peer)
        }
    }

    private func readValue(at handle: AttributeHandle) async throws(RequestError) -> [UInt8] {
        try await asking { radio, peer throws(RequestError) in try await radio.read(handle, of: peer) }
    }

    /// Writes the value of a characteristic.
    ///
    /// With a response the value has up to 512 bytes, and the call returns when the peripheral has answered.
    /// Without a response, `maximumWriteValueLength(for:)` is the limit. The call returns `false` and sends
    /// nothing if there is no buffer space; `.readyToWrite` follows. Throws `valueTooLong` if the value is
    /// longer.
    @discardableResult
    public func writeValue(
        _ value: [UInt8], for characteristic: DiscoveredCharacteristic, type: WriteType
    ) async throws(RequestError) -> Bool {
        switch type {
        case .withResponse:
            try await writeValue(value, at: characteristic.id)
            return true
        case .withoutResponse, .signed:
            try await access.waitUntilRunning()
            hasAnswerWaited = false
            let peer = try link()
            let isSent: Bool
            do throws(RadioError) {
                isSent =
                    type == .signed
                    ? try await radio.writeSigned(value, to: characteristic.id, of: peer)
                    : try await radio.writeWithoutResponse(value, to: characteristic.id, of: peer)
            } catch {
                throw .failed(error)
            }
            if !isSent { access.waitToWrite(on: peer) }
            return isSent
        }
    }

    /// Whether there is buffer space for a write without response, signed or not.
    ///
    /// If it is `false`, `.readyToWrite` follows when there is space. No event follows if it is `false`
    /// because the peripheral is not connected or the app has ended.
    public var canSendWriteWithoutResponse: Bool {
        get async {
            guard (try? await access.waitUntilRunning()) != nil, let peer else { return false }
            let hasRoom = await radio.hasRoomToWrite(to: peer)
            if !hasRoom { access.waitToWrite(on: peer) }
            return hasRoom
        }
    }

    /// Writes the value of a descriptor.
    public func writeValue(_ value: [UInt8], for descriptor: RemoteDescriptor) async throws(RequestError) {
        try await writeValue(value, at: descriptor.handle)
    }

    private func writeValue(_ value: [UInt8], at handle: AttributeHandle) async throws(RequestError) {
        try await asking { radio, peer throws(RequestError) in
            try await radio.write(value, to: handle, of: peer)
        }
    }

    /// Subscribes to the values of a characteristic, or unsubscribes.
    ///
    /// Subscribes to notifications if the characteristic supports them, and otherwise to indications. On the
    /// air the subscription ends when no app of the phone is subscribed any more. Throws `unknownAttribute`
    /// if the characteristic supports neither, or if it has no Client Characteristic Configuration
    /// descriptor.
    public func setNotifyValue(
        _ isOn: Bool, for characteristic: DiscoveredCharacteristic
    ) async throws(RequestError) {
        access.disown(characteristic.id, of: identifier)
        try await setNotify(isOn, for: characteristic)
    }

    /// Subscribes to the values of a characteristic, and returns a sequence of them.
    ///
    /// The subscription ends when the sequence is dropped, for example by a `break`, unless the
    /// characteristic was subscribed to before. The sequence ends when the subscription ends: by
    /// `setNotifyValue`, or with the connection or the service. A sequence holds the latest 4,096 unread
    /// values. Throws what `setNotifyValue` throws.
    public func values(
        of characteristic: DiscoveredCharacteristic
    ) async throws(RequestError) -> AsyncStream<[UInt8]> {
        // A value may come before the answer to the subscription.
        let isSubscribed = self.characteristic(withHandle: characteristic.id)?.delivery != nil
        let values = access.readValues(of: characteristic, of: self, subscribes: !isSubscribed)
        do throws(RequestError) {
            try await setNotify(true, for: characteristic)
        } catch {
            access.disown(characteristic.id, of: identifier)
            throw error
        }
        return values ?? AsyncStream { $0.finish() }
    }

    /// Subscribes or unsubscribes, at the request of the program or for a sequence of values.
    func setNotify(
        _ isOn: Bool, for characteristic: DiscoveredCharacteristic
    ) async throws(RequestError) {
        let delivery: Delivery? =
            characteristic.properties.contains(.notify)
            ? .notification : characteristic.properties.contains(.indicate) ? .indication : nil
        guard let delivery else {
            throw .failed(
                RadioError(.unknownAttribute, "\(characteristic.uuid) neither notifies nor indicates"))
        }
        var descriptors = characteristic.descriptors
        if descriptors == nil { descriptors = try await discoverDescriptors(for: characteristic) }
        guard let configuration = descriptors?.first(where: { $0.uuid == GATT.clientConfiguration }) else {
            throw .failed(
                RadioError(
                    .unknownAttribute,
                    "\(characteristic.uuid) has no Client Characteristic Configuration to subscribe by"))
        }
        try await answering(isPreserved: true) { peer throws(RequestError) in
            try await access.setNotify(
                isOn, for: .init(link: peer, handle: characteristic.id),
                by: .init(
                    handle: configuration.handle, bits: delivery == .notification ? 1 : 2,
                    pairs: pairsWhenAsked))
            access.subscribed(to: characteristic.id, isOn ? delivery : nil, on: peer)
        }
    }

    // MARK: - The link

    /// Reads the received signal strength of the link, in dBm.
    public func readRSSI() async throws(RequestError) -> Int8 {
        try await answering { peer throws(RequestError) in
            do throws(RadioError) { return try await radio.readRSSI(of: peer) } catch { throw .failed(error) }
        }
    }

    /// Exchanges the ATT_MTU, unless that was done on this link before, and returns it in bytes.
    @discardableResult
    public func exchangeMTU() async throws(RequestError) -> Int {
        try await answering { peer throws(RequestError) in try await radio.exchangeMTU(with: peer) }
    }

    /// Pairs, or encrypts the link with the key of an existing bond.
    ///
    /// Throws `failed` with `pairingFailed` if the pairing fails. The same error is thrown while the link is
    /// encrypted with the key of a deleted bond: disconnect and connect first. Throws `disconnected` if the
    /// link ended before it was secured.
    public func pair() async throws(RequestError) {
        try await answering { peer throws(RequestError) in
            do throws(RadioError) { try await radio.pair(peer) } catch { throw .failed(error) }
        }
    }

    /// Deletes the bond with the peripheral; returns `false` if there is none.
    @discardableResult
    public func forgetBond() async -> Bool {
        isPaired = false
        return await radio.forgetBond(with: address)
    }
}
