public import MynahCore
import MynahHCI
import MynahSupport

// The signalling channel (Core Specification, Vol 3, Part A, 4).
extension HostRadio {
    func takeSignal(_ bytes: [UInt8], _ handle: UInt16) {
        guard let (identifier, signal) = L2CAPSignal.parse(bytes) else { return }
        switch signal {
        case .parameterUpdateRequest(let minimum, let maximum, let latency, let timeout):
            // A peripheral is not asked (4.20).
            let answer =
                links[handle]?.role == .central
                ? updateParameters(of: handle, minimum, maximum, latency, timeout) : .reject(.notUnderstood)
            self.signal(answer, identifier, handle)
        case .creditConnectionRequest(let psm, let source, let mtu, let mps, let credits):
            takeChannelRequest(
                psm: psm, source: source, CreditChannel.Limits(mtu: Int(mtu), mps: Int(mps)),
                credits: credits,
                identifier, handle)
        case .disconnectionRequest(let own, let peer):
            guard let answer = takeChannelEnd(own: own, peer: peer, handle) else { return }
            self.signal(answer, identifier, handle)
        case .credits(let peer, let count):
            takeCredits(count, peer: peer, handle)
        case .unknown:
            self.signal(.reject(.notUnderstood), identifier, handle)
        case .reject, .rejectChannel, .disconnectionResponse, .parameterUpdateResponse,
            .creditConnectionResponse:
            answered(signal, identifier, handle)
        }
    }

    /// Takes the answer to a signal, or `nil` if none came in time.
    func answered(_ signal: L2CAPSignal?, _ identifier: UInt8, _ handle: UInt16) {
        guard let then = links[handle]?.asked.removeValue(forKey: identifier) else { return }
        deadlines[.signal(handle, identifier)] = nil
        then(self, signal)
    }

    /// Sends a signal: an answer with the identifier of its request, or one of our own.
    func signal(_ signal: L2CAPSignal, _ identifier: UInt8?, _ handle: UInt16) {
        guard let identifier = identifier ?? links[handle]?.nextSignal() else { return }
        let frame = L2CAPFrame(
            channel: L2CAPFrame.Channel.signalling, payload: signal.bytes(identifier: identifier))
        send(frame, to: handle)
    }

    /// Sends a request; `then` takes the answer at once when it comes, or `nil` if none comes in time (6.2.1) or the link ends.
    func ask(_ request: L2CAPSignal, _ handle: UInt16, then: @escaping Link.Answered) {
        guard let identifier = links[handle]?.nextSignal() else { return then(self, nil) }
        links[handle]?.asked[identifier] = then
        deadlines[.signal(handle, identifier)] = now() + options.transactionTimeout
        armTimer()
        signal(request, identifier, handle)
    }

    /// Ends the calls that wait for answers on a link that ended.
    func endQuestions(of link: Link) {
        for (identifier, then) in link.asked {
            deadlines[.signal(link.handle, identifier)] = nil
            then(self, nil)
        }
    }

    /// Asks a central to meet more or less often; false: it does not want to.
    public func setDesiredConnectionLatency(
        _ latency: ConnectionLatency, for central: Peer.ID
    ) async throws(RadioError) -> Bool {
        let link = try link(of: central)
        guard link.role == .peripheral else {
            throw RadioError(.invalidState, "a peripheral asks a central, and not the other way round")
        }
        let (minimum, maximum) = latency.intervals
        let request = L2CAPSignal.parameterUpdateRequest(
            minimum: minimum, maximum: maximum, latency: 0, timeout: 600)
        let answer = await withCheckedContinuation { continuation in
            ask(request, link.handle) { continuation.resume(returning: $1) }
        }
        switch answer {
        case .parameterUpdateResponse(let isAccepted): return isAccepted
        case .some: return false
        case nil: throw RadioError(.disconnected, "the central did not answer, or the link ended")
        }
    }
}

extension ConnectionLatency {
    /// The shortest and the longest interval, in 1.25 ms: 15 to 30 ms, 30 to 60 ms, 120 to 240 ms.
    ///
    /// Apple names no numbers; these are multiples of 15 ms within its Accessory Design Guidelines.
    var intervals: (UInt16, UInt16) {
        switch self {
        case .low: (12, 24)
        case .medium: (24, 48)
        case .high: (96, 192)
        }
    }
}
