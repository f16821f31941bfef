import MynahCore
import MynahTestSupport
import Testing

@testable import MynahHost

@Suite struct PairingFeatureTests {
    var central = PairingMachine.Configuration()
    var peripheral = PairingMachine.Configuration()

    func played() throws -> PairingRig {
        var rig = try #require(PairingRig(central, peripheral))
        rig.pair()
        #expect(rig.isOver)
        return rig
    }

    @Test(arguments: 7...16, [false, true])
    mutating func `the key is as long as the shorter side has it`(size: Int, isSecure: Bool) throws {
        central.hasSecureConnections = isSecure
        for (first, second) in [(size, 16), (16, size), (size, size)] {
            central.maximumKeySize = first
            peripheral.maximumKeySize = second
            let rig = try played()
            let bond = try #require(rig.bond(of: .responder))
            #expect(bond.keySize == size)
            #expect(rig.security(of: .initiator)?.keySize == size)
            for key in [bond.ownKey, bond.peerKey] {
                let bytes = try #require(key).value.bytes
                #expect(bytes.dropFirst(size).allSatisfy { $0 == 0 })
                #expect(bytes.prefix(size).contains { $0 != 0 })
            }
        }
    }

    @Test(arguments: [PairingRole.initiator, .responder])
    mutating func `a key that would be too short is refused, on either side`(strict: PairingRole) throws {
        var demanding = PairingMachine.Configuration()
        demanding.demands.minimumKeySize = 10
        var short = PairingMachine.Configuration()
        short.maximumKeySize = 9
        (central, peripheral) = strict == .initiator ? (demanding, short) : (short, demanding)
        let rig = try played()
        #expect(rig.failure(of: strict) == .refused(.encryptionKeySize))
        let other: PairingRole = strict == .initiator ? .responder : .initiator
        #expect(rig.failure(of: other) == .refusedByPeer(.encryptionKeySize))
    }

    @Test(arguments: [PairingRole.initiator, .responder])
    mutating func `Just Works is refused where authentication is demanded`(strict: PairingRole) throws {
        var demanding = PairingMachine.Configuration()
        demanding.demands.authentication = true
        demanding.ioCapability = .keyboardDisplay
        (central, peripheral) = strict == .initiator ? (demanding, central) : (central, demanding)
        let rig = try played()
        #expect(rig.failure(of: strict) == .refused(.authenticationRequirements))
    }

    @Test(arguments: [PairingRole.initiator, .responder])
    mutating func `legacy pairing is refused where only LE Secure Connections are allowed`(
        strict: PairingRole
    ) throws {
        var only = PairingMachine.Configuration()
        only.demands.onlySecureConnections = true
        var legacy = PairingMachine.Configuration()
        legacy.hasSecureConnections = false
        (central, peripheral) = strict == .initiator ? (only, legacy) : (legacy, only)
        #expect(try played().failure(of: strict) == .refused(.authenticationRequirements))
        var short = PairingMachine.Configuration()
        short.maximumKeySize = 15
        (central, peripheral) = strict == .initiator ? (only, short) : (short, only)
        #expect(try played().failure(of: strict) == .refused(.encryptionKeySize))
    }

    @Test mutating func `a device that does not pair says so`() throws {
        peripheral.isPairable = false
        let rig = try played()
        #expect(rig.failure(of: .responder) == .refused(.pairingNotSupported))
        #expect(rig.failure(of: .initiator) == .refusedByPeer(.pairingNotSupported))
    }

    @Test mutating func `without bonding no keys are given, and none kept`() throws {
        for (first, second) in [(false, true), (true, false), (false, false)] {
            central.isBonding = first
            peripheral.isBonding = second
            for isSecure in [false, true] {
                central.hasSecureConnections = isSecure
                let rig = try played()
                #expect(rig.bond(of: .initiator) == nil && rig.bond(of: .responder) == nil)
                #expect(rig.done[.initiator]?.last == .paired && rig.done[.responder]?.last == .paired)
                #expect(!rig.deliveries.contains { $0.pdu.code == .identityInformation })
            }
        }
    }

    @Test(arguments: 0..<16 as Range<UInt8>, [false, true])
    mutating func `each side gives just the keys that it has and the other takes`(
        bits: UInt8, isSecure: Bool
    ) throws {
        central.hasSecureConnections = isSecure
        central.takes = KeyDistribution(rawValue: bits)
        peripheral.takes = KeyDistribution(rawValue: 15 - bits)
        let rig = try played()
        let first = try #require(rig.bond(of: .initiator))
        let second = try #require(rig.bond(of: .responder))
        for (bond, taken) in [(first, central.takes), (second, peripheral.takes)] {
            #expect((bond.peerSigningKey != nil) == taken.contains(.signing))
            #expect((bond.identityResolvingKey != nil) == taken.contains(.identity))
            #expect((bond.peerKey != nil) == (isSecure || taken.contains(.encryption)))
        }
        #expect(first.ownKey == second.peerKey && second.ownKey == first.peerKey)
    }

    @Test mutating func `a link key is never given, though it is asked for`() throws {
        central.gives = KeyDistribution(rawValue: 0xFF)
        central.takes = KeyDistribution(rawValue: 0xFF)
        let rig = try #require(PairingRig(central, peripheral))
        #expect(rig.initiator.ownFeatures.initiatorKeys == .all)
        var responder = rig.responder
        let request = PairingFeatures(
            ioCapability: .displayYesNo, authentication: [.bonding, .secureConnections],
            initiatorKeys: KeyDistribution(rawValue: 0xFF), responderKeys: KeyDistribution(rawValue: 0xFF))
        _ = responder.receive(SMPPDU.pairingRequest(request).bytes, at: .zero)
        guard case .send(.pairingResponse(let response))? = responder.answer(.agreed, at: .zero).first
        else { throw Missing() }
        #expect(response.initiatorKeys == [.identity, .signing])
        #expect(response.responderKeys == [.identity, .signing])
    }

    struct Missing: Error {}

    @Test mutating func `a device without private addresses gives a key of zeros`() throws {
        var rig = try #require(PairingRig(central, peripheral))
        rig.responder = PairingMachine(
            .responder, identity: PairingIdentity(address: rig.responder.ownAddress, resolvingKey: nil),
            own: rig.responder.ownAddress, peer: rig.responder.peerAddress,
            random: SecurityRandom(SeededGenerator(seed: 3)))
        rig.pair()
        let bond = try #require(rig.bond(of: .initiator))
        #expect(bond.identityResolvingKey == nil && bond.identity == PairingRig.peripheral)
    }

    @Test func `out-of-band data is not there in LE Secure Connections, and passed over in legacy`() throws {
        var rig = try #require(PairingRig(central, peripheral))
        rig.tamper = { _, pdu in
            guard case .pairingRequest(var features) = pdu else { return pdu }
            features.hasOOBData = true
            return .pairingRequest(features)
        }
        rig.pair()
        #expect(rig.failure(of: .responder) == .refused(.oobNotAvailable))
        var legacy = try #require(PairingRig(.keyboardOnly, .displayOnly, isSecureConnections: false))
        let features = PairingFeatures(
            ioCapability: .keyboardOnly, hasOOBData: true, authentication: [.bonding, .mitm],
            initiatorKeys: .all, responderKeys: .all)
        let actions = legacy.responder.receive(SMPPDU.pairingRequest(features).bytes, at: .zero)
        #expect(actions.count == 2)
        guard case .ask(.display)? = actions.last else { throw Missing() }
    }

    @Test func `a response that gives more than was asked for is refused`() throws {
        var rig = try #require(PairingRig(central, peripheral))
        rig.initiator = PairingMachine(
            .initiator,
            {
                var c = PairingMachine.Configuration(); c.takes = .identity; return c
            }(),
            identity: rig.initiator.identity, own: rig.initiator.ownAddress, peer: rig.initiator.peerAddress)
        rig.tamper = { _, pdu in
            guard case .pairingResponse(var features) = pdu else { return pdu }
            features.responderKeys = .all
            return .pairingResponse(features)
        }
        rig.pair()
        #expect(rig.failure(of: .initiator) == .refused(.invalidParameters))
    }

    @Test(arguments: [
        "01 05 00 01 10 07 07", "01 03 02 01 10 07 07", "01 03 00 01 06 07 07", "01 03 00 01 11 07 07",
        "01 03 00 01 10 07", "01 03 00 01 10 07 07 00", "01",
    ])
    func `a request whose values are out of range, or its length, has invalid parameters`(hex: String) throws
    {
        var rig = try #require(PairingRig(central, peripheral))
        #expect(
            rig.responder.receive(bytes(hex), at: .zero) == [
                .send(.pairingFailed(.invalidParameters)), .failed(.refused(.invalidParameters)),
            ])
        #expect(rig.responder.deadline == nil)
    }

    @Test func `reserved bits change nothing, and are covered by the confirm values`() throws {
        for isSecure in [false, true] {
            var rig = try #require(PairingRig(.displayYesNo, .displayYesNo, isSecureConnections: isSecure))
            // The initiator's machine sees its own request with these bits, as if it had sent them.
            let features = PairingFeatures(
                ioCapability: .displayYesNo,
                authentication: AuthenticationRequirements(rawValue: isSecure ? 0xED : 0xE5),
                initiatorKeys: KeyDistribution(rawValue: 0xF7), responderKeys: KeyDistribution(rawValue: 0xF7)
            )
            rig.initiator.state = .requested(features)
            rig.initiator.deadline = rig.now + .seconds(30)
            rig.take([.send(.pairingRequest(features))], of: .initiator)
            rig.run()
            #expect(rig.done[.initiator]?.last == .paired && rig.done[.responder]?.last == .paired)
        }
    }
}
