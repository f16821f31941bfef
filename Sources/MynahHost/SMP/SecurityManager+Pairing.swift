import MynahCore
import MynahHCI
import MynahSupport

// Pairing: the machine of each link, and the user's answers.
extension SecurityManager {
    /// Pairs, or encrypts with the key of a bond.
    ///
    /// If the peer is a central, a Security Request is sent to it (Vol 3, Part H, 2.4.6). The call with the
    /// number `waiter` ends when the link is secured, or when that has failed.
    mutating func pair(
        _ link: ConnectionHandle, _ peer: Peer.ID, waiter: UInt64, at now: Duration, _ actions: inout [Action]
    ) {
        // The handle may already belong to another link.
        guard let index = entries.index(of: link), entries[at: index].peer.id == peer else {
            return actions.append(.end([waiter], Self.linkEnded))
        }
        guard !entries[at: index].security.isEncrypted else {
            let error = entries[at: index].isBondDeleted ? Self.bondDeleted : nil
            return actions.append(.end([waiter], error))
        }
        entries[at: index].waiters.append(waiter)
        switch entries[at: index].role {
        case .central: secure(index, [], at: now, &actions)
        case .peripheral: step(index, at: now, &actions) { $0.requestSecurity(at: $1) }
        }
        // After a pairing has timed out, no SMP PDU may be sent on the link (3.4).
        guard case .closed? = entries[at: index].machine?.state else { return }
        let error = RadioError(
            .pairingFailed, "pairing has timed out on this link", remedy: PairingFailure.newLink)
        end(index, error, &actions)
    }

    /// Asks a bonded central with subscriptions to encrypt.
    ///
    /// Subscribed values may be sent only after that (Vol 3, Part C, 10.3.1.1).
    mutating func askSubscriberToEncrypt(
        _ link: ConnectionHandle, at now: Duration, _ actions: inout [Action]
    ) {
        guard let index = entries.index(of: link), entries[at: index].role == .peripheral,
            let bond = entries[at: index].peer.address.flatMap({ bonds[$0] }), bond.ownKey != nil,
            !bond.configurations.isEmpty
        else { return }
        step(index, at: now, &actions) { $0.requestSecurity(by: bond, at: $1) }
    }

    /// Handles a PDU of the Security Manager's channel.
    mutating func receive(
        _ bytes: [UInt8], _ link: ConnectionHandle, at now: Duration, _ actions: inout [Action]
    ) {
        guard let index = entries.index(of: link) else { return }
        step(index, at: now, &actions) { $0.receive(bytes, at: $1) }
    }

    /// Handles the user's answer to a question, or `nil` if the user gave none.
    ///
    /// An answer to an earlier question or for a link that has ended is dropped.
    mutating func answered(
        _ question: Question, _ answer: PairingAnswer?, at now: Duration, _ actions: inout [Action]
    ) {
        // A passkey to display needs no answer.
        if case .display = question.step { return }
        let answer = question.step.taking(answer)
        guard let index = entries.index(of: question.link), entries[at: index].peer.id == question.peer,
            entries[at: index].lastQuestion == question.number
        else { return }
        entries[at: index].isAsking = false
        step(index, at: now, &actions) { $0.answer(answer, at: $1) }
    }

    /// Ends the pairing on a link if its deadline has passed; the driver calls this at that time.
    mutating func expire(_ link: ConnectionHandle, at now: Duration, _ actions: inout [Action]) {
        guard let index = entries.index(of: link) else { return }
        step(index, at: now, &actions) { $0.expire(at: $1) }
    }

    // MARK: The machine

    /// Changes the state of a link's `PairingMachine`, and carries out its actions.
    mutating func step(
        _ index: Int, at now: Duration, _ actions: inout [Action],
        _ body: (inout PairingMachine, Duration) -> [PairingAction]
    ) {
        var machine = entries[at: index].machine ?? machine(of: entries[at: index])
        machine.kept = bonds
        let wanted = body(&machine, now)
        machine.kept = nil
        entries[at: index].machine = machine
        self[attempts: machine.peerAddress] = machine.attempts
        for action in wanted { perform(action, index, at: now, &actions) }
    }

    private mutating func machine(of entry: Entry) -> PairingMachine {
        var pairing = PairingMachine.Configuration()
        pairing.ioCapability = ioCapability
        pairing.wantsAuthentication = ioCapability != .noInputNoOutput
        pairing.maximumKeySize = largestKeySize
        pairing.isPairable = configuration.isPairable
        pairing.hasSecureConnections = configuration.hasSecureConnections
        return PairingMachine(
            entry.role.pairing, pairing,
            identity: PairingIdentity(
                address: entry.addresses.identity, resolvingKey: bonds.identityResolvingKey),
            own: entry.addresses.own, peer: entry.addresses.peer,
            attempts: self[attempts: entry.addresses.peer], random: random.split())
    }

    private mutating func perform(
        _ action: PairingAction, _ index: Int, at now: Duration, _ actions: inout [Action]
    ) {
        let (link, role) = (entries.keys[index], entries[at: index].role)
        switch action {
        case .send(let pdu): actions.append(.send(pdu, link: link))
        case .ask(let step):
            entries[at: index].lastQuestion += 1
            entries[at: index].question = step
            entries[at: index].isAsking = if case .display = step { false } else { true }
            let number = entries[at: index].lastQuestion
            let peer = entries[at: index].peer.id
            actions.append(.ask(Question(link: link, peer: peer, role: role, step: step, number: number)))
        case .encrypt(let key):
            entries[at: index].encryption = .pairing
            guard role == .central else { return }
            actions.append(.encrypt(link: link, entries[at: index].peer.id, Bond.LongTermKey(value: key)))
        case .securityRequested(let requirements): secure(index, requirements, at: now, &actions)
        case .secured(var security):
            security.isBonded = entries[at: index].security.isBonded
            entries[at: index].security = security
            entries[at: index].isBondDeleted = false
            actions.append(.secured(link: link, by: nil))
        case .bonded(let bond): keep(bond, index, &actions)
        case .paired:
            entries[at: index].question = nil
            entries[at: index].peer.isPaired = true
            let peer = entries[at: index].peer
            actions.append(.peerChanged(peer, link: link))
            actions.append(.paired(peer, link: link))
            end(index, nil, &actions)
        case .failed(let failure): failed(failure, index, &actions)
        }
    }

    /// Reports a failed pairing as the error of the waiting calls, or as a warning if there are none.
    private mutating func failed(_ failure: PairingFailure, _ index: Int, _ actions: inout [Action]) {
        let role = entries[at: index].role
        let failure = failure == .timedOut && entries[at: index].isAsking ? .unanswered : failure
        let question = entries[at: index].question
        entries[at: index].isAsking = false
        entries[at: index].question = nil
        let error = failure.error(
            entries[at: index].addresses.peer, role.pairing, after: question, configuration.file)
        entries[at: index].encryption = .idle
        guard entries[at: index].waiters.isEmpty else { return end(index, error, &actions) }
        let warning = RadioWarning(failure.warningCode, "\(error)")
        actions.append(role == .peripheral ? .event(.warning(warning)) : .centralEvent(.warning(warning)))
    }
}

extension LEConnection.Role {
    /// The pairing role of a device with this link role.
    fileprivate var pairing: PairingRole { self == .central ? .initiator : .responder }
}
