public import MynahCore
import MynahHCI
import MynahSupport

// The Security Manager of each link, driven.
extension HostRadio {
    /// Pairs, or encrypts by the key of an earlier pairing; to a central a Security Request is sent, and what comes of it is
    /// waited for.
    public func pair(_ peer: Peer.ID) async throws(RadioError) {
        let link = try link(of: peer)
        guard !link.security.isEncrypted else { return }
        let handle = link.handle
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Void, RadioError>, Never>) in
            guard links[handle]?.peer.id == peer else {
                return continuation.resume(
                    returning: .failure(RadioError(.disconnected, "the link ended before it was secured")))
            }
            links[handle]?.pairing.waiters.append(continuation)
            switch link.role {
            case .central: secure(handle, [])
            case .peripheral: pairing(handle) { $0.requestSecurity(at: $1) }
            }
            // Nothing more goes over the channel of a link on which pairing has timed out (Vol 3, Part H, 3.4).
            if case .closed? = links[handle]?.pairing.machine?.state {
                endPairing(
                    handle,
                    .failure(
                        RadioError(
                            .pairingFailed, "pairing has timed out on this link",
                            remedy: "connect again before you pair")))
            }
        }
        try result.get()
    }

    /// Forgets a peer's keys, which are new when it pairs again; false: there are none.
    @discardableResult
    public func forgetBond(with address: DeviceAddress) -> Bool {
        guard let identity = security.bonds[address]?.identity else { return false }
        security.bonds.forget(identity)
        saveBonds()
        for index in links.indices where links[at: index].peer.address == identity {
            links[at: index].security.isBonded = false
            links[at: index].peer.isPaired = false
        }
        return true
    }

    // MARK: The machine

    func takePairing(_ bytes: [UInt8], _ handle: UInt16) {
        pairing(handle) { $0.receive(bytes, at: $1) }
    }

    /// Lets a link's machine take something, and carries out what it wants.
    func pairing(_ handle: UInt16, _ step: (inout PairingMachine, Duration) -> [PairingAction]) {
        guard let link = links[handle] else { return }
        var machine = link.pairing.machine ?? machine(of: link)
        machine.kept = security.bonds
        let actions = step(&machine, now())
        machine.kept = nil
        links[handle]?.pairing.machine = machine
        security[attempts: machine.peerAddress] = machine.attempts
        for action in actions { carryOut(action, handle) }
        deadlines[.pairing(handle)] = links[handle]?.pairing.machine?.deadline
        armTimer()
    }

    private func machine(of link: Link) -> PairingMachine {
        var configuration = PairingMachine.Configuration()
        configuration.ioCapability = life.identity.ioCapability
        configuration.wantsAuthentication = life.identity.ioCapability != .noInputNoOutput
        configuration.isPairable = options.isPairable
        configuration.hasSecureConnections = options.hasSecureConnections
        let pairing = link.pairing
        return PairingMachine(
            link.role == .central ? .initiator : .responder, configuration,
            identity: PairingIdentity(
                address: controller.address.identity ?? pairing.own,
                resolvingKey: security.bonds.identityResolvingKey),
            own: pairing.own, peer: pairing.peer, attempts: security[attempts: pairing.peer],
            random: security.random)
    }

    private func carryOut(_ action: PairingAction, _ handle: UInt16) {
        guard let link = links[handle] else { return }
        switch action {
        case .send(let pdu):
            send(L2CAPFrame(channel: L2CAPFrame.Channel.securityManager, payload: pdu.bytes), to: handle)
        case .ask(let step):
            ask(step, link)
        case .encrypt(let key):
            links[handle]?.pairing.encryption = .pairing
            if link.role == .central { enableEncryption(handle, Bond.LongTermKey(value: key)) }
        case .securityRequested(let requirements):
            secure(handle, requirements)
        case .secured(let security):
            links[handle]?.security = security
            links[handle]?.security.isBonded = link.security.isBonded
            clientSecured(handle)
        case .bonded(let bond):
            keep(bond, handle)
        case .paired:
            links[handle]?.peer.isPaired = true
            guard let peer = links[handle]?.peer else { return }
            switch link.role {
            case .peripheral:
                tell(.peerChanged(peer))
                tell(.paired(peer.id))
            case .central:
                tellCentral(.peerChanged(peer))
                tellCentral(.paired(peer.id))
            }
            endPairing(handle, .success(()))
        case .failed(let failure):
            failed(failure, link)
        }
    }

    private func failed(_ failure: PairingFailure, _ link: Link) {
        let error = failure.error(
            link.pairing.peer, link.role == .central ? .initiator : .responder, options.bonds)
        links[link.handle]?.pairing.encryption = .idle
        if !link.pairing.waiters.isEmpty {
            return endPairing(link.handle, .failure(error))
        }
        let warning = RadioWarning(failure.warningCode, "\(error)")
        switch link.role {
        case .peripheral: tell(.warning(warning))
        case .central: tellCentral(.warning(warning))
        }
    }

    /// Those who wait for a link to be secured wait no longer.
    func endPairing(_ handle: UInt16, _ result: Result<Void, RadioError>) {
        guard let waiters = links[handle]?.pairing.waiters else { return }
        links[handle]?.pairing.waiters = []
        for waiter in waiters { waiter.resume(returning: result) }
    }

    /// The link is gone.
    func endPairing(of link: Link) {
        deadlines[.pairing(link.handle)] = nil
        let result = Result<Void, RadioError>.failure(
            RadioError(.disconnected, "the link ended before it was secured"))
        for waiter in link.pairing.waiters { waiter.resume(returning: result) }
    }

    // MARK: The user

    private func ask(_ step: PairingStep, _ link: Link) {
        links[link.handle]?.pairing.question += 1
        let question = Question(
            link: link.handle, peer: link.peer.id, number: link.pairing.question + 1, step: step)
        let answer =
            switch link.role {
            case .peripheral: tell(.pairing(link.peer.id, step))
            case .central: tellCentral(.pairing(link.peer.id, step))
            }
        switch answer {
        // Nobody says anything: agreed, unless a number is wanted.
        case .none:
            answered(question, step == .enter ? .failure(.unlikelyError) : .success([]))
        case .answer(let outcome):
            answered(question, outcome)
        case .later(let pending):
            pending.whenAnswered { [weak self] outcome in
                guard let self else { return }
                Task { await self.answered(question, outcome) }
            }
        }
    }

    private struct Question {
        var link: UInt16
        var peer: Peer.ID
        var number: Int
        var step: PairingStep
    }

    private func answered(_ question: Question, _ outcome: PendingReply.Outcome) {
        guard let link = links[question.link], link.peer.id == question.peer,
            link.pairing.question == question.number
        else { return }
        let answer: PairingAnswer
        switch (question.step, outcome) {
        case (.display, _): return
        case (.agree, .success), (.compare, .success): answer = .agreed(true)
        case (.agree, .failure), (.compare, .failure): answer = .agreed(false)
        case (.enter, .success(let bytes)):
            var reader = ByteReader(bytes)
            answer = .passkey(reader.readUInt32())
        case (.enter, .failure): answer = .passkey(nil)
        }
        pairing(link.handle) { $0.answer(answer, at: $1) }
    }
}
