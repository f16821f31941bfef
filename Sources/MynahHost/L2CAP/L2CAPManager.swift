import MynahCore
import MynahHCI
import MynahSupport

/// The L2CAP of every link but its fixed channels for ATT and SMP: signalling, and LE credit-based channels.
///
/// A part without I/O. It writes frames into `Outbound`, and asks for everything else by actions. A call is known by its number, a
/// channel by its key; the driver keeps what waits for them.
struct L2CAPManager: Sendable {
    /// What the driver is asked to do.
    enum Action: Sendable {
        /// A peer has opened a channel to a number that this side published.
        case opened(ChannelEnd)
        /// A call of `open` ended.
        case openEnded(call: UInt64, Result<ChannelEnd, RadioError>)
        /// A call of `askForParameters` ended; `false` if the central does not want them.
        case parametersEnded(call: UInt64, Result<Bool, RadioError>)
        /// A request is to be answered by a time, at which the driver calls `expire`; `nil` if the answer is not awaited any more.
        case watchAnswer(link: UInt16, identifier: UInt8, Duration?)
        /// The peripheral asks for other connection parameters, and was told that it gets them.
        case updateParameters(link: UInt16, ConnectionParameterRange)
        /// The SDU that was awaited, or `nil` if the channel was closed before it came.
        case received(ChannelKey, [UInt8]?)
        /// Everything that was to be sent is on its way, or the channel was closed before.
        case sent(ChannelKey, Result<Void, RadioError>)
        /// A channel is closed because its peer does not keep to the rules.
        case violated(String)
    }

    /// One link.
    struct Link {
        var handle: UInt16
        var peer: Peer.ID
        /// What this side is on it.
        var role: LEConnection.Role
        var signalling = Signalling()
        var channels: [OpenChannel] = []

        /// Where the channel with an identifier of this end is.
        func index(own: UInt16) -> Int? { channels.firstIndex { $0.key.channel == own } }

        /// Where the channel with an identifier of the peer's end is.
        func index(peer: UInt16) -> Int? { channels.firstIndex { $0.peer == peer } }

        /// Returns a channel identifier that is free, or `nil` if the link has as many channels as it may.
        func freeChannel() -> UInt16? {
            guard channels.count < L2CAPManager.limit else { return nil }
            return L2CAPFrame.Channel.dynamic.first { index(own: $0) == nil && !signalling.isAsking(for: $0) }
        }
    }

    /// The numbers that are given out for channels (Core Specification, Vol 3, Part A, 4.22).
    static let numbers: ClosedRange<UInt16> = 0x0080...0x00FF
    /// How many channels one link has at most.
    static let limit = 16

    /// How long a peer may take to answer a request.
    let timeout: Duration
    /// Whether the controller has the command that changes connection parameters.
    var canUpdateParameters = true
    /// The numbers that are published, and whether each wants encryption.
    private var services: [UInt16: Bool] = [:]
    var links = SortedMap<UInt16, Link>()
    /// SDUs that came over channels that are closed, and were not received yet.
    var unread: [ChannelKey: [[UInt8]]] = [:]
    var openCount = 0
    var lastChannel: UInt64 = 0
    private var lastCall: UInt64 = 0

    init(timeout: Duration) {
        self.timeout = timeout
    }

    /// Whether any link has a channel.
    var hasChannels: Bool { openCount > 0 }

    /// Forgets everything but which numbers were used for calls and channels, so that a key never names another channel.
    mutating func removeAll() {
        var new = L2CAPManager(timeout: timeout)
        new.lastChannel = lastChannel
        new.lastCall = lastCall
        self = new
    }

    // MARK: Links

    /// A link began.
    mutating func begin(_ link: UInt16, to peer: Peer.ID, as role: LEConnection.Role) {
        links[link] = Link(handle: link, peer: peer, role: role)
    }

    /// A link ended, and with it its channels and the requests on it.
    mutating func end(_ link: UInt16, _ actions: inout [Action]) {
        guard let link = links.removeValue(forKey: link) else { return }
        for (identifier, request) in link.signalling.requests {
            actions.append(.watchAnswer(link: link.handle, identifier: identifier, nil))
            actions.append(failure(of: request))
        }
        for channel in link.channels { ended(channel, &actions) }
    }

    // MARK: Published numbers

    /// Publishes a number to which centrals open channels, and returns it.
    ///
    /// Throws `servicesRefused` if no number is left.
    mutating func publish(isEncrypted: Bool) throws(RadioError) -> UInt16 {
        guard let psm = Self.numbers.first(where: { services[$0] == nil }) else {
            throw RadioError(.servicesRefused, "no number is left for a channel")
        }
        services[psm] = isEncrypted
        return psm
    }

    /// Takes a number back, and closes the channels that were opened to it.
    mutating func unpublish(_ psm: UInt16, _ outbound: inout Outbound, _ actions: inout [Action]) {
        guard services.removeValue(forKey: psm) != nil else { return }
        for channel in links.values.flatMap(\.channels) where channel.service == psm {
            close(channel.key, &outbound, &actions)
        }
    }

    // MARK: Requests of this side

    /// Asks the peer of a link for a channel to a number that it has published, and returns the number of the call.
    mutating func open(
        _ psm: UInt16, on link: UInt16, at now: Duration, _ outbound: inout Outbound,
        _ actions: inout [Action]
    ) -> UInt64 {
        lastCall += 1
        guard let index = links.index(of: link) else {
            actions.append(failure(of: .openChannel(call: lastCall, psm: psm, own: 0)))
            return lastCall
        }
        guard let own = links[at: index].freeChannel() else {
            let error = RadioError(.invalidState, "the link has \(Self.limit) channels already")
            actions.append(.openEnded(call: lastCall, .failure(error)))
            return lastCall
        }
        let limits = CreditChannel.Limits()
        ask(
            .creditConnectionRequest(
                psm: psm, source: own, mtu: UInt16(limits.mtu), mps: UInt16(limits.mps),
                credits: CreditChannel.initialCredits),
            .openChannel(call: lastCall, psm: psm, own: own), index, at: now, &outbound, &actions)
        return lastCall
    }

    /// Asks the central of a link for other connection parameters, and returns the number of the call.
    mutating func askForParameters(
        _ range: ConnectionParameterRange, on link: UInt16, at now: Duration, _ outbound: inout Outbound,
        _ actions: inout [Action]
    ) -> UInt64 {
        lastCall += 1
        let request = Signalling.Request.updateParameters(call: lastCall)
        guard let index = links.index(of: link) else {
            actions.append(failure(of: request))
            return lastCall
        }
        guard links[at: index].role == .peripheral else {
            let error = RadioError(
                .invalidState, "a peripheral asks a central, and not the other way round")
            actions.append(.parametersEnded(call: lastCall, .failure(error)))
            return lastCall
        }
        ask(.parameterUpdateRequest(range), request, index, at: now, &outbound, &actions)
        return lastCall
    }

    private mutating func ask(
        _ signal: L2CAPSignal, _ request: Signalling.Request, _ index: Int, at now: Duration,
        _ outbound: inout Outbound, _ actions: inout [Action]
    ) {
        guard let identifier = links[at: index].signalling.add(request) else {
            return actions.append(failure(of: request))
        }
        let link = links.keys[index]
        actions.append(.watchAnswer(link: link, identifier: identifier, now + timeout))
        outbound.send(signal.frame(identifier: identifier), to: link)
    }

    /// The time that was asked for by `watchAnswer` has come (6.2.1).
    mutating func expire(_ identifier: UInt8, on link: UInt16, _ actions: inout [Action]) {
        guard let index = links.index(of: link) else { return }
        answered(nil, identifier, index, &actions)
    }

    /// Takes the answer to a request, or `nil` if none came in time.
    private mutating func answered(
        _ answer: L2CAPSignal?, _ identifier: UInt8, _ index: Int, _ actions: inout [Action]
    ) {
        guard let request = links[at: index].signalling.take(identifier) else { return }
        actions.append(.watchAnswer(link: links.keys[index], identifier: identifier, nil))
        guard let answer else { return actions.append(failure(of: request)) }
        switch (request, answer) {
        case (.openChannel(let call, let psm, let own), _):
            actions.append(.openEnded(call: call, opened(psm, own, answer, index)))
        case (.updateParameters(let call), .parameterUpdateResponse(let isAccepted)):
            actions.append(.parametersEnded(call: call, .success(isAccepted)))
        case (.updateParameters(let call), _):
            actions.append(.parametersEnded(call: call, .success(false)))
        }
    }

    /// What a request comes to that is not answered.
    private func failure(of request: Signalling.Request) -> Action {
        switch request {
        case .openChannel(let call, _, _):
            .openEnded(
                call: call,
                .failure(RadioError(.disconnected, "the peer did not answer, or the link ended")))
        case .updateParameters(let call):
            .parametersEnded(
                call: call,
                .failure(RadioError(.disconnected, "the central did not answer, or the link ended")))
        }
    }

    // MARK: Signals of the peer

    /// Takes a frame of the signalling channel, or of a credit-based channel.
    mutating func receive(
        _ frame: L2CAPFrame, on link: UInt16, _ security: LinkSecurity, _ outbound: inout Outbound,
        _ actions: inout [Action]
    ) {
        guard let index = links.index(of: link) else { return }
        guard frame.channel == L2CAPFrame.Channel.signalling else {
            return receive(frame.payload, frame.channel, index, &outbound, &actions)
        }
        guard let (identifier, signal) = L2CAPSignal.parse(frame.payload) else { return }
        let answer: L2CAPSignal?
        switch signal {
        case .parameterUpdateRequest(let range):
            answer = parametersWanted(range, index, &actions)
        case .creditConnectionRequest(let psm, let source, let mtu, let mps, let credits):
            let theirs = CreditChannel.Limits(mtu: Int(mtu), mps: Int(mps))
            if let reason = refusal(psm, source, theirs, index, security) {
                answer = .refusal(reason)
            } else {
                return accept(psm, source, theirs, credits, identifier, index, &outbound, &actions)
            }
        case .disconnectionRequest(let own, let peer):
            answer = closedByPeer(own: own, peer: peer, index, &actions)
        case .credits(let peer, let count):
            return credited(count, peer: peer, index, &outbound, &actions)
        case .unknown:
            answer = .reject(.notUnderstood)
        case .reject, .rejectChannel, .disconnectionResponse, .parameterUpdateResponse,
            .creditConnectionResponse:
            return answered(signal, identifier, index, &actions)
        }
        if let answer { outbound.send(answer.frame(identifier: identifier), to: link) }
    }

    /// The peripheral asks for other connection parameters; a peripheral is not asked (4.20).
    private func parametersWanted(
        _ range: ConnectionParameterRange, _ index: Int, _ actions: inout [Action]
    ) -> L2CAPSignal {
        guard links[at: index].role == .central else { return .reject(.notUnderstood) }
        guard canUpdateParameters, range.isValid else { return .parameterUpdateResponse(isAccepted: false) }
        actions.append(.updateParameters(link: links.keys[index], range))
        return .parameterUpdateResponse(isAccepted: true)
    }

    /// Returns why a request for a channel is refused, or `nil` if it is accepted (4.22, 4.23).
    private func refusal(
        _ psm: UInt16, _ source: UInt16, _ theirs: CreditChannel.Limits, _ index: Int,
        _ security: LinkSecurity
    ) -> ChannelRefusal? {
        let link = links[at: index]
        // What is published is published to centrals.
        guard link.role == .peripheral, let isEncrypted = services[psm] else { return .unknownNumber }
        if isEncrypted, !security.isEncrypted {
            return security.isBonded ? .insufficientEncryption : .insufficientAuthentication
        }
        guard L2CAPFrame.Channel.dynamic.contains(source) else { return .invalidSource }
        guard link.index(peer: source) == nil else { return .sourceInUse }
        guard theirs.areValid else { return .unacceptableParameters }
        return link.freeChannel() == nil ? .noResources : nil
    }
}
