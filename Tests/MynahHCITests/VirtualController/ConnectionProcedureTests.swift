import MynahCore
import MynahSupport
import Testing

@testable import MynahHCI

@Suite struct ConnectionProcedureTests {
    private let central = Part.endpoints(.central)
    private let peripheral = Part.endpoints(.peripheral)
    private let settings = ConnectionSettings(Part.configuration())
    private var actions: [ConnectionAction] = []

    /// The actions since the last call.
    private mutating func take() -> [ConnectionAction] {
        defer { actions = [] }
        return actions
    }

    // MARK: Version and features

    @Test mutating func `each side sends its version once`() {
        let (own, peer) = (
            LinkVersion(version: 11, company: 1, subversion: 2),
            LinkVersion(version: 9, company: 3, subversion: 4)
        )
        let report = ConnectionAction.report(
            HCIEvent.readRemoteVersionInformationComplete, [0, 0x40, 0, 9, 3, 0, 4, 0])
        var asks = VersionExchange()
        asks.read(own, central, &actions)
        #expect(take() == [.begin(own.pdu(isAnswer: false))])
        asks.read(own, central, &actions)
        #expect(take() == [])
        asks.receive(peer, isAnswer: true, own: own, central, &actions)
        #expect(take() == [report])
        // Known features need no exchange.
        asks.read(own, central, &actions)
        #expect(take() == [report])

        var answers = VersionExchange()
        answers.receive(peer, isAnswer: false, own: own, central, &actions)
        #expect(take() == [.send(own.pdu(isAnswer: true))])
        answers.receive(peer, isAnswer: false, own: own, central, &actions)
        #expect(take() == [])
        answers.read(own, central, &actions)
        #expect(take() == [report])
    }

    @Test mutating func `features are asked for once at a time`() {
        var features = FeatureExchange()
        features.receiveResponse(0xFF, central, &actions)
        #expect(take() == [])
        #expect(features.read(0x0F, &actions) == .success)
        #expect(features.read(0x0F, &actions) == .commandDisallowed)
        #expect(take() == [.begin(.featureRequest(0x0F))])
        features.receiveResponse(0x03, central, &actions)
        features.receiveResponse(0x03, central, &actions)
        #expect(
            take() == [
                .reportLE(
                    HCIEvent.LESubevent.readRemoteFeaturesComplete, [0, 0x40, 0, 3, 0, 0, 0, 0, 0, 0, 0])
            ])
        features.receiveRequest(0x33, own: 0x0F, &actions)
        #expect(take() == [.send(.featureResponse(0x03))])
    }

    // MARK: Data length and PHYs

    @Test mutating func `a new connection asks for longer PDUs if the host suggested them`() {
        DataLengthProcedure(sentOctets: 27, sentTime: 328).begin(&actions)
        #expect(take() == [])
        DataLengthProcedure(sentOctets: 100, sentTime: 1000).begin(&actions)
        let own = DataLengths(receivedOctets: 251, receivedTime: 17040, sentOctets: 100, sentTime: 1000)
        #expect(take() == [.begin(.lengthRequest(own))])
    }

    @Test mutating func `the data length is what both sides can do, and only a change is reported`() {
        var lengths = DataLengthProcedure(sentOctets: 27, sentTime: 328)
        lengths.begin(octets: 200, time: 2000, &actions)
        let own = DataLengths(receivedOctets: 251, receivedTime: 17040, sentOctets: 200, sentTime: 2000)
        #expect(take() == [.begin(.lengthRequest(own))])
        let peer = DataLengths(receivedOctets: 150, receivedTime: 1500, sentOctets: 60, sentTime: 100)
        lengths.receive(peer, isRequest: false, central, &actions)
        let report = ConnectionAction.reportLE(
            HCIEvent.LESubevent.dataLengthChange, [0x40, 0, 150, 0, 0xDC, 5, 60, 0, 0x48, 1])
        #expect(take() == [report])
        #expect(lengths.receivedOctets == 60)
        lengths.receive(peer, isRequest: true, central, &actions)
        #expect(take() == [.send(.lengthResponse(own))])
        // Never less than every controller can do.
        let small = DataLengths(receivedOctets: 1, receivedTime: 1, sentOctets: 1, sentTime: 1)
        lengths.receive(small, isRequest: false, central, &actions)
        #expect(lengths.receivedOctets == 27 && take().count == 1)
    }

    @Test(
        arguments: [
            // The bytes and microseconds that the peer can receive, and those that it wants to send.
            (251, 2120, 251, 2120, false), (100, 2120, 251, 2120, true), (251, 1000, 251, 2120, true),
            (251, 2120, 100, 2120, true), (251, 2120, 251, 1000, true),
            // More than this side sends.
            (251, 17040, 251, 2120, false),
        ] as [(UInt16, UInt16, UInt16, UInt16, Bool)])
    func `a change of a length or of a time is reported, in either direction`(
        receivedOctets: UInt16, receivedTime: UInt16, sentOctets: UInt16, sentTime: UInt16, isChange: Bool
    ) {
        var (lengths, actions) = (DataLengthProcedure(sentOctets: 251, sentTime: 2120), actions)
        let first = DataLengths(
            receivedOctets: 251, receivedTime: 2120, sentOctets: 251, sentTime: 2120)
        let next = DataLengths(
            receivedOctets: receivedOctets, receivedTime: receivedTime, sentOctets: sentOctets,
            sentTime: sentTime)
        for (peer, isReported) in [(first, true), (next, isChange), (next, false), (first, isChange)] {
            actions = []
            lengths.receive(peer, isRequest: false, central, &actions)
            #expect(actions.isEmpty != isReported)
        }
    }

    @Test(arguments: [
        (26, 328, false), (27, 328, true), (251, 17040, true), (252, 17040, false), (27, 327, false),
    ])
    func `data lengths have limits`(octets: UInt16, time: UInt16, isValid: Bool) {
        #expect(DataLengthProcedure.isValid(octets: octets, time: time) == isValid)
    }

    @Test(
        arguments: [
            // The PHYs that the peer sends and receives, those that the host prefers, and those of this side.
            (7, 7, 7, 7, 2, 2), (1, 2, 7, 7, 2, 1), (4, 4, 7, 7, 3, 3), (4, 4, 3, 3, 1, 1),
            (7, 7, 1, 4, 1, 3),
        ] as [(UInt8, UInt8, UInt8, UInt8, UInt8, UInt8)])
    func `the fastest PHYs that both sides accept are used`(
        sends: UInt8, receives: UInt8, prefersSending: UInt8, prefersReceiving: UInt8, sending: UInt8,
        receiving: UInt8
    ) {
        var (settings, actions) = (settings, actions)
        settings.defaultPHYs = LinkPHYs(sending: prefersSending, receiving: prefersReceiving)
        var phys = PHYProcedure()
        phys.receiveRequest(LinkPHYs(sending: sends, receiving: receives), settings, central, &actions)
        let isNew = (sending, receiving) != (1, 1)
        let report = ConnectionAction.reportLE(
            HCIEvent.LESubevent.phyUpdateComplete, [0, 0x40, 0, sending, receiving])
        #expect(
            actions == [.send(.phyUpdate(sending: sending, receiving: receiving))] + (isNew ? [report] : []))
        #expect(phys.current == LinkPHYs(sending: sending, receiving: receiving))
    }

    @Test mutating func `an answer to a PHY request is always reported, as this side sees it`() {
        var phys = PHYProcedure()
        phys.receiveUpdate(LinkPHYs(sending: 2, receiving: 1), central, &actions)
        #expect(take() == [])
        #expect(phys.request(LinkPHYs(sending: 2, receiving: 7), &actions) == .success)
        #expect(phys.request(LinkPHYs(sending: 2, receiving: 7), &actions) == .commandDisallowed)
        #expect(take() == [.begin(.phyRequest(sending: 2, receiving: 7))])
        phys.receiveUpdate(LinkPHYs(sending: 0, receiving: 1), central, &actions)
        #expect(take() == [])
        phys.receiveUpdate(LinkPHYs(sending: 2, receiving: 1), central, &actions)
        #expect(take() == [.reportLE(HCIEvent.LESubevent.phyUpdateComplete, [0, 0x40, 0, 1, 2])])
        #expect(LinkPHYs(all: 3, sending: 0, receiving: 0) == LinkPHYs(sending: 7, receiving: 7))
        #expect(LinkPHYs(all: 0, sending: 1, receiving: 8) == nil)
    }

    // MARK: Connection parameters

    private let wanted = LEConnection.Parameters(interval: 30, latency: 0, timeout: 100)
    private let wantedBytes: [UInt8] = [30, 0, 0, 0, 100, 0]

    @Test mutating func `a central updates the connection itself`() {
        var parameters = ParameterProcedure()
        #expect(parameters.update(wanted, maximum: 40, as: .central, &actions) == .success)
        #expect(take() == [.send(.connectionUpdate(wanted)), .use(wanted)])
        parameters.receiveUpdate(wanted, as: .central, &actions)
        parameters.receiveRejection(.unsupportedRemoteFeature, wanted, central, &actions)
        #expect(take() == [])
    }

    @Test(arguments: [true, false]) mutating func `a peripheral asks once at a time`(isAccepted: Bool) {
        var parameters = ParameterProcedure()
        for answer in [HCIStatus.success, .commandDisallowed] {
            #expect(parameters.update(wanted, maximum: 40, as: .peripheral, &actions) == answer)
        }
        var widest = wanted
        widest.interval = 40
        #expect(take() == [.begin(.parameterRequest(minimum: 30, widest))])
        if isAccepted {
            parameters.receiveUpdate(wanted, as: .peripheral, &actions)
            #expect(take() == [.use(wanted)])
        } else {
            parameters.receiveRejection(.unsupportedRemoteFeature, wanted, peripheral, &actions)
            #expect(
                take() == [
                    .reportLE(
                        HCIEvent.LESubevent.connectionUpdateComplete, [0x1A, 0x40, 0] + wantedBytes)
                ])
        }
        #expect(parameters.update(wanted, maximum: 40, as: .peripheral, &actions) == .success)
    }

    @Test(arguments: [
        (LEConnection.Role.central, true, nil), (.central, false, HCIStatus.unsupportedRemoteFeature),
        (.peripheral, true, .unsupportedLLParameterValue),
    ])
    func `the host of a central is asked for other parameters`(
        role: LEConnection.Role, takesRequest: Bool, refusal: HCIStatus?
    ) {
        var (parameters, actions) = (ParameterProcedure(), actions)
        parameters.receiveRequest(
            minimum: 6, wanted, Part.endpoints(role), takesRequest: takesRequest, &actions)
        let report = ConnectionAction.reportLE(
            HCIEvent.LESubevent.remoteConnectionParameterRequest, [0x40, 0, 6, 0] + wantedBytes)
        #expect(actions == [refusal.map { .send(.parametersRejected($0)) } ?? report])
    }

    @Test mutating func `the host answers a request once`() {
        var parameters = ParameterProcedure()
        #expect(parameters.accept(wanted, &actions) == .commandDisallowed)
        #expect(parameters.refuse(.unacceptableConnectionParameters, &actions) == .commandDisallowed)
        #expect(take() == [])
        parameters.receiveRequest(minimum: 6, wanted, central, takesRequest: true, &actions)
        parameters.receiveRequest(minimum: 6, wanted, central, takesRequest: true, &actions)
        #expect(take().last == .send(.parametersRejected(.unsupportedLLParameterValue)))
        #expect(parameters.accept(wanted, &actions) == .success)
        #expect(take() == [.send(.connectionUpdate(wanted)), .use(wanted)])
        parameters.receiveRequest(minimum: 6, wanted, central, takesRequest: true, &actions)
        #expect(parameters.refuse(.unacceptableConnectionParameters, &actions) == .success)
        #expect(take().last == .send(.parametersRejected(.unacceptableConnectionParameters)))
    }

    // MARK: Encryption

    private let key = [UInt8](repeating: 7, count: 16)

    /// A peripheral whose host has been asked for the key.
    private mutating func asked(_ encryption: inout EncryptionProcedure) {
        encryption.receive(
            .encryptionRequest(random: [1, 2, 3, 4, 5, 6, 7, 8], diversifier: 9, nonce: 5), on: peripheral,
            takesRequest: true, at: .zero, &actions)
    }

    @Test(arguments: [true, false]) mutating func `two sides with the same key encrypt`(isSame: Bool) {
        var (one, other) = (EncryptionProcedure(), EncryptionProcedure())
        one.begin(key, random: [1, 2, 3, 4, 5, 6, 7, 8], diversifier: 9, nonce: 5, at: .zero, &actions)
        #expect(
            take() == [
                .begin(.encryptionRequest(random: [1, 2, 3, 4, 5, 6, 7, 8], diversifier: 9, nonce: 5))
            ])
        #expect(one.deadline == .milliseconds(40_000) && one.isUnderWay)
        asked(&other)
        #expect(
            take() == [
                .reportLE(
                    HCIEvent.LESubevent.longTermKeyRequest, [0x40, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0])
            ])
        #expect(other.awaitsKey)
        other.reply(isSame ? key : [0], own: 6, &actions)
        #expect(take() == [.send(.startEncryption(nonce: 6))])
        one.receive(.startEncryption(nonce: 6), on: central, takesRequest: true, at: .zero, &actions)
        let proof = EncryptionProcedure.proof(key, 5, 6)
        #expect(take() == [.send(.encryptionProof(proof))])
        other.receive(.encryptionProof(proof), on: peripheral, takesRequest: true, at: .zero, &actions)
        guard isSame else {
            #expect(take() == [.terminate(.micFailure)])
            return
        }
        let report = ConnectionAction.report(HCIEvent.encryptionChange, [0, 0x40, 0, 1])
        #expect(take() == [.send(.encrypted), report])
        one.receive(.encrypted, on: central, takesRequest: true, at: .zero, &actions)
        #expect(take() == [report])
        for side in [one, other] { #expect(side.isEncrypted && !side.isUnderWay && side.deadline == nil) }
    }

    @Test mutating func `data waits for encryption, and an encrypted connection refreshes its key`() {
        var encryption = EncryptionProcedure()
        for event in [HCIEvent.encryptionChange, HCIEvent.encryptionKeyRefreshComplete] {
            encryption.begin(key, random: [], diversifier: 0, nonce: 5, at: .zero, &actions)
            encryption.hold(.data(isContinued: false, [1]))
            encryption.hold(.data(isContinued: true, [2]))
            #expect(encryption.heldCount == 2)
            encryption.receive(
                .startEncryption(nonce: 6), on: central, takesRequest: true, at: .zero, &actions)
            _ = take()
            encryption.receive(.encrypted, on: central, takesRequest: true, at: .zero, &actions)
            #expect(take().first.map { if case .report(event, _) = $0 { true } else { false } } == true)
            #expect(encryption.heldCount == 0)
        }
    }

    @Test mutating func `without a key encryption is refused, and an encrypted connection ends`() {
        let refusal = ConnectionAction.send(.encryptionRejected(.pinOrKeyMissing))
        var encryption = EncryptionProcedure()
        encryption.receive(
            .encryptionRequest(random: [], diversifier: 0, nonce: 5), on: peripheral, takesRequest: false,
            at: .zero, &actions)
        #expect(take() == [refusal])
        asked(&encryption)
        encryption.hold(.data(isContinued: false, [1]))
        _ = take()
        encryption.refuse(&actions)
        #expect(take() == [.send(.data(isContinued: false, [1])), refusal])
        asked(&encryption)
        encryption.reply(key, own: 6, &actions)
        let proof = EncryptionProcedure.proof(key, 5, 6)
        encryption.receive(.encryptionProof(proof), on: peripheral, takesRequest: true, at: .zero, &actions)
        asked(&encryption)
        _ = take()
        encryption.refuse(&actions)
        #expect(take() == [.terminate(.pinOrKeyMissing)])
    }

    @Test mutating func `a refusal of the peripheral is reported, and PDUs out of order are not taken`() {
        var encryption = EncryptionProcedure()
        let pdus: [LinkPDU] = [
            .startEncryption(nonce: 6), .encryptionProof(6), .encrypted,
            .encryptionRejected(.pinOrKeyMissing),
        ]
        for pdu in pdus {
            encryption.receive(pdu, on: central, takesRequest: true, at: .zero, &actions)
        }
        encryption.receive(
            .encryptionRequest(random: [], diversifier: 0, nonce: 5), on: central, takesRequest: true,
            at: .zero, &actions)
        encryption.reply(key, own: 6, &actions)
        #expect(take() == [] && !encryption.isUnderWay)
        encryption.begin(key, random: [], diversifier: 0, nonce: 5, at: .zero, &actions)
        _ = take()
        encryption.receive(
            .encryptionRejected(.pinOrKeyMissing), on: central, takesRequest: true, at: .zero, &actions)
        #expect(take() == [.report(HCIEvent.encryptionChange, [6, 0x40, 0, 0])])
        #expect(!encryption.isUnderWay && !encryption.isEncrypted)
    }
}
