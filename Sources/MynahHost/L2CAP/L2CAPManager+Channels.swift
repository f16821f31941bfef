import MynahCore
import MynahSupport

// LE credit-based channels (Core Specification, Vol 3, Part A, 3.4, 4.22 to 4.24 and 10.1).
extension L2CAPManager {
    // MARK: Opening

    /// Takes the answer to a request for a channel.
    mutating func opened(
        _ psm: UInt16, _ own: UInt16, _ answer: L2CAPSignal, _ index: Int
    ) -> Result<ChannelEnd, RadioError> {
        switch answer {
        case .creditConnectionResponse(let destination, let mtu, let mps, let credits, 0):
            let theirs = CreditChannel.Limits(mtu: Int(mtu), mps: Int(mps))
            guard links[at: index].index(peer: destination) == nil, theirs.areValid,
                L2CAPFrame.Channel.dynamic.contains(destination)
            else {
                return .failure(
                    RadioError(.protocolViolation, "the channel cannot be as the peer wants it"))
            }
            let machine = CreditChannel(peer: theirs, credits: credits)
            return .success(add(psm, own: own, peer: destination, machine, isService: false, index))
        case .creditConnectionResponse(_, _, _, _, let result):
            let refusal = ChannelRefusal(rawValue: result)
            return .failure(
                RadioError(
                    refusal.wantsSecurity ? .insufficientSecurity : .channelRefused,
                    "the peer opens no channel: \(refusal.reason)"))
        default:
            return .failure(RadioError(.unsupported, "the peer has no channels"))
        }
    }

    /// Accepts a request for a channel, and hands the channel over with the answer on its way.
    mutating func accept(
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
        links[at: index].channels.append(
            OpenChannel(key: key, service: isService ? psm : nil, peer: peer, machine: machine))
        return ChannelEnd(
            key: key, psm: psm, peer: links[at: index].peer, maximumLength: machine.peer.mtu)
    }

    // MARK: Closing

    /// Closes a channel from this side.
    mutating func close(_ key: ChannelKey, _ outbound: inout Outbound, _ actions: inout [Action]) {
        guard let (index, place) = find(key) else { return }
        let channel = remove(place, index, &actions)
        let request = L2CAPSignal.disconnectionRequest(destination: channel.peer, source: key.channel)
        outbound.send(request.frame(identifier: links[at: index].signalling.nextIdentifier()), to: key.link)
    }

    /// Closes a channel from which nothing will be received any more.
    mutating func drop(_ key: ChannelKey, _ outbound: inout Outbound, _ actions: inout [Action]) {
        close(key, &outbound, &actions)
        unread[key] = nil
    }

    /// The peer closes a channel; returns the answer, or `nil` because an end that is not the channel's is not answered (4.6).
    mutating func closedByPeer(
        own: UInt16, peer: UInt16, _ index: Int, _ actions: inout [Action]
    ) -> L2CAPSignal? {
        guard let place = links[at: index].index(own: own) else {
            return .rejectChannel(local: own, remote: peer)
        }
        guard links[at: index].channels[place].peer == peer else { return nil }
        _ = remove(place, index, &actions)
        return .disconnectionResponse(destination: own, source: peer)
    }

    private mutating func remove(_ place: Int, _ index: Int, _ actions: inout [Action]) -> OpenChannel {
        let channel = links[at: index].channels.remove(at: place)
        ended(channel, &actions)
        return channel
    }

    /// A channel is closed: what it received can still be read.
    mutating func ended(_ channel: OpenChannel, _ actions: inout [Action]) {
        openCount -= 1
        if !channel.inbox.isEmpty { unread[channel.key] = channel.inbox }
        if channel.isAwaited { actions.append(.received(channel.key, nil)) }
        guard channel.isSendAwaited else { return }
        actions.append(.sent(channel.key, .failure(RadioError(.disconnected, "the channel was closed"))))
    }

    private func find(_ key: ChannelKey) -> (link: Int, place: Int)? {
        guard let index = links.index(of: key.link), let place = links[at: index].index(own: key.channel),
            links[at: index].channels[place].key == key
        else { return nil }
        return (index, place)
    }

    // MARK: Sending

    /// Sends an SDU; returns whether all of it is on its way, and `sent` follows if it is not.
    ///
    /// Throws `disconnected` if the channel is closed, `valueTooLong` if the SDU is longer than the peer takes.
    mutating func send(
        _ bytes: [UInt8], over key: ChannelKey, _ outbound: inout Outbound, _ actions: inout [Action]
    ) throws(RadioError) -> Bool {
        guard let (index, place) = find(key) else {
            throw RadioError(.disconnected, "the channel is closed")
        }
        guard links[at: index].channels[place].machine.add(bytes) else {
            let limit = links[at: index].channels[place].machine.peer.mtu
            throw RadioError(
                .valueTooLong, "a piece has \(bytes.count) bytes and the peer takes \(limit)")
        }
        pump(place, index, &outbound, &actions)
        guard !links[at: index].channels[place].machine.isDrained else { return true }
        links[at: index].channels[place].isSendAwaited = true
        return false
    }

    /// Sends what links have room for again; returns whether that was anything.
    mutating func fill(_ outbound: inout Outbound, _ actions: inout [Action]) -> Bool {
        var isAny = false
        for index in links.indices {
            for place in links[at: index].channels.indices
            where links[at: index].channels[place].machine.isReady && outbound.hasRoom(on: links.keys[index])
            {
                pump(place, index, &outbound, &actions)
                isAny = true
            }
        }
        return isAny
    }

    /// Sends what a channel has credits and its link has room for.
    private mutating func pump(
        _ place: Int, _ index: Int, _ outbound: inout Outbound, _ actions: inout [Action]
    ) {
        let (link, peer) = (links.keys[index], links[at: index].channels[place].peer)
        while outbound.takes(on: link), let frame = links[at: index].channels[place].machine.nextFrame() {
            outbound.send(L2CAPFrame(channel: peer, payload: frame), to: link)
        }
        guard links[at: index].channels[place].isSendAwaited,
            links[at: index].channels[place].machine.isDrained
        else { return }
        links[at: index].channels[place].isSendAwaited = false
        actions.append(.sent(links[at: index].channels[place].key, .success(())))
    }

    /// The peer gives credits.
    mutating func credited(
        _ count: UInt16, peer: UInt16, _ index: Int, _ outbound: inout Outbound, _ actions: inout [Action]
    ) {
        guard let place = links[at: index].index(peer: peer) else { return }
        do throws(CreditChannel.Violation) {
            try links[at: index].channels[place].machine.credited(count)
            pump(place, index, &outbound, &actions)
        } catch {
            violated(error, place, index, &outbound, &actions)
        }
    }

    // MARK: Receiving

    /// Takes a frame of a channel.
    mutating func receive(
        _ payload: [UInt8], _ own: UInt16, _ index: Int, _ outbound: inout Outbound,
        _ actions: inout [Action]
    ) {
        guard let place = links[at: index].index(own: own) else { return }
        do throws(CreditChannel.Violation) {
            let sdu = try links[at: index].channels[place].machine.receive(payload)
            if let sdu { received(sdu, place, index, &actions) }
            giveCredits(place, index, &outbound)
        } catch {
            violated(error, place, index, &outbound, &actions)
        }
    }

    private mutating func received(_ sdu: [UInt8], _ place: Int, _ index: Int, _ actions: inout [Action]) {
        guard links[at: index].channels[place].isAwaited else {
            return links[at: index].channels[place].inbox.append(sdu)
        }
        links[at: index].channels[place].isAwaited = false
        links[at: index].channels[place].machine.wasRead()
        actions.append(.received(links[at: index].channels[place].key, sdu))
    }

    private mutating func giveCredits(_ place: Int, _ index: Int, _ outbound: inout Outbound) {
        let count = links[at: index].channels[place].machine.takeCredits()
        guard count > 0 else { return }
        let signal = L2CAPSignal.credits(
            channel: links[at: index].channels[place].key.channel, count: count)
        outbound.send(
            signal.frame(identifier: links[at: index].signalling.nextIdentifier()), to: links.keys[index])
    }

    private mutating func violated(
        _ violation: CreditChannel.Violation, _ place: Int, _ index: Int, _ outbound: inout Outbound,
        _ actions: inout [Action]
    ) {
        actions.append(.violated(violation.reason))
        close(links[at: index].channels[place].key, &outbound, &actions)
    }

    /// Returns an SDU that has come, or `nil` if none has.
    mutating func takeReceived(_ key: ChannelKey, _ outbound: inout Outbound) -> [UInt8]? {
        guard let (index, place) = find(key) else {
            guard unread[key]?.isEmpty == false else { return nil }
            return unread[key]?.removeFirst()
        }
        guard !links[at: index].channels[place].inbox.isEmpty else { return nil }
        let sdu = links[at: index].channels[place].inbox.removeFirst()
        links[at: index].channels[place].machine.wasRead()
        giveCredits(place, index, &outbound)
        return sdu
    }

    /// Has `received` follow with the next SDU; returns `false` if the channel is closed, or its next SDU is awaited already.
    mutating func awaitNext(_ key: ChannelKey) -> Bool {
        guard let (index, place) = find(key), !links[at: index].channels[place].isAwaited else {
            return false
        }
        links[at: index].channels[place].isAwaited = true
        return true
    }
}
