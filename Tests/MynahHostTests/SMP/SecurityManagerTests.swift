import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// Every event in every state of a link, on either side.
@Suite struct SecurityManagerTests {
    typealias Role = LEConnection.Role

    enum State: String, CaseIterable {
        case nothing, bonded, pairing, asked, encryptingByPairing, encryptingByBond, encrypted, timedOut
    }

    enum Event: String, CaseIterable {
        case pair, request, failure, keyRequest, encrypted, encryptionFailed, encryptionStopped
        case agreed, declined, lateAnswer, deadline, forget, linkEnd
    }

    /// A link in a state; one call waits, unless the state needs no pairing.
    static func duo(_ state: State, _ role: Role) -> SecurityDuo {
        var duo =
            state == .asked && role == .central ? SecurityDuo(.displayYesNo, .displayYesNo) : SecurityDuo()
        switch state {
        case .nothing: break
        case .bonded, .encryptingByBond:
            duo.pair()
            duo.run()
            duo.reconnect()
            guard state == .encryptingByBond else { break }
            duo.holds = [.encryption]
            duo.pair()
            duo.run()
        case .pairing, .timedOut:
            duo.deliveries = 1
            duo.pair()
            duo.run()
        case .asked:
            duo.holds = [.answers(role)]
            duo.pair()
            duo.run()
        case .encryptingByPairing:
            duo.holds = [.encryption]
            duo.pair()
            duo.run()
        case .encrypted:
            duo.pair()
            duo.run()
        }
        if state == .timedOut {
            duo.now += .seconds(30)
            duo.take(role) { $0.expire(SecurityDuo.link, at: $1, &$2) }
        }
        duo.dropAll()
        _ = duo.asked(role)
        return duo
    }

    static func carryOut(_ event: Event, _ role: Role, _ duo: inout SecurityDuo) {
        let link = SecurityDuo.link
        let question =
            duo.questions[role]
            ?? .init(link: link, peer: duo.peer, role: role, step: .agree, number: 1)
        switch event {
        case .pair: duo.pair(role, waiter: 2)
        case .request:
            let bytes: [UInt8] =
                role == .central ? [0x0B, 0x09] : [0x01, 0x03, 0x00, 0x09, 0x10, 0x02, 0x02]
            duo.take(role) { $0.receive(bytes, link, at: $1, &$2) }
        case .failure: duo.take(role) { $0.receive([0x05, 0x08], link, at: $1, &$2) }
        case .keyRequest:
            duo.take(role) {
                $0.keyRequested(link, random: Array(repeating: 0, count: 8), diversifier: 0, &$2)
            }
        case .encrypted: duo.take(role) { $0.encryptionChanged(link, .success, at: $1, &$2) }
        case .encryptionFailed: duo.take(role) { $0.encryptionChanged(link, .pinOrKeyMissing, at: $1, &$2) }
        case .encryptionStopped: duo.take(role) { manager, _, _ in manager.encryptionStopped(link) }
        case .agreed: duo.take(role) { $0.answered(question, .agreed, at: $1, &$2) }
        case .declined: duo.take(role) { $0.answered(question, .declined, at: $1, &$2) }
        case .lateAnswer:
            var late = question
            late.number -= 1
            duo.take(role) { $0.answered(late, .agreed, at: $1, &$2) }
        case .deadline:
            duo.now += .seconds(30)
            duo.take(role) { $0.expire(link, at: $1, &$2) }
        case .forget:
            duo.take(role) { _ = $0.forgetBond(with: SecurityDuo.address(of: role.other), &$2) }
        case .linkEnd: duo.take(role) { $0.linkEnded(link, &$2) }
        }
    }

    /// The manager's actions, and a change of the link's security; nothing in all other cases.
    static let central: [State: [Event: String]] = [
        .nothing: [.pair: "send pairingRequest", .request: "send pairingRequest", .keyRequest: "no key"],
        .bonded: [
            .pair: "encrypt", .request: "encrypt", .keyRequest: "give key",
            .forget: "save, peer is not paired",
        ],
        .pairing: [
            .failure: "end 1 pairingFailed", .keyRequest: "no key", .deadline: "end 1 pairingFailed",
            .linkEnd: "end 1 disconnected",
        ],
        .asked: [
            .failure: "end 1 pairingFailed", .keyRequest: "no key", .agreed: "send pairingDHKeyCheck",
            .declined: "send pairingFailed 0x0C, end 1 pairingFailed", .deadline: "end 1 pairingFailed",
            .linkEnd: "end 1 disconnected",
        ],
        .encryptingByPairing: [
            .failure: "end 1 pairingFailed", .keyRequest: "no key", .encrypted: "secured; encrypted",
            .encryptionFailed: "end 1 pairingFailed", .deadline: "end 1 pairingFailed",
            .linkEnd: "end 1 disconnected",
        ],
        .encryptingByBond: [
            .keyRequest: "give key", .encrypted: "restore, secured by bond, end 1 well; encrypted",
            .encryptionFailed: "end 1 pairingFailed", .forget: "save, peer is not paired",
            .linkEnd: "end 1 disconnected",
        ],
        .encrypted: [
            .pair: "end 2 well", .keyRequest: "give key", .encryptionStopped: "; open",
            .forget: "save, peer is not paired", .linkEnd: "; open",
        ],
        .timedOut: [.pair: "end 2 pairingFailed", .keyRequest: "no key"],
    ]

    static let peripheral: [State: [Event: String]] = [
        .nothing: [.pair: "send securityRequest", .request: "ask to agree", .keyRequest: "no key"],
        .bonded: [
            .pair: "send securityRequest", .request: "ask to agree", .keyRequest: "give key",
            .forget: "save, peer is not paired",
        ],
        .pairing: [
            .request: "send pairingFailed 0x08, warn pairingFailed", .failure: "warn pairingFailed",
            .keyRequest: "no key", .deadline: "warn pairingFailed",
        ],
        .asked: [
            .request: "send pairingFailed 0x08, warn pairingFailed", .failure: "warn pairingFailed",
            .keyRequest: "no key", .agreed: "send pairingResponse",
            .declined: "send pairingFailed 0x08, warn pairingFailed", .deadline: "warn pairingFailed",
        ],
        .encryptingByPairing: [
            .request: "send pairingFailed 0x08, warn pairingFailed", .failure: "warn pairingFailed",
            .keyRequest: "give key",
            .encrypted: "secured, send identityInformation, send identityAddressInformation, "
                + "send signingInformation; encrypted",
            .encryptionFailed: "warn pairingFailed", .deadline: "warn pairingFailed",
        ],
        .encryptingByBond: [
            .pair: "send securityRequest", .request: "ask to agree", .keyRequest: "give key",
            .encrypted: "restore, secured by bond; encrypted", .forget: "save, peer is not paired",
        ],
        .encrypted: [
            .pair: "end 2 well", .request: "ask to agree", .keyRequest: "give key",
            .encryptionStopped: "; open", .forget: "save, peer is not paired", .linkEnd: "; open",
        ],
        .timedOut: [.pair: "end 2 pairingFailed", .keyRequest: "no key"],
    ]

    @Test(arguments: [Role.central, .peripheral], State.allCases)
    func `each state takes each event, and no answer that is late`(role: Role, state: State) {
        for event in Event.allCases {
            var duo = Self.duo(state, role)
            let before = duo[role][SecurityDuo.link].isEncrypted
            Self.carryOut(event, role, &duo)
            let after = duo[role][SecurityDuo.link].isEncrypted
            let words = duo.asked(role) + (before == after ? "" : after ? "; encrypted" : "; open")
            let expected = (role == .central ? Self.central : Self.peripheral)[state]?[event] ?? ""
            #expect(words == expected, "\(event)")
            if event == .linkEnd { #expect(duo[role].deadline(of: SecurityDuo.link) == nil) }
        }
    }

    @Test(arguments: [Role.central, .peripheral])
    func `calls that wait for one link end together`(role: Role) {
        var duo = SecurityDuo()
        duo.pair(role, waiter: 1)
        duo.pair(role, waiter: 2)
        duo.run()
        #expect(
            duo.asked(role).hasSuffix("bonded, save, peer is paired, paired, end 1 2 well"))
        #expect(duo[role].deadline(of: SecurityDuo.link) == nil)
        // The other side has nobody who waits.
        #expect(duo.asked(role.other).hasSuffix("bonded, save, peer is paired, paired"))
    }

    @Test(arguments: [7, 12, 16]) func `a device takes part in keys of the size that its identity allows`(
        size: Int
    ) {
        var duo = SecurityDuo()
        var identity = DeviceIdentity(name: "x")
        identity.largestKeySize = size
        duo.peripheral.begin(as: identity)
        duo.pair()
        duo.run()
        #expect(duo.central[SecurityDuo.link].keySize == size)
        #expect(duo.peripheral[SecurityDuo.link].keySize == size)
    }

    @Test func `an answer about a link that has ended is dropped, though the handle is there again`() throws {
        var duo = SecurityDuo()
        duo.holds = [.answers(.peripheral)]
        duo.pair()
        duo.run()
        let old = try #require(duo.questions[.peripheral])
        duo.reconnect()
        duo.pair()
        duo.run()
        #expect(duo.questions[.peripheral]?.number == old.number)
        _ = duo.asked(.peripheral)
        duo.take(.peripheral) { $0.answered(old, .agreed, at: $1, &$2) }
        duo.run()
        #expect(duo.asked(.peripheral) == "")
        let current = try #require(duo.questions[.peripheral])
        duo.take(.peripheral) { $0.answered(current, .agreed, at: $1, &$2) }
        #expect(duo.asked(.peripheral) == "send pairingResponse")
    }

    @Test func `a link that is encrypted with the key of a deleted bond does not pair again`() {
        var duo = Self.duo(.encrypted, .central)
        Self.carryOut(.forget, .central, &duo)
        _ = duo.asked(.central)
        duo.pair(waiter: 2)
        #expect(duo.asked(.central) == "end 2 pairingFailed")
        duo.reconnect()
        _ = duo.asked(.central)
        duo.pair(waiter: 3)
        duo.run()
        #expect(duo.asked(.central).hasSuffix("paired, end 3 well"))
        duo.pair(waiter: 4)
        #expect(duo.asked(.central) == "end 4 well")
    }

    @Test func `a new pairing on the same link replaces the key of a deleted bond`() {
        var duo = Self.duo(.encrypted, .central)
        Self.carryOut(.forget, .central, &duo)
        Self.carryOut(.request, .central, &duo)
        duo.run()
        #expect(duo.asked(.central).contains("secured, "))
        duo.pair(waiter: 2)
        #expect(duo.asked(.central) == "end 2 well")
    }

    @Test func `a link that is no longer encrypted pairs again after its bond was deleted`() {
        var duo = Self.duo(.encrypted, .central)
        Self.carryOut(.forget, .central, &duo)
        Self.carryOut(.encryptionStopped, .central, &duo)
        _ = duo.asked(.central)
        duo.pair(waiter: 2)
        #expect(duo.asked(.central) == "send pairingRequest")
    }

    @Test(arguments: [true, false])
    func `a confirm value that fails has to do with the passkey only if there was one`(isEntered: Bool) {
        var duo = isEntered ? SecurityDuo(.keyboardOnly, .displayOnly) : SecurityDuo()
        duo.holds = [.answers(isEntered ? .central : .peripheral)]
        duo.pair()
        duo.run()
        // The peripheral refuses: Confirm Value Failed.
        duo.take(.central) { $0.receive([0x05, 0x04], SecurityDuo.link, at: $1, &$2) }
        #expect(duo.error?.remedy == (isEntered ? "check the passkey" : nil))
        #expect(duo.error?.message.hasSuffix("the peripheral refused: Confirm Value Failed") == true)
    }

    @Test(
        arguments: [
            (PairingStep.display(1), "check the passkey"), (.enter, "check the passkey"), (.compare(1), nil),
            (.agree, nil), (nil, nil),
        ] as [(PairingStep?, String?)])
    func `only steps with a passkey have one to check`(step: PairingStep?, remedy: String?) {
        for failure in [PairingFailure.refused(.confirmValueFailed), .refusedByPeer(.confirmValueFailed)] {
            let peer = SecurityDuo.address(of: .central)
            #expect(failure.error(peer, .responder, after: step, nil).remedy == remedy)
        }
    }

    @Test func `a device that refuses a pairing without a passkey may want one`() {
        var duo = SecurityDuo()
        duo.deliveries = 1
        duo.pair()
        duo.run()
        duo.take(.central) { $0.receive([0x05, 0x03], SecurityDuo.link, at: $1, &$2) }
        #expect(
            duo.error?.description.hasSuffix(
                "Authentication Requirements; it may want a passkey that one side shows and the other enters")
                == true)
    }

    @Test(arguments: [true, false])
    func `a pairing that times out says whose answer is missing`(isAsked: Bool) {
        var duo = Self.duo(isAsked ? .asked : .pairing, .central)
        var actions: [SecurityManager.Action] = []
        duo.now += .seconds(30)
        duo.central.expire(SecurityDuo.link, at: duo.now, &actions)
        guard case .end(let calls, let error)? = actions.last else {
            Issue.record("\(actions)")
            return
        }
        #expect(calls == [1])
        #expect(
            error?.description.hasSuffix(
                isAsked
                    ? "failed: the question was not answered within 30 s; pair again on a new link"
                    : "failed: the peripheral did not answer within 30 s; pair again on a new link") == true,
            "\(error as Any)")
    }

    @Test func `a pairing that is weaker than an authenticated bond is refused, and the bond is kept`() {
        var duo = SecurityDuo(.displayYesNo, .displayYesNo)
        duo.pair()
        duo.run()
        let bonds = duo.peripheral.bonds
        #expect(bonds.bonds.map(\.isAuthenticated) == [true])
        duo.take(.central) { _ = $0.forgetBond(with: SecurityDuo.address(of: .peripheral), &$2) }
        duo.central.ioCapability = .noInputNoOutput
        duo.reconnect()
        _ = (duo.asked(.central), duo.asked(.peripheral))
        duo.pair()
        duo.run()
        #expect(duo.asked(.peripheral) == "send pairingFailed 0x03, warn weakerPairingRefused")
        #expect(duo.asked(.central) == "send pairingRequest, end 1 pairingFailed")
        #expect(duo.peripheral.bonds == bonds)
    }

    @Test func `a bond that is forgotten while the link is encrypted with its key does not protect the link`()
        throws
    {
        var duo = Self.duo(.encryptingByBond, .central)
        for role in [Role.central, .peripheral] {
            Self.carryOut(.forget, role, &duo)
            _ = duo.asked(role)
        }
        duo.encrypted(true)
        #expect(duo.asked(.central) == "end 1 pairingFailed" && duo.asked(.peripheral) == "")
        #expect(duo.central[SecurityDuo.link] == LinkSecurity())
        #expect(duo.peripheral[SecurityDuo.link] == LinkSecurity())
        duo.holds = []
        duo.pair()
        duo.run()
        #expect(duo.asked(.central).hasSuffix("paired, end 1 well"))
    }

    @Test func `a peer that failed to pair has to wait, on its next link too`() {
        var duo = SecurityDuo()
        duo.holds = [.encryption]
        duo.pair()
        duo.run()
        duo.encrypted(false)
        duo.take(.peripheral) { $0.encryptionChanged(SecurityDuo.link, .pinOrKeyMissing, at: $1, &$2) }
        duo.reconnect()
        _ = duo.asked(.peripheral)
        Self.carryOut(.request, .peripheral, &duo)
        #expect(duo.asked(.peripheral) == "send pairingFailed 0x09, warn pairingFailed")
        duo.now += PairingAttempts.shortest
        Self.carryOut(.request, .peripheral, &duo)
        #expect(duo.asked(.peripheral) == "ask to agree")
    }

    @Test
    func `a client's configuration is kept once the link is encrypted, and restored when it returns`()
        throws
    {
        var duo = SecurityDuo()
        func configure(_ duo: inout SecurityDuo, _ bits: UInt16) {
            duo.take(.peripheral) { manager, _, actions in
                manager.rememberClient(SecurityDuo.link, &actions) { $0.configurations = [9: bits] }
            }
        }
        configure(&duo, 1)
        #expect(duo.asked(.peripheral) == "")
        duo.pair()
        duo.run()
        _ = duo.asked(.peripheral)
        configure(&duo, 2)
        #expect(duo.asked(.peripheral) == "save")
        duo.reconnect()
        // The bond knows better than a link that is not encrypted.
        configure(&duo, 0)
        #expect(duo.peripheral.bonds.bonds.map(\.configurations) == [[9: 2]])
        for role in [Role.central, .peripheral] {
            _ = duo.asked(role)
            duo.take(role) { $0.askSubscriberToEncrypt(SecurityDuo.link, at: $1, &$2) }
        }
        duo.run()
        #expect(duo.asked(.central) == "encrypt, restore, secured by bond")
        #expect(duo.asked(.peripheral) == "send securityRequest, give key, restore, secured by bond")
    }

    @Test func `bonds are not saved over a file that could not be set aside`() {
        var duo = SecurityDuo()
        duo.take(.peripheral) {
            $0.load(BondFile.Contents(warning: "it cannot be read", mayReplace: false), &$2)
        }
        duo.pair()
        duo.run()
        #expect(duo.asked(.central).contains("save"))
        let words = duo.asked(.peripheral)
        #expect(words.hasPrefix("warn bondsUnusable, ") && !words.contains("save"))
    }

    @Test func `the static address is made once`() {
        var manager = SecurityManager()
        var actions: [SecurityManager.Action] = []
        let address = manager.staticAddress(&actions)
        #expect(address.isStatic)
        #expect(manager.staticAddress(&actions) == address)
        #expect(actions.map(SecurityDuo.word) == ["save"])
    }

    @Test(arguments: 1...16 as ClosedRange<UInt64>)
    func `every call ends once, for any events in any order`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var duo = SecurityDuo(seed: seed)
        var calls: UInt64 = 0
        for _ in 0..<200 {
            let role: Role = .random(using: &random)
            switch Event.allCases.randomElement(using: &random) ?? .pair {
            case .pair:
                calls += 1
                duo.pair(role, waiter: calls)
            case .linkEnd: duo.reconnect()
            case let event: Self.carryOut(event, role, &duo)
            }
            duo.holds = Bool.random(using: &random) ? [.encryption] : []
            if Bool.random(using: &random) { duo.run() } else { duo.dropAll() }
        }
        duo.reconnect()
        let ended = duo.actions.values.joined().flatMap { action in
            if case .end(let calls, _) = action { calls } else { [] as [UInt64] }
        }
        #expect(ended.sorted() == Array(1...calls))
    }
}

extension LEConnection.Role {
    fileprivate static func random(using random: inout SeededGenerator) -> Self {
        Bool.random(using: &random) ? .central : .peripheral
    }
}
