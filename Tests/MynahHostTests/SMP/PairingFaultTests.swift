import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

func bytes(_ hex: String) -> [UInt8] { Hex.decode(hex) ?? [] }

@Suite struct PairingFaultTests {
    // MARK: Actions of users

    @Test(arguments: [PairingRole.initiator, .responder], [false, true])
    func `a wrong passkey ends pairing, and the other side is told`(wrong: PairingRole, isSecure: Bool) throws
    {
        for slip in [1, 0x80000] as [UInt32] {
            var rig = try #require(PairingRig(.keyboardOnly, .keyboardOnly, isSecureConnections: isSecure))
            rig.user.slip[wrong] = 0 &- slip
            rig.pair()
            #expect(rig.isOver)
            let failures = [rig.failure(of: .initiator), rig.failure(of: .responder)]
            #expect(failures.contains(.refused(.confirmValueFailed)))
            #expect(failures.contains(.refusedByPeer(.confirmValueFailed)))
            #expect(rig.security(of: .initiator) == nil && rig.security(of: .responder) == nil)
            // In LE Secure Connections it shows with the first bit that differs (2.3.5.6.3).
            let rounds = rig.deliveries.count { $0.pdu.code == .pairingRandom }
            #expect(rounds <= (isSecure ? (slip == 1 ? 3 : 40) : 2))
        }
    }

    @Test(arguments: [false, true])
    func `nobody types: passkey entry failed`(isSecure: Bool) throws {
        for (first, second) in [
            (IOCapability.keyboardOnly, IOCapability.displayOnly), (.displayOnly, .keyboardOnly),
        ] {
            var rig = try #require(PairingRig(first, second, isSecureConnections: isSecure))
            rig.user.types = false
            rig.pair()
            #expect(rig.isOver)
            let typing: PairingRole = first == .keyboardOnly ? .initiator : .responder
            #expect(rig.failure(of: typing) == .refused(.passkeyEntryFailed))
        }
    }

    @Test(arguments: [false, true])
    func `a number of seven digits is no passkey`(isSecure: Bool) throws {
        var rig = try #require(PairingRig(.keyboardOnly, .displayOnly, isSecureConnections: isSecure))
        rig.user.slip[.initiator] = 1_000_000
        rig.pair()
        #expect(rig.failure(of: .initiator) == .refused(.passkeyEntryFailed))
    }

    @Test func `numbers that differ end pairing`() throws {
        var rig = try #require(PairingRig(.displayYesNo, .displayYesNo, isSecureConnections: true))
        rig.user.agrees = false
        rig.pair()
        #expect(rig.isOver)
        #expect(
            [rig.failure(of: .initiator), rig.failure(of: .responder)].contains(
                .refused(.numericComparisonFailed)))
    }

    @Test func `a user who does not consent ends pairing before it is answered`() throws {
        var rig = try #require(PairingRig())
        rig.user.consents = false
        rig.pair()
        #expect(rig.failure(of: .responder) == .refused(.unspecifiedReason))
        #expect(!rig.deliveries.contains { $0.pdu.code == .pairingResponse })
        #expect(rig.responder.attempts.isAllowed(at: rig.now))
    }

    @Test func `an answer to no question does nothing`() throws {
        var rig = try #require(PairingRig())
        #expect(rig.responder.answer(.agreed, at: .zero) == [])
        #expect(rig.initiator.answer(.passkey(1), at: .zero) == [])
        for isSecure in [false, true] {
            var other = try #require(PairingRig(.keyboardOnly, .displayOnly, isSecureConnections: isSecure))
            other.pair()
            for delivery in other.deliveries where delivery.taker.role == .responder {
                var machine = delivery.taker
                #expect(machine.answer(.passkey(1), at: other.now) == [])
                #expect(machine.answer(.declined, at: other.now) == [])
            }
        }
    }

    // MARK: Actions of peers

    @Test(arguments: 0...0x20 as ClosedRange<UInt8>)
    func `each reason of a peer ends pairing at each step`(code: UInt8) throws {
        let reason = SMPReason(rawValue: code)
        for isSecure in [false, true] {
            var rig = try #require(PairingRig(.keyboardDisplay, .displayYesNo, isSecureConnections: isSecure))
            rig.pair()
            for delivery in rig.deliveries.dropFirst() {
                var machine = delivery.taker
                #expect(
                    machine.receive([0x05, code], at: delivery.now) == [.failed(.refusedByPeer(reason))])
                #expect(machine.deadline == nil)
                #expect(machine.receive([0x05, code], at: delivery.now) == [])
            }
        }
    }

    @Test func `reasons have their names`() {
        let names = (1...16 as ClosedRange<UInt8>).map { "\(SMPReason(rawValue: $0))" }
        #expect(Set(names).count == 16 && names.allSatisfy { !$0.hasPrefix("reason") })
        #expect("\(SMPReason(rawValue: 17))" == "reason 17")
    }

    static let samples: [SMPPDU] = [
        .pairingRequest(
            PairingFeatures(
                ioCapability: .displayYesNo, authentication: [.bonding, .mitm], initiatorKeys: .all,
                responderKeys: .all)),
        .pairingResponse(
            PairingFeatures(
                ioCapability: .displayYesNo, authentication: [.bonding, .mitm], initiatorKeys: .all,
                responderKeys: .all)),
        .pairingConfirm(Array(repeating: 1, count: 16)), .pairingRandom(Array(repeating: 2, count: 16)),
        .encryptionInformation(SecretKey(fitting: [3])), .centralIdentification(ediv: 1, rand: 2),
        .identityInformation(SecretKey(fitting: [4])),
        .identityAddressInformation(
            DeviceAddress("00:00:00:00:00:01", kind: .public) ?? PrivateAddress.any),
        .signingInformation(SecretKey(fitting: [5])), .securityRequest([.bonding]),
        .pairingPublicKey(x: Array(repeating: 6, count: 32), y: Array(repeating: 7, count: 32)),
        .pairingDHKeyCheck(Array(repeating: 8, count: 16)), .pairingKeypressNotification(0),
    ]

    @Test(arguments: PairingMethodTests.pairs, [false, true])
    func `a PDU that is not expected ends pairing at each step`(
        pair: (IOCapability, IOCapability), isSecure: Bool
    ) throws {
        var rig = try #require(PairingRig(pair.0, pair.1, isSecureConnections: isSecure))
        rig.pair()
        for delivery in rig.deliveries.dropFirst() {
            for sample in Self.samples where sample.code != delivery.pdu.code {
                var machine = delivery.taker
                let actions = machine.receive(sample.bytes, at: delivery.now)
                let isPassedOver: Bool =
                    switch (sample.code, machine.role, delivery.taker.state) {
                    case (.securityRequest, .initiator, _): true
                    case (.pairingKeypressNotification, _, .legacy),
                        (.pairingKeypressNotification, _, .secureConnections):
                        true
                    default: false
                    }
                #expect(
                    actions
                        == (isPassedOver
                            ? []
                            : [
                                .send(.pairingFailed(.unspecifiedReason)),
                                .failed(.refused(.unspecifiedReason)),
                            ]),
                    "\(sample.code) to \(delivery.taker), which waits for \(delivery.pdu.code)")
            }
        }
    }

    @Test(arguments: SMPPDU.Code.allCases)
    func `a PDU of a wrong length ends pairing`(code: SMPPDU.Code) throws {
        for length in [1, code.length - 1, code.length + 1, 200] where length != code.length {
            let pdu = [code.rawValue] + Array(repeating: 0, count: length - 1)
            #expect(throws: SMPReason.invalidParameters) { try SMPPDU.decode(pdu) }
            var rig = try #require(PairingRig())
            _ = rig.initiator.start(at: .zero)
            #expect(
                rig.initiator.receive(pdu, at: .zero) == [
                    .send(.pairingFailed(.invalidParameters)), .failed(.refused(.invalidParameters)),
                ])
        }
    }

    @Test(arguments: [0, 0x0F, 0x80, 0xFF] as [UInt8])
    func `a reserved code is passed over, and so is nothing`(code: UInt8) throws {
        var rig = try #require(PairingRig())
        _ = rig.initiator.start(at: .zero)
        #expect(rig.initiator.receive([code, 1, 2], at: .zero) == [])
        #expect(rig.initiator.receive([], at: .zero) == [])
        #expect(rig.initiator.deadline != nil)
    }

    @Test func `amid no pairing only requests are answered`() throws {
        var rig = try #require(PairingRig())
        for sample in Self.samples {
            let toCentral = rig.initiator.receive(sample.bytes, at: .zero)
            switch sample {
            case .securityRequest(let requirements):
                #expect(toCentral == [.securityRequested(requirements)])
            case .pairingRequest: #expect(toCentral == [.send(.pairingFailed(.commandNotSupported))])
            default: #expect(toCentral == [])
            }
            if case .pairingRequest = sample { continue }
            let toPeripheral = rig.responder.receive(sample.bytes, at: .zero)
            if case .securityRequest = sample {
                #expect(toPeripheral == [.send(.pairingFailed(.commandNotSupported))])
            } else {
                #expect(toPeripheral == [])
            }
        }
        #expect(rig.initiator.receive([0x03], at: .zero) == [])
        #expect(rig.responder.receive([0x0C, 1], at: .zero) == [])
    }

    @Test(arguments: [PairingRole.initiator, .responder])
    func `a public key that is ours, off the curve, or known to all is refused`(taker: PairingRole) throws {
        let other: PairingRole = taker == .initiator ? .responder : .initiator
        let debugY = little("dc809c49652aeb6d63329abf5a52155c766345c28fed3024741c8ed01589d28b")
        for kind in 0..<5 {
            var rig = try #require(PairingRig(.displayYesNo, .displayYesNo, isSecureConnections: true))
            var reflected: SMPPDU?
            rig.tamper = { sender, pdu in
                guard sender == other, case .pairingPublicKey(let x, var y) = pdu else { return pdu }
                switch kind {
                case 0:
                    y[0] ^= 1
                    return .pairingPublicKey(x: x, y: y)
                case 1: return .pairingPublicKey(x: PublicKeyPair.debugX, y: debugY)
                case 2:
                    return .pairingPublicKey(
                        x: Array(repeating: 0, count: 32), y: Array(repeating: 0, count: 32))
                case 3:
                    return .pairingPublicKey(
                        x: Array(repeating: 0xFF, count: 32), y: Array(repeating: 0xFF, count: 32))
                default: return reflected ?? pdu
                }
            }
            if kind == 4 {
                // The PDUs that the taker would send are known only afterwards, so it plays once before
                // with the same seed.
                var first = try #require(PairingRig(.displayYesNo, .displayYesNo, isSecureConnections: true))
                first.pair()
                reflected =
                    first.deliveries.first {
                        $0.pdu.code == .pairingPublicKey && $0.taker.role == other
                    }?.pdu
                #expect(reflected != nil)
            }
            rig.pair()
            let isOffCurve = kind == 0 || kind == 2 || kind == 3
            let reason = isOffCurve ? SMPReason.dhKeyCheckFailed : .invalidParameters
            #expect(rig.failure(of: taker) == .refused(reason), "kind \(kind)")
            #expect(rig.security(of: taker) == nil)
        }
    }

    @Test func `a generator that gives only zeros has a key pair all the same, and another each time`() {
        struct Zeros: RandomNumberGenerator, Sendable {
            mutating func next() -> UInt64 { 0 }
        }
        var random = SecurityRandom(Zeros())
        #expect(PublicKeyPair(from: &random).x != PublicKeyPair(from: &random).x)
    }

    @Test func `the keys of D_ do agree, and a private key is from 1 to the order less one`() throws {
        let pair = try #require(
            PublicKeyPair(
                privateKey: little("55188b3d32f6bb9a900afcfbeed4e72a59cb9ac2f19d7cfb6b4fdd49f47fc5fd")))
        #expect(pair.x == little("1ea1f0f01faf1d9609592284f19e4c0047b58afd8615a69f559077b22faaa190"))
        #expect(pair.y == little("4c55f33e429dad377356703a9ab85160472d1130e28e36765f89aff915b1214a"))
        let order = little("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        #expect(PublicKeyPair(privateKey: Array(repeating: 0, count: 32)) == nil)
        #expect(PublicKeyPair(privateKey: order) == nil)
        #expect(PublicKeyPair(privateKey: [order[0] - 1] + order.dropFirst()) != nil)
        let debug = try #require(
            PublicKeyPair(
                privateKey: little("3f49f6d4a3c55f3874c9b3e3d2103f504aff607beb40b7995899b8a6cd3c1abd")))
        #expect(debug.x == PublicKeyPair.debugX)
        #expect(
            try debug.secret(withX: pair.x, y: pair.y)
                == little("ec0234a357c8ad05341010a60a397d9b99796b13b4f866f1868d34f373bfa698"))
    }

    @Test(arguments: [false, true])
    func `a confirm value that is our own sent back is refused`(isSecure: Bool) throws {
        var rig = try #require(PairingRig(.displayOnly, .keyboardOnly, isSecureConnections: isSecure))
        var own: SMPPDU?
        rig.tamper = { sender, pdu in
            guard pdu.code == .pairingConfirm || pdu.code == .pairingRandom else { return pdu }
            if sender == .initiator { own = pdu }
            return sender == .responder ? own : pdu
        }
        rig.pair()
        #expect(rig.failure(of: .initiator) == .refused(.confirmValueFailed))
    }

    @Test(arguments: [PairingRole.initiator, .responder])
    func `a DHKey check that is wrong is refused`(taker: PairingRole) throws {
        var rig = try #require(PairingRig())
        rig.tamper = { sender, pdu in
            guard sender != taker, case .pairingDHKeyCheck(var check) = pdu else { return pdu }
            check[15] ^= 0x80
            return .pairingDHKeyCheck(check)
        }
        rig.pair()
        #expect(rig.failure(of: taker) == .refused(.dhKeyCheckFailed))
        #expect(rig.security(of: taker) == nil)
    }

    @Test func `encryption that fails ends pairing`() throws {
        var rig = try #require(PairingRig())
        rig.pair()
        let last = try #require(rig.deliveries.last { $0.pdu.code == .pairingDHKeyCheck })
        var machine = last.taker
        #expect(machine.receive(last.pdu.bytes, at: last.now).count == 1)
        #expect(machine.encryptionChanged(false, at: last.now) == [.failed(.encryptionFailed)])
    }

    @Test(arguments: ["02", "01"])
    func `an identity that no device can have is refused`(kind: String) throws {
        let pdu = bytes("09" + kind + "0102030405" + "46")
        #expect(throws: SMPReason.invalidParameters) { try SMPPDU.decode(pdu) }
    }
}

extension PrivateAddress {
    static var any: DeviceAddress {
        var random = SecurityRandom()
        return fixed(from: &random)
    }
}
