package import MynahCore
package import MynahFaults
import MynahSupport

/// A radio without air: it keeps what it was told, and tests make events happen.
package actor FakeRadio: VanishingRadio {
    /// One value that was sent.
    package struct Sent: Hashable, Sendable {
        /// Of what.
        package var attribute: AttributeKey
        /// The bytes.
        package var value: [UInt8]
        /// The receivers, or `nil` for all.
        package var centrals: [Peer.ID]?
    }

    /// The calls that can be made to fail.
    package enum Call: Sendable {
        case start, publish, advertise, send, disconnect, vanish, reappear, forgetBond
        case publishL2CAPChannel, requestConnectionParameters
    }

    /// Its capabilities.
    package var capabilities: RadioCapabilities
    /// The identity that was passed to `start`.
    package private(set) var identity: DeviceIdentity?
    /// Whether it is started.
    package private(set) var isRunning = false
    /// The batches that are published now, in order.
    package private(set) var published: [(id: PublishedServices.ID, services: [ServiceDefinition])] = []
    package private(set) var isOn = true
    /// How services are served, by their types.
    package private(set) var modes: [BluetoothUUID: ServingMode] = [:]
    /// The current advertisement.
    package private(set) var advertisement: Advertisement?
    /// The values that the radio answers by itself.
    package private(set) var values: [AttributeKey: [UInt8]] = [:]
    /// The values that were sent, in order.
    package private(set) var sent: [Sent] = []
    /// The room in the queue, in values, or `nil` if it is unlimited.
    package private(set) var room: Int?
    /// The centrals whose links have no room.
    package private(set) var full: Set<Peer.ID> = []
    private var errors: [Call: RadioError] = [:]
    private var sink: (any RadioSink)?
    private var requestSink: (any RadioSink)?
    private var holdsStarting = false
    private var holdsPublishing = false
    private var holdsAdvertising = false
    private var holdsWithdrawing = false
    private var holdsReappearing = false
    private var held: [Waiter<Void>] = []
    private var lastID: UInt32 = 0
    /// The numbers that are published for channels, and whether each wants encryption.
    package private(set) var channelNumbers: [UInt16: Bool] = [:]
    private var channels: [FakeChannel] = []
    /// The centrals whose links are encrypted.
    package private(set) var encrypted: Set<Peer.ID> = []
    /// The bonded devices.
    package private(set) var bondedAddresses: [DeviceAddress] = []
    /// The reasons for which links were ended, in order.
    package private(set) var reasons: [UInt8] = []
    /// Whether it has fallen silent.
    package private(set) var isGone = false
    /// Whether `disconnect` leaves it to the test to end the link.
    package private(set) var holdsLinks = false
    /// The connection parameters that were requested, in order.
    package private(set) var wantedParameters: [ConnectionParameterRange] = []

    /// A radio that can do everything unless said.
    package init(capabilities: RadioCapabilities = RadioCapabilities(name: "fake")) {
        self.capabilities = capabilities
    }

    /// The faults of a radio that has nothing below ATT but its silence.
    package nonisolated var faultSupport: FaultSupport {
        var support = FaultSupport.ownHost
        for effect in [FaultEffect.Kind.refuseSubscription, .mtu] { support.triggers[effect] = nil }
        for effect in [FaultEffect.Kind.delay, .error, .noAnswer] {
            support.triggers[effect]?.remove(.subscribe)
        }
        support.triggers = support.triggers.mapValues { $0.subtracting([.discover, .mtu]) }
        support.lostBonds.remove(.disconnect)
        return support
    }

    /// Lets the next call of one kind fail.
    ///
    /// Calls of other kinds, which may come first, are not affected.
    package func fail(_ call: Call, _ error: RadioError) { errors[call] = error }

    /// Lets `start` take its time from now on, as a radio with a controller to reset does.
    package func holdStarting() { holdsStarting = true }

    /// Lets `publish` take its time from now on, as a radio in another process does.
    package func holdPublishing() { holdsPublishing = true }

    /// Lets `advertise` take its time from now on, as a controller that answers slowly does.
    package func holdAdvertising() { holdsAdvertising = true }

    /// Lets `withdraw` take its time from now on.
    package func holdWithdrawing() { holdsWithdrawing = true }

    /// Lets `reappear` take its time from now on.
    package func holdReappearing() { holdsReappearing = true }

    /// How many calls to start, publish, advertise, withdraw or reappear wait.
    package var heldCount: Int { held.count }

    /// Lets the calls that wait, and all later ones, go on.
    package func release() {
        holdsStarting = false
        holdsPublishing = false
        holdsAdvertising = false
        holdsWithdrawing = false
        holdsReappearing = false
        for waiter in held { waiter.resume() }
        held = []
    }

    /// Limits the queue.
    package func setRoom(_ room: Int?) { self.room = room }

    /// Fills a central's link, or makes room on it.
    package func setFull(_ isFull: Bool, _ central: Peer.ID) {
        if isFull { full.insert(central) } else { full.remove(central) }
    }

    package func setRequestSink(_ sink: (any RadioSink)?) { requestSink = sink }

    /// Makes an event happen, and returns what the sink said to it.
    @discardableResult
    package func simulate(_ event: RadioEvent) -> RadioAnswer {
        let target =
            switch event {
            case .read, .write, .answeredRead: requestSink ?? sink
            default: sink
            }
        return target?.handle(event) ?? .none
    }

    /// Makes a request happen and waits for its answer.
    ///
    /// Returns `nil` if the sink did not answer.
    package func request(_ event: RadioEvent) async throws -> PendingReply.Outcome? {
        switch simulate(event) {
        case .none, .pairing, .pairingLater: return nil
        case .answer(let outcome): return outcome
        case .later(let reply):
            return try await waiting(for: "the answer to a request that the sink answers later") { waiter in
                reply.whenAnswered { waiter.resume(returning: $0) }
            }
        }
    }

    /// Makes a step of a pairing happen and waits for its answer.
    ///
    /// Returns `nil` if the sink did not answer.
    package func pair(_ central: Peer.ID, _ step: PairingStep) async throws -> PairingAnswer? {
        switch simulate(.pairing(central, step)) {
        case .none, .answer, .later: return nil
        case .pairing(let answer): return answer
        case .pairingLater(let reply):
            return try await waiting(for: "the answer to a pairing that the sink answers later") { waiter in
                reply.whenAnswered { waiter.resume(returning: $0) }
            }
        }
    }

    package func start(
        _ identity: DeviceIdentity, sink: any RadioSink
    ) async throws(RadioError) -> RadioCapabilities {
        try failIfTold(.start)
        if holdsStarting { try? await waiting(for: "the release of a held start") { held.append($0) } }
        self.identity = identity
        self.sink = sink
        isRunning = true
        simulate(.stateChanged(.poweredOn))
        return capabilities
    }

    package func stop() async {
        isRunning = false
        published = []
        advertisement = nil
        sink = nil
        requestSink = nil
    }

    package func publish(_ services: [ServiceDefinition]) async throws(RadioError) -> PublishedServices {
        try failIfTold(.publish)
        if holdsPublishing { try? await waiting(for: "the release of a held publish") { held.append($0) } }
        lastID += 1
        let id = PublishedServices.ID(lastID)
        published.append((id, services))
        for characteristic in services.flatMap(\.characteristics) {
            values[characteristic.key] = characteristic.value
            for descriptor in characteristic.descriptors { values[descriptor.key] = descriptor.value }
        }
        return PublishedServices(id: id)
    }

    package func withdraw(_ services: PublishedServices.ID) async {
        if holdsWithdrawing { try? await waiting(for: "the release of a held withdraw") { held.append($0) } }
        // As radios do, it knows attributes by their keys, whichever batch they came in.
        for service in published.first(where: { $0.id == services })?.services ?? [] {
            for characteristic in service.characteristics {
                values[characteristic.key] = nil
                for descriptor in characteristic.descriptors { values[descriptor.key] = nil }
            }
        }
        published.removeAll { $0.id == services }
    }

    /// Is turned off: what it simulates then is the end of everything.
    package func turnOff() { isOn = false }

    package func serve(_ services: [ServiceDefinition], as mode: ServingMode) {
        for service in services { modes[service.uuid] = mode }
    }

    package func setValue(_ value: [UInt8]?, of attribute: AttributeKey) {
        values[attribute] = value
    }

    package func advertise(_ advertisement: Advertisement) async throws(RadioError) -> AdvertisingReport {
        try failIfTold(.advertise)
        if holdsAdvertising {
            try? await waiting(for: "the release of a held advertise") { held.append($0) }
        }
        self.advertisement = advertisement
        do throws(AdvertisementError) {
            let bytes = try AccessoryAdvertising.compose(advertisement)
            return AdvertisingReport(
                isOn: true, data: bytes.data.bytes, scanResponse: bytes.scanResponse.bytes,
                interval: advertisement.intervals, address: capabilities.address)
        } catch {
            throw RadioError(.advertisementRefused, "\(error)")
        }
    }

    package func stopAdvertising() async {
        advertisement = nil
    }

    package func send(
        _ value: [UInt8], of attribute: AttributeKey, as delivery: Delivery, to centrals: [Peer.ID]?
    ) throws(RadioError) -> SendResult {
        try failIfTold(.send)
        guard full.isDisjoint(with: centrals ?? Array(full)) else { return .full }
        if let room {
            guard room > 0 else { return .full }
            self.room = room - 1
        }
        sent.append(Sent(attribute: attribute, value: value, centrals: centrals))
        return .sent(centrals?.count)
    }

    package func disconnect(_ central: Peer.ID) async {
        encrypted.remove(central)
        if !holdsLinks { simulate(.disconnected(central)) }
    }

    package func disconnect(_ central: Peer.ID, reason: UInt8) async throws(RadioError) {
        try failIfTold(.disconnect)
        reasons.append(reason)
        await disconnect(central)
    }

    package func vanish() async throws(RadioError) {
        try failIfTold(.vanish)
        isGone = true
        simulate(.stateChanged(.poweredOff))
    }

    package func reappear() async throws(RadioError) {
        if holdsReappearing { try? await waiting(for: "the release of a held return") { held.append($0) } }
        try failIfTold(.reappear)
        isGone = false
        simulate(.stateChanged(.poweredOn))
    }

    /// Leaves links up that the phone ends, until the test ends them.
    package func holdLinks() { holdsLinks = true }

    package func isEncrypted(_ central: Peer.ID) -> Bool? { encrypted.contains(central) }

    /// Encrypts a central's link with a new bond.
    package func bond(_ central: Peer) {
        encrypted.insert(central.id)
        if let address = central.address { bondedAddresses.append(address) }
        simulate(.paired(central.id))
    }

    package func forgetBond(with address: DeviceAddress) async throws(RadioError) -> Bool {
        try failIfTold(.forgetBond)
        let isBonded = bondedAddresses.contains(address)
        bondedAddresses.removeAll { $0 == address }
        return isBonded
    }

    package func publishL2CAPChannel(isEncrypted: Bool) throws(RadioError) -> UInt16 {
        try failIfTold(.publishL2CAPChannel)
        let psm = (0x80...0xFF).first { channelNumbers[$0] == nil } ?? 0x80
        channelNumbers[psm] = isEncrypted
        return psm
    }

    package func unpublishL2CAPChannel(_ psm: UInt16) {
        channelNumbers[psm] = nil
        for channel in channels where channel.psm == psm { channel.end() }
    }

    package func requestConnectionParameters(
        _ wanted: ConnectionParameterRange, of central: Peer.ID
    ) async throws(RadioError) -> Bool {
        try failIfTold(.requestConnectionParameters)
        wantedParameters.append(wanted)
        return wanted != ConnectionParameterRange(.low)
    }

    /// A central opens a channel.
    package func openChannel(_ psm: UInt16, from peer: Peer.ID) -> FakeChannel {
        let channel = FakeChannel(psm: psm, peer: peer)
        channels.append(channel)
        simulate(.channelOpened(channel))
        return channel
    }

    private func failIfTold(_ call: Call) throws(RadioError) {
        if let error = errors.removeValue(forKey: call) { throw error }
    }
}
