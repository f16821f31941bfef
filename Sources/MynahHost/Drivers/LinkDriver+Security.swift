import MynahCore
import MynahHCI
import MynahSupport

// Pairing, encryption and bonds.
extension LinkDriver {
    /// The keys of peers, and this side's own.
    var bonds: BondStore { security.bonds }

    /// Pairs, or encrypts with the key of an earlier pairing, and returns when the link is encrypted.
    ///
    /// A central is sent a Security Request. Throws `pairingFailed`, or `disconnected` if the link ends
    /// first.
    func pair(_ peer: Peer.ID) async throws(RadioError) {
        let handle = try table.handle(of: peer)
        let result = await withCheckedContinuation { continuation in
            lastPairing += 1
            pairings[lastPairing] = continuation
            secure(handle) { $0.pair(handle, peer, waiter: lastPairing, at: $1, &$2) }
        }
        try result.get()
    }

    /// Deletes the bond with a peer; returns whether there was one.
    func forgetBond(with address: DeviceAddress) -> Bool {
        secure { $0.forgetBond(with: address, &$2) }
    }

    /// The source of the radio's own address.
    func addressSource(_ publicAddress: DeviceAddress?) -> OwnAddress.Source {
        OwnAddress.Source(
            policy: environment.options.address, publicAddress: publicAddress,
            staticAddress: { self.secure { $0.staticAddress(&$2) } },
            resolvingKey: security.bonds.identityResolvingKey, random: security.random.split())
    }

    /// A static random address that nothing else has.
    func newStaticAddress() -> DeviceAddress {
        var random = security.random.split()
        return PrivateAddress.fixed(from: &random)
    }

    /// The other side, or the user, has taken too long.
    func pairingDue(_ link: ConnectionHandle) {
        secure(link) { $0.expire(link, at: $1, &$2) }
    }

    /// Changes the state of the security manager, and carries out its actions.
    @discardableResult
    func secure<Result>(
        _ link: ConnectionHandle? = nil,
        _ body: (inout SecurityManager, Duration, inout [SecurityManager.Action]) -> Result
    ) -> Result {
        var actions: [SecurityManager.Action] = []
        let result = body(&security, environment.now(), &actions)
        for action in actions { carryOut(action) }
        if let link { timer[.pairing(link)] = security.deadline(of: link) }
        return result
    }

    private func carryOut(_ action: SecurityManager.Action) {
        switch action {
        case .send(let pdu, let link):
            send(L2CAPFrame(channel: L2CAPFrame.Channel.securityManager, payload: pdu.bytes), to: link)
        case .encrypt(let link, let peer, let key):
            controller.send(.encrypt, of: link, peer, .enableEncryption(link, key))
        case .giveKey(let key, let link):
            controller.send(.longTermKeyReply(link, key), "answering a request for a long term key")
        case .ask(let question): ask(question)
        case .peerChanged(let peer, let link):
            table[link]?.peer = peer
            server.peerChanged(peer, on: link)
        case .paired(let peer, let link): sinks.paired(peer, table[link]?.halves ?? [])
        case .secured(let link, let bond): clientSecured(link, by: bond)
        case .restore(let bond, let link):
            serve { $0.restore(bond, link, at: environment.now(), &$1, &$2) }
        case .bonded(let link):
            security.update(link) {
                server.remember(link, in: &$0)
                $0.serviceChanged = client.serviceChanged(of: link)
            }
        case .event(let event): sinks.tell(event)
        case .centralEvent(let event): sinks.tellCentral(event)
        case .warn(let warning): sinks.warn(warning)
        case .end(let calls, let error):
            let result: Result<Void, RadioError> = error.map { .failure($0) } ?? .success(())
            for call in calls { pairings.removeValue(forKey: call)?.resume(returning: result) }
        case .saveBonds: saveBonds()
        }
    }

    // MARK: The user

    private func ask(_ question: SecurityManager.Question) {
        let (peer, step) = (question.peer, question.step)
        let answer =
            question.role == .peripheral
            ? sinks.tell(.pairing(peer, step)) : sinks.tellCentral(.pairing(peer, step))
        switch answer {
        case .none: answered(question, nil)
        case .pairing(let answer): answered(question, answer)
        case .pairingLater(let pending):
            pending.whenAnswered { [weak radio] answer in
                radio?.perform { $0.answered(question, answer) }
            }
        // That is the answer to a request.
        case .answer, .later: answered(question, .declined)
        }
    }

    private func answered(_ question: SecurityManager.Question, _ answer: PairingAnswer?) {
        secure(question.link) { $0.answered(question, answer, at: $1, &$2) }
    }

    // MARK: The file of bonds

    /// Reads the bonds that were kept.
    func loadBonds() {
        guard let file = environment.options.bonds else { return }
        secure { $0.load(file.load(acceptsSimulated: $0.random.isSimulated), &$2) }
    }

    /// Requests that the bonds are written.
    ///
    /// Later reports can wait until they are.
    private func saveBonds() {
        environment.options.bonds?.save(security.bonds) { [weak radio] problem in
            let warning = RadioWarning("bondsNotKept", "the bonds cannot be saved: \(problem)")
            radio?.perform { $0.sinks.warn(warning) }
        }
    }
}
