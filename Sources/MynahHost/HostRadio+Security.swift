public import MynahCore
import MynahHCI
import MynahSupport

// Pairing, encryption and bonds.
extension HostRadio {
    /// Pairs, or encrypts with the key of an earlier pairing, and returns when the link is encrypted.
    ///
    /// A central is sent a Security Request. Throws `pairingFailed`, or `disconnected` if the link ends first.
    public func pair(_ peer: Peer.ID) async throws(RadioError) {
        let handle = try link(of: peer).handle
        let result = await withCheckedContinuation { continuation in
            let call = waiters.add(continuation)
            secure(handle) { $0.pair(handle, peer, waiter: call, at: $1, &$2) }
        }
        try result.get()
    }

    /// Forgets a peer's keys, which are new when it pairs again; returns whether there were any.
    @discardableResult
    public func forgetBond(with address: DeviceAddress) -> Bool {
        secure { $0.forgetBond(with: address, &$2) }
    }

    /// Lets the security manager take something about a link, or about none, and carries out what it asks for.
    @discardableResult
    func secure<Result>(
        _ link: ConnectionHandle? = nil,
        _ body: (inout SecurityManager, Duration, inout [SecurityManager.Action]) -> Result
    ) -> Result {
        var actions: [SecurityManager.Action] = []
        let result = body(&security, now(), &actions)
        for action in actions { carryOut(action) }
        guard let link else { return result }
        deadlines[.pairing(link)] = security.deadline(of: link)
        armTimer()
        return result
    }

    private func carryOut(_ action: SecurityManager.Action) {
        switch action {
        case .send(let pdu, let link):
            send(L2CAPFrame(channel: L2CAPFrame.Channel.securityManager, payload: pdu.bytes), to: link)
        case .encrypt(let link, let peer, let key):
            send(.encrypt, of: link, peer, .enableEncryption(link, key))
        case .giveKey(let key, let link):
            send(.longTermKeyReply(link, key), "answering which key a central means")
        case .ask(let question): ask(question)
        case .peerChanged(let peer, let link):
            links[link]?.peer = peer
            server.peerChanged(peer, on: link)
        case .secured(let link, let bond): clientSecured(link, by: bond)
        case .restore(let bond, let link): restore(bond, link)
        case .bonded(let link):
            security.update(link) {
                server.remember(link, in: &$0)
                $0.serviceChanged = gatt.serviceChanged(of: link)
            }
        case .event(let event): tell(event)
        case .centralEvent(let event): tellCentral(event)
        case .warn(let warning): warn(warning.code, warning.message)
        case .end(let calls, let error): waiters.endPairings(calls, error)
        case .saveBonds: saveBonds()
        }
    }

    // MARK: The user

    private func ask(_ question: SecurityManager.Question) {
        let (peer, step) = (question.peer, question.step)
        let answer =
            question.role == .peripheral ? tell(.pairing(peer, step)) : tellCentral(.pairing(peer, step))
        switch answer {
        case .none: answered(question, nil)
        case .pairing(let answer): answered(question, answer)
        case .pairingLater(let pending):
            pending.whenAnswered { [weak self] answer in
                guard let self else { return }
                Task { await self.answered(question, answer) }
            }
        // That is the answer to a request.
        case .answer, .later: answered(question, .declined)
        }
    }

    private func answered(_ question: SecurityManager.Question, _ answer: PairingAnswer?) {
        secure(question.link) { $0.answered(question, answer, at: $1, &$2) }
    }

    // MARK: The file of bonds

    func loadBonds() {
        if let file = options.bonds { secure { $0.load(file.load(), &$2) } }
    }

    /// Lets the bonds be written; what is reported from here on can wait until they are.
    private func saveBonds() {
        guard let file = options.bonds else { return }
        let executor = environment.executor
        file.save(security.bonds) { [weak self] problem in
            guard let self else { return }
            executor.perform {
                self.assumeIsolated { $0.warn("bondsNotKept", "the bonds cannot be kept: \(problem)") }
            }
        }
    }
}
