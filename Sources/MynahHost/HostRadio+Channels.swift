import Logging
public import MynahCore
import MynahHCI
import MynahSupport

// LE credit-based channels (Core Specification, Vol 3, Part A, 4.22 to 4.24 and 10.1).
extension HostRadio {
    /// Publishes a number under which centrals open channels, and returns it.
    public func publishL2CAPChannel(isEncrypted: Bool) throws(RadioError) -> UInt16 {
        guard life.sink != nil else { throw RadioError(.invalidState, "the radio has not been started") }
        guard let psm = ChannelKeeper.numbers.first(where: { channels.services[$0] == nil }) else {
            throw RadioError(.servicesRefused, "no number is left for a channel")
        }
        channels.services[psm] = isEncrypted
        return psm
    }

    /// Takes the number back, and closes the channels that were opened to it.
    public func unpublishL2CAPChannel(_ psm: UInt16) {
        guard channels.services.removeValue(forKey: psm) != nil else { return }
        for (key, channel) in channels.open where channel.service == psm { close(key) }
    }

    /// Opens a channel to a number that a peer has published.
    public func openL2CAPChannel(_ psm: UInt16, with peer: Peer.ID) async throws(RadioError)
        -> any L2CAPChannel
    {
        let handle = try link(of: peer).handle
        guard let own = channels.freeChannel(of: handle) else {
            throw RadioError(.invalidState, "the link has \(ChannelKeeper.limit) channels already")
        }
        let limits = CreditChannel.Limits()
        let request = L2CAPSignal.creditConnectionRequest(
            psm: psm, source: own, mtu: UInt16(limits.mtu), mps: UInt16(limits.mps),
            credits: CreditChannel.initialCredits)
        channels.asking.insert(ChannelKeeper.Asking(link: handle, own: own))
        let result = await withCheckedContinuation { continuation in
            // Before another packet is taken, which may be the channel's first.
            ask(request, handle) { radio, answer in
                radio.channels.asking.remove(ChannelKeeper.Asking(link: handle, own: own))
                continuation.resume(
                    returning: radio.opened(
                        answer, ChannelEnds(link: handle, with: peer, psm: psm, own: own, peer: 0)))
            }
        }
        return try result.get()
    }

    private func opened(
        _ answer: L2CAPSignal?, _ ends: ChannelEnds
    ) -> Result<HostChannel, RadioError> {
        switch answer {
        case .creditConnectionResponse(let destination, let mtu, let mps, let credits, 0):
            let theirs = CreditChannel.Limits(mtu: Int(mtu), mps: Int(mps))
            guard channels.key(of: ends.link, peer: destination) == nil, theirs.areValid,
                L2CAPFrame.Channel.dynamic.contains(destination)
            else {
                return .failure(
                    RadioError(.protocolViolation, "the channel cannot be as the peer wants it"))
            }
            var ends = ends
            ends.peer = destination
            return .success(add(ends, CreditChannel(peer: theirs, credits: credits)))
        case .creditConnectionResponse(_, _, _, _, let result):
            let wantsSecurity = result == 0x0005 || result == 0x0008
            return .failure(
                RadioError(
                    wantsSecurity ? .insufficientSecurity : .channelRefused,
                    "the peer opens no channel: \(Self.refusal(result))"))
        case .some:
            return .failure(RadioError(.unsupported, "the peer has no channels"))
        case nil:
            return .failure(RadioError(.disconnected, "the peer did not answer, or the link ended"))
        }
    }

    private static func refusal(_ result: UInt16) -> String {
        switch result {
        case 0x0002: "nothing is published under that number"
        case 0x0004: "it has no room"
        case 0x0005: "it wants a paired peer"
        case 0x0006: "it does not allow it"
        case 0x0007: "the key is too short"
        case 0x0008: "it wants encryption"
        default: "result \(result)"
        }
    }

    private struct ChannelEnds {
        var link: UInt16
        var with: Peer.ID
        var psm: UInt16
        var own: UInt16
        var peer: UInt16
    }

    private func add(
        _ ends: ChannelEnds, _ machine: CreditChannel, service: UInt16? = nil
    ) -> HostChannel {
        channels.lastNumber += 1
        let key = ChannelKey(link: ends.link, channel: ends.own, number: channels.lastNumber)
        channels.open[key] = OpenChannel(
            key: key, service: service, peer: ends.peer, machine: machine)
        return HostChannel(
            psm: ends.psm, peer: ends.with, maximumLength: machine.peer.mtu, key: key, radio: self)
    }

    // MARK: The peer asks

    /// Answers a request for a channel, and hands it over when the answer is on its way (4.22, 4.23).
    func takeChannelRequest(
        psm: UInt16, source: UInt16, _ theirs: CreditChannel.Limits, credits: UInt16, _ identifier: UInt8,
        _ handle: UInt16
    ) {
        guard let link = links[handle] else { return }
        func refuse(_ result: UInt16) {
            signal(
                .creditConnectionResponse(destination: 0, mtu: 0, mps: 0, credits: 0, result: result),
                identifier, handle)
        }
        // What is published is published to centrals.
        guard link.role == .peripheral, let isEncrypted = channels.services[psm] else {
            return refuse(0x0002)
        }
        if isEncrypted, !security[handle].isEncrypted {
            return refuse(security[handle].isBonded ? 0x0008 : 0x0005)
        }
        guard L2CAPFrame.Channel.dynamic.contains(source) else { return refuse(0x0009) }
        guard channels.key(of: handle, peer: source) == nil else { return refuse(0x000A) }
        guard theirs.areValid else { return refuse(0x000B) }
        guard let own = channels.freeChannel(of: handle) else { return refuse(0x0004) }
        let limits = CreditChannel.Limits()
        let channel = add(
            ChannelEnds(link: handle, with: link.peer.id, psm: psm, own: own, peer: source),
            CreditChannel(own: limits, peer: theirs, credits: credits), service: psm)
        signal(
            .creditConnectionResponse(
                destination: own, mtu: UInt16(limits.mtu), mps: UInt16(limits.mps),
                credits: CreditChannel.initialCredits, result: 0), identifier, handle)
        tell(.channelOpened(channel))
    }

    /// The peer closes a channel; nil: an end that is not its own is not answered (4.6).
    func takeChannelEnd(own: UInt16, peer: UInt16, _ handle: UInt16) -> L2CAPSignal? {
        guard let key = channels.key(of: handle, own: own) else {
            return .rejectChannel(local: own, remote: peer)
        }
        guard channels.open[key]?.peer == peer else { return nil }
        endChannel(key)
        return .disconnectionResponse(destination: own, source: peer)
    }

    func takeCredits(_ count: UInt16, peer: UInt16, _ handle: UInt16) {
        guard let key = channels.key(of: handle, peer: peer),
            let actions = channels.open[key]?.machine.credited(count)
        else { return }
        carryOut(actions, key)
        pump(key)
    }

    func takeFrame(_ payload: [UInt8], _ channel: UInt16, _ handle: UInt16) {
        guard let key = channels.key(of: handle, own: channel),
            let actions = channels.open[key]?.machine.receive(payload)
        else { return }
        carryOut(actions, key)
    }

    private func carryOut(_ actions: [CreditChannel.Action], _ key: ChannelKey) {
        for action in actions {
            switch action {
            case .received(let sdu):
                if let reader = channels.open[key]?.reader {
                    channels.open[key]?.reader = nil
                    reader.resume(returning: sdu)
                    carryOut(channels.open[key]?.machine.wasRead() ?? [], key)
                } else {
                    channels.open[key]?.inbox.append(sdu)
                }
            case .giveCredits(let count):
                signal(.credits(channel: key.channel, count: count), nil, key.link)
            case .violated(let reason):
                logger.notice("channel closed", metadata: ["reason": "\(reason)"])
                close(key)
            }
        }
    }

    // MARK: This side

    func send(_ bytes: [UInt8], over key: ChannelKey) async throws(RadioError) {
        guard var channel = channels.open[key] else {
            throw RadioError(.disconnected, "the channel is closed")
        }
        guard channel.machine.add(bytes) else {
            throw RadioError(
                .valueTooLong,
                "a piece has \(bytes.count) bytes and the peer takes \(channel.machine.peer.mtu)")
        }
        channels.open[key] = channel
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Void, RadioError>, Never>) in
            guard channels.open[key] != nil else {
                let error = RadioError(.disconnected, "the channel was closed")
                return continuation.resume(returning: .failure(error))
            }
            channels.open[key]?.writers.append(continuation)
            pump(key)
        }
        try result.get()
    }

    func receive(from key: ChannelKey) async -> [UInt8]? {
        if let next = takeReceived(key) { return next }
        return await withCheckedContinuation { continuation in
            // Something may have come before this is reached.
            if let next = takeReceived(key) {
                continuation.resume(returning: next)
            } else if let channel = channels.open[key], channel.reader == nil {
                channels.open[key]?.reader = continuation
            } else {
                continuation.resume(returning: nil)
            }
        }
    }

    private func takeReceived(_ key: ChannelKey) -> [UInt8]? {
        if let next = channels.unread[key]?.first {
            channels.unread[key]?.removeFirst()
            return next
        }
        guard let next = channels.open[key]?.inbox.first else { return nil }
        channels.open[key]?.inbox.removeFirst()
        carryOut(channels.open[key]?.machine.wasRead() ?? [], key)
        return next
    }

    /// Sends what credits and our own queue have room for.
    private func pump(_ key: ChannelKey) {
        guard let peer = channels.open[key]?.peer else { return }
        while outbound.takes(on: key.link),
            let frame = channels.open[key]?.machine.nextFrame()
        {
            send(L2CAPFrame(channel: peer, payload: frame), to: key.link)
        }
        guard let channel = channels.open[key], channel.machine.isDrained else { return }
        channels.open[key]?.writers = []
        for writer in channel.writers { writer.resume(returning: .success(())) }
    }

    /// There is room in our own queue again.
    func pumpChannels() {
        for (key, channel) in channels.open
        where !channel.machine.isDrained && channel.machine.sendCredits > 0 && outbound.hasRoom(on: key.link)
        {
            pump(key)
        }
    }

    /// Nobody will receive from it.
    func drop(_ key: ChannelKey) {
        close(key)
        channels.unread[key] = nil
    }

    func close(_ key: ChannelKey) {
        guard let channel = channels.open[key] else { return }
        endChannel(key)
        signal(.disconnectionRequest(destination: channel.peer, source: key.channel), nil, key.link)
    }

    private func endChannel(_ key: ChannelKey) {
        guard let channel = channels.open.removeValue(forKey: key) else { return }
        if !channel.inbox.isEmpty { channels.unread[key] = channel.inbox }
        channel.reader?.resume(returning: nil)
        let error = RadioError(.disconnected, "the channel was closed")
        for writer in channel.writers { writer.resume(returning: .failure(error)) }
    }

    /// The link is gone.
    func endChannels(of handle: UInt16) {
        for key in channels.open.keys where key.link == handle { endChannel(key) }
    }
}
