import Logging
public import MynahCore
import MynahHCI

// L2CAP channels and connection parameters.
extension HostRadio {
    /// Publishes a number under which centrals open channels, and returns it.
    public func publishL2CAPChannel(isEncrypted: Bool) throws(RadioError) -> UInt16 {
        guard life.sink != nil else { throw RadioError(.invalidState, "the radio has not been started") }
        return try l2cap.publish(isEncrypted: isEncrypted)
    }

    /// Takes the number back, and closes the channels that were opened to it.
    public func unpublishL2CAPChannel(_ psm: UInt16) {
        changeL2CAP { $0.unpublish(psm, &$1, &$2) }
    }

    /// Opens a channel to a number that a peer has published.
    public func openL2CAPChannel(_ psm: UInt16, with peer: Peer.ID) async throws(RadioError)
        -> any L2CAPChannel
    {
        let handle = try links.handle(of: peer)
        let result = await withCheckedContinuation { continuation in
            changeL2CAP { l2cap, outbound, actions in
                let call = l2cap.open(psm, on: handle, at: now(), &outbound, &actions)
                waiters.channels[call] = continuation
            }
        }
        return HostChannel(try result.get(), of: self)
    }

    /// Asks a central for other connection parameters; returns `false` if it does not want them.
    public func setDesiredConnectionLatency(
        _ latency: ConnectionLatency, for central: Peer.ID
    ) async throws(RadioError) -> Bool {
        let handle = try links.handle(of: central)
        let range = ConnectionParameterRange(latency)
        return try await withCheckedContinuation { continuation in
            changeL2CAP { l2cap, outbound, actions in
                let call = l2cap.askForParameters(range, on: handle, at: now(), &outbound, &actions)
                waiters.parameters[call] = continuation
            }
        }.get()
    }

    // MARK: A channel

    func send(_ bytes: [UInt8], over key: ChannelKey) async throws(RadioError) {
        try await withCheckedContinuation { (continuation: Waiters.Sent) in
            changeL2CAP { l2cap, outbound, actions in
                do throws(RadioError) {
                    guard try !l2cap.send(bytes, over: key, &outbound, &actions) else {
                        return continuation.resume(returning: .success(()))
                    }
                    waiters.channelWriters[key, default: []].append(continuation)
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }.get()
    }

    func receive(from key: ChannelKey) async -> [UInt8]? {
        if let next = takeReceived(from: key) { return next }
        return await withCheckedContinuation { continuation in
            // Something may have come before this is reached.
            if let next = takeReceived(from: key) { return continuation.resume(returning: next) }
            guard l2cap.awaitNext(key) else { return continuation.resume(returning: nil) }
            waiters.channelReaders[key] = continuation
        }
    }

    private func takeReceived(from key: ChannelKey) -> [UInt8]? {
        guard let next = l2cap.takeReceived(key, &outbound) else { return nil }
        sendData()
        return next
    }

    func close(_ key: ChannelKey) {
        changeL2CAP { $0.close(key, &$1, &$2) }
    }

    func drop(_ key: ChannelKey) {
        changeL2CAP { $0.drop(key, &$1, &$2) }
    }

    // MARK: The part

    /// Lets L2CAP take something, sends what it wrote, and carries out what it asks for.
    func changeL2CAP(_ body: (inout L2CAPManager, inout Outbound, inout [L2CAPManager.Action]) -> Void) {
        var actions: [L2CAPManager.Action] = []
        body(&l2cap, &outbound, &actions)
        sendData()
        for action in actions { carryOut(action) }
    }

    func carryOut(_ action: L2CAPManager.Action) {
        switch action {
        case .opened(let end): tell(.channelOpened(HostChannel(end, of: self)))
        case .openEnded(let call, let result):
            waiters.channels.removeValue(forKey: call)?.resume(returning: result)
        case .parametersEnded(let call, let result):
            waiters.parameters.removeValue(forKey: call)?.resume(returning: result)
        case .watchAnswer(let link, let identifier, let due):
            deadlines[.signal(link, identifier)] = due
            armTimer()
        case .updateParameters(let link, let range):
            send(.updateConnection(link, range), "changing the parameters of a connection")
        case .received(let key, let sdu):
            waiters.channelReaders.removeValue(forKey: key)?.resume(returning: sdu)
        case .sent(let key, let result):
            for waiter in waiters.channelWriters.removeValue(forKey: key) ?? [] {
                waiter.resume(returning: result)
            }
        case .violated(let reason): logger.notice("channel closed", metadata: ["reason": "\(reason)"])
        }
    }
}
