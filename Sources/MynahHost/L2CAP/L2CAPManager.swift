import MynahCore
import MynahHCI
import MynahSupport

/// Manages signalling and LE credit-based channels on every link, but not the fixed channels of ATT and SMP.
///
/// This state machine has no I/O. It queues frames in `Outbound`, and requests everything else by actions.
/// The driver stores the waiting calls; this type identifies a call by its number, and a channel by its key.
struct L2CAPManager: Sendable {
    /// An action for the driver.
    enum Action: Sendable {
        /// A peer has opened a channel to a PSM that this side published.
        case opened(ChannelEnd)
        /// The call of `open` with this number has ended.
        case openEnded(call: UInt64, Result<ChannelEnd, RadioError>)
        /// The call of `askForParameters` with this number has ended.
        ///
        /// The result is `false` if the central refused.
        case parametersEnded(call: UInt64, Result<Bool, RadioError>)
        /// Call `expire` at the given time, the deadline of a request.
        ///
        /// If the time is `nil`, cancel the call instead.
        case watchAnswer(link: ConnectionHandle, identifier: UInt8, Duration?)
        /// Report a peripheral's request for connection parameters, which was accepted or refused.
        case parametersRequested(link: ConnectionHandle, ConnectionParameterRequest)
        /// Change the connection parameters, as a peripheral has requested.
        case updateParameters(link: ConnectionHandle, ConnectionParameterRange)
        /// The SDU requested with `awaitNext`, or `nil` if the channel was closed first.
        case received(ChannelKey, [UInt8]?)
        /// All data of a `send` was sent, or the channel was closed before.
        case sent(ChannelKey, Result<Void, RadioError>)
        /// A channel is closed because its peer violated the protocol; the text says how.
        case violated(String)
    }

    /// The PSMs that can be published (Core Specification, Vol 3, Part A, 4.22).
    static let numbers: ClosedRange<UInt16> = 0x0080...0x00FF

    /// The time in which a peer must answer a request.
    let timeout: Duration
    /// Whether the controller has the command that changes connection parameters.
    var canUpdateParameters = true
    /// The rules by which this side, as central, accepts connection parameters.
    var rules = ConnectionParameterRules.specification
    /// The published PSMs; the value is `true` if the PSM requires encryption.
    private var services: [UInt16: Bool] = [:]
    private var links = SortedMap<ConnectionHandle, L2CAPLink>()
    /// The unread SDUs of closed channels.
    private(set) var unread: [ChannelKey: [[UInt8]]] = [:]
    private var openCount = 0
    private var lastChannel: UInt64 = 0
    private var lastCall: UInt64 = 0

    init(timeout: Duration) {
        self.timeout = timeout
    }

    /// Whether any link has a channel.
    var hasChannels: Bool { openCount > 0 }

    /// Removes all state, except the rules and the last numbers of calls and channels.
    ///
    /// The numbers continue, so that none is used twice.
    mutating func removeAll() {
        var new = L2CAPManager(timeout: timeout)
        new.rules = rules
        new.lastChannel = lastChannel
        new.lastCall = lastCall
        self = new
    }

    // MARK: Links

    mutating func addLink(_ link: ConnectionHandle, to peer: Peer.ID, as role: LEConnection.Role) {
        links[link] = L2CAPLink(link, to: peer, as: role)
    }

    /// Removes a link that has ended, with its channels and requests.
    mutating func end(_ link: ConnectionHandle, _ actions: inout [Action]) {
        guard let link = links.removeValue(forKey: link) else { return }
        for (identifier, request) in link.signalling.requests.pairs {
            actions.append(.watchAnswer(link: link.handle, identifier: identifier, nil))
            actions.append(failure(of: request))
        }
        for channel in link.channels { ended(channel, &actions) }
    }

    // MARK: Published PSMs

    /// Publishes a PSM, to which centrals can open channels, and returns it.
    ///
    /// Throws `servicesRefused` if no PSM is left.
    mutating func publish(isEncrypted: Bool) throws(RadioError) -> UInt16 {
        guard let psm = Self.numbers.first(where: { services[$0] == nil }) else {
            throw RadioError(.servicesRefused, "no PSM is left")
        }
        services[psm] = isEncrypted
        return psm
    }

    /// Withdraws a PSM, and closes the channels that were opened to it.
    mutating func unpublish(_ psm: UInt16, _ outbound: inout Outbound, _ actions: inout [Action]) {
        guard services.removeValue(forKey: psm) != nil else { return }
        for channel in links.values.flatMap(\.channels) where channel.service == psm {
            close(channel.key, &outbound, &actions)
        }
    }

    // MARK: Requests of this side

    /// Requests a channel to a PSM of a link's peer, and returns the number of the call.
    mutating func open(
        _ psm: UInt16, on link: ConnectionHandle, at now: Duration, _ outbound: inout Outbound,
        _ actions: inout [Action]
    ) -> UInt64 {
        lastCall += 1
        guard let index = links.index(of: link) else {
            actions.append(failure(of: .openChannel(call: lastCall, psm: psm, own: 0)))
            return lastCall
        }
        guard let own = links[at: index].freeChannel() else {
            let error = RadioError(.invalidState, "the link has \(L2CAPLink.channelLimit) channels already")
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

    /// Requests connection parameters from the central of a link, and returns the number of the call.
    mutating func askForParameters(
        _ range: ConnectionParameterRange, on link: ConnectionHandle, at now: Duration,
        _ outbound: inout Outbound,
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
                .invalidState, "only a peripheral can request connection parameters from its peer")
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

    /// Handles the deadline of a request (6.2.1).
    mutating func expire(_ identifier: UInt8, on link: ConnectionHandle, _ actions: inout [Action]) {
        guard let index = links.index(of: link) else { return }
        answered(nil, identifier, index, &actions)
    }

    /// Ends a pending request; `answer` is `nil` if no answer came in time.
    private mutating func answered(
        _ answer: L2CAPSignal?, _ identifier: UInt8, _ index: Int, _ actions: inout [Action]
    ) {
        guard let request = links[at: index].signalling.removeRequest(identifier) else { return }
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

    /// The action that ends a request without an answer.
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

    /// Handles a frame of the signalling channel, or of a credit-based channel.
    mutating func receive(
        _ frame: L2CAPFrame, on link: ConnectionHandle, _ security: LinkSecurity, _ outbound: inout Outbound,
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

    /// Answers a peripheral's request for connection parameters.
    ///
    /// A peripheral itself rejects such requests (4.20).
    private func parametersWanted(
        _ range: ConnectionParameterRange, _ index: Int, _ actions: inout [Action]
    ) -> L2CAPSignal {
        guard links[at: index].role == .central else { return .reject(.notUnderstood) }
        let refusal = canUpdateParameters ? rules.refusal(of: range) : .ofController
        let isAccepted = refusal == nil
        let link = links.keys[index]
        actions.append(
            .parametersRequested(
                link: link, ConnectionParameterRequest(range, by: .l2cap, isAccepted: isAccepted, refusal)))
        if isAccepted { actions.append(.updateParameters(link: link, range)) }
        return .parameterUpdateResponse(isAccepted: isAccepted)
    }

    /// Returns the reason for refusing a requested channel, or `nil` to accept it (4.22, 4.23).
    private func refusal(
        _ psm: UInt16, _ source: UInt16, _ theirs: CreditChannel.Limits, _ index: Int,
        _ security: LinkSecurity
    ) -> ChannelRefusal? {
        let link = links[at: index]
        // Only centrals can connect to a published PSM.
        guard link.role == .peripheral, let isEncrypted = services[psm] else { return .unknownNumber }
        if isEncrypted, !security.isEncrypted {
            return security.isBonded ? .insufficientEncryption : .insufficientAuthentication
        }
        guard L2CAPFrame.Channel.dynamic.contains(source) else { return .invalidSource }
        guard link.place(peer: source) == nil else { return .sourceInUse }
        guard theirs.areValid else { return .unacceptableParameters }
        return link.freeChannel() == nil ? .noResources : nil
    }

    // MARK: Channels

    /// Handles the answer to a request for a channel.
    private mutating func opened(
        _ psm: UInt16, _ own: UInt16, _ answer: L2CAPSignal, _ index: Int
    ) -> Result<ChannelEnd, RadioError> {
        switch answer {
        case .creditConnectionResponse(let destination, let mtu, let mps, let credits, 0):
            let theirs = CreditChannel.Limits(mtu: Int(mtu), mps: Int(mps))
            guard links[at: index].place(peer: destination) == nil, theirs.areValid,
                L2CAPFrame.Channel.dynamic.contains(destination)
            else {
                return .failure(
                    RadioError(.protocolViolation, "the peer's parameters for the channel are invalid"))
            }
            let machine = CreditChannel(peer: theirs, credits: credits)
            return .success(add(psm, own: own, peer: destination, machine, isService: false, index))
        case .creditConnectionResponse(_, _, _, _, let result):
            let refusal = ChannelRefusal(rawValue: result)
            return .failure(
                RadioError(
                    refusal.wantsSecurity ? .insufficientSecurity : .channelRefused,
                    "the peer refused the channel: \(refusal.reason)"))
        default:
            return .failure(RadioError(.unsupported, "the peer does not support L2CAP channels"))
        }
    }

    /// Accepts a requested channel: queues the response, and reports the channel.
    private mutating func accept(
        _ psm: UInt16, _ source: UInt16, _ theirs: CreditChannel.Limits, _ credits: UInt16,
        _ identifier: UInt8, _ index: Int, _ outbound: inout Outbound, _ actions: inout [Action]
    ) {
        guard let own = links[at: index].freeChannel() else { return }
        let limits = CreditChannel.Limits()
        let machine = CreditChannel(own: limits, peer: theirs, credits: credits)
        let end = add(psm, own: own, peer: source, machine, isService: true, index)
        let answer = L2CAPSignal.creditConnectionResponse(
            destination: own, mtu: UInt16(limits.mtu), mps: UInt16(limits.mps),
            credits: CreditChannel.initialCredits, result: 0)
        outbound.send(answer.frame(identifier: identifier), to: end.key.link)
        actions.append(.opened(end))
    }

    private mutating func add(
        _ psm: UInt16, own: UInt16, peer: UInt16, _ machine: CreditChannel, isService: Bool, _ index: Int
    ) -> ChannelEnd {
        lastChannel += 1
        openCount += 1
        let key = ChannelKey(link: links.keys[index], channel: own, number: lastChannel)
        links[at: index].add(
            OpenChannel(key: key, service: isService ? psm : nil, peer: peer, machine: machine))
        return ChannelEnd(
            key: key, psm: psm, peer: links[at: index].peer, maximumLength: machine.peer.mtu)
    }

    /// Closes a channel from this side.
    mutating func close(_ key: ChannelKey, _ outbound: inout Outbound, _ actions: inout [Action]) {
        guard let (index, place) = find(key) else { return }
        let channel = links[at: index].remove(at: place)
        ended(channel, &actions)
        links[at: index].send(
            .disconnectionRequest(destination: channel.peer, source: key.channel), &outbound)
    }

    /// Closes a channel, and discards its unread SDUs.
    mutating func drop(_ key: ChannelKey, _ outbound: inout Outbound, _ actions: inout [Action]) {
        close(key, &outbound, &actions)
        unread[key] = nil
    }

    /// Handles the peer's request to close a channel (4.6).
    ///
    /// Returns the response, or `nil` if the two identifiers do not belong to the same channel.
    private mutating func closedByPeer(
        own: UInt16, peer: UInt16, _ index: Int, _ actions: inout [Action]
    ) -> L2CAPSignal? {
        guard let place = links[at: index].place(own: own) else {
            return .rejectChannel(local: own, remote: peer)
        }
        guard links[at: index].channels[place].peer == peer else { return nil }
        ended(links[at: index].remove(at: place), &actions)
        return .disconnectionResponse(destination: own, source: peer)
    }

    /// Ends the calls of a closed channel, whose received SDUs can still be read.
    private mutating func ended(_ channel: OpenChannel, _ actions: inout [Action]) {
        openCount -= 1
        if !channel.inbox.isEmpty { unread[channel.key] = channel.inbox }
        if channel.isAwaited { actions.append(.received(channel.key, nil)) }
        guard channel.isSendAwaited else { return }
        actions.append(.sent(channel.key, .failure(RadioError(.disconnected, "the channel was closed"))))
    }

    private func find(_ key: ChannelKey) -> (link: Int, place: Int)? {
        guard let index = links.index(of: key.link), let place = links[at: index].place(of: key) else {
            return nil
        }
        return (index, place)
    }

    // MARK: Data

    /// Sends an SDU; returns whether all of it was sent.
    ///
    /// If not, the action `sent` follows later. Throws `disconnected` if the channel is closed, and
    /// `valueTooLong` if the SDU is longer than the peer accepts.
    mutating func send(
        _ bytes: [UInt8], over key: ChannelKey, _ outbound: inout Outbound, _ actions: inout [Action]
    ) throws(RadioError) -> Bool {
        guard let (index, place) = find(key) else {
            throw RadioError(.disconnected, "the channel is closed")
        }
        return try links[at: index].send(bytes, at: place, &outbound, &actions)
    }

    /// Continues to send on all links, while they have room; returns whether anything was sent.
    mutating func fill(_ outbound: inout Outbound, _ actions: inout [Action]) -> Bool {
        var isAny = false
        for index in links.indices where links[at: index].fill(&outbound, &actions) { isAny = true }
        return isAny
    }

    /// Adds credits from the peer to the channel with this identifier on the peer's side.
    private mutating func credited(
        _ count: UInt16, peer: UInt16, _ index: Int, _ outbound: inout Outbound, _ actions: inout [Action]
    ) {
        guard let place = links[at: index].place(peer: peer) else { return }
        do throws(CreditChannel.Violation) {
            try links[at: index].credited(count, at: place, &outbound, &actions)
        } catch {
            violated(error, links[at: index].channels[place].key, &outbound, &actions)
        }
    }

    /// Handles a frame of the channel with this identifier on this side.
    private mutating func receive(
        _ payload: [UInt8], _ own: UInt16, _ index: Int, _ outbound: inout Outbound,
        _ actions: inout [Action]
    ) {
        guard let place = links[at: index].place(own: own) else { return }
        do throws(CreditChannel.Violation) {
            try links[at: index].receive(payload, at: place, &outbound, &actions)
        } catch {
            violated(error, links[at: index].channels[place].key, &outbound, &actions)
        }
    }

    private mutating func violated(
        _ violation: CreditChannel.Violation, _ key: ChannelKey, _ outbound: inout Outbound,
        _ actions: inout [Action]
    ) {
        actions.append(.violated(violation.reason))
        close(key, &outbound, &actions)
    }

    /// Removes and returns a received SDU, or returns `nil` if there is none.
    mutating func takeReceived(_ key: ChannelKey, _ outbound: inout Outbound) -> [UInt8]? {
        if let (index, place) = find(key) { return links[at: index].takeReceived(at: place, &outbound) }
        guard unread[key]?.isEmpty == false else { return nil }
        return unread[key]?.removeFirst()
    }

    /// Requests the action `received` for the next SDU of a channel.
    ///
    /// Returns `false` if the channel is closed, or if the action is already requested.
    mutating func awaitNext(_ key: ChannelKey) -> Bool {
        guard let (index, place) = find(key) else { return false }
        return links[at: index].awaitNext(at: place)
    }
}

extension ConnectionParameterRefusal {
    fileprivate static let ofController = ConnectionParameterRefusal(
        .controller, "the controller cannot change connection parameters")
}
