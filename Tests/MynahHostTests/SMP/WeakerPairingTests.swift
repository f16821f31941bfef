import MynahCore
import MynahTestSupport
import Testing

@testable import MynahHost

/// A weaker pairing does not replace an authenticated bond of the same peer.
@Suite(.timeLimit(.minutes(15))) struct WeakerPairingTests {
    /// The strength of a bond.
    enum Strength: String, CaseIterable {
        case justWorksLegacy, justWorks, passkeyLegacy, passkey

        var isAuthenticated: Bool { self == .passkeyLegacy || self == .passkey }
        var isSecureConnections: Bool { self == .justWorks || self == .passkey }

        func bond(_ identity: DeviceAddress, _ key: SecretKey? = nil) -> Bond {
            var bond = Bond(identity: identity)
            bond.isAuthenticated = isAuthenticated
            bond.isSecureConnections = isSecureConnections
            bond.identityResolvingKey = key
            return bond
        }
    }

    static func store(_ bond: Bond) -> BondStore {
        var random = SecurityRandom(SeededGenerator(seed: 7))
        var store = BondStore(from: &random)
        store.keep(bond)
        return store
    }

    @Test(arguments: Strength.allCases, Strength.allCases)
    func `only a pairing as strong replaces an authenticated bond`(old: Strength, new: Strength) throws {
        let central = try #require(PairingRig.central)
        let capability: IOCapability = new.isAuthenticated ? .keyboardDisplay : .noInputNoOutput
        var rig = try #require(
            PairingRig(capability, capability, isSecureConnections: new.isSecureConnections))
        rig.responder.kept = Self.store(old.bond(central))
        rig.pair()
        let isWeaker =
            old.isAuthenticated
            && (!new.isAuthenticated || old.isSecureConnections && !new.isSecureConnections)
        #expect(rig.failure(of: .responder) == (isWeaker ? .weakerThanBond(central) : nil))
        #expect(
            rig.failure(of: .initiator) == (isWeaker ? .refusedByPeer(.authenticationRequirements) : nil))
        #expect((rig.bond(of: .responder) == nil) == isWeaker)
        // Refused in phase 1: nothing was encrypted.
        #expect((rig.security(of: .responder) == nil) == isWeaker)
        #expect(rig.isOver)
    }

    @Test func `a peer that is known by its resolved private address is refused at once`() throws {
        var random = SecurityRandom(SeededGenerator(seed: 3))
        let key = SecretKey(from: &random)
        let identity = try #require(DeviceAddress("AA:BB:CC:00:00:01", kind: .public))
        let own = try #require(PairingRig.peripheral)
        var machine = PairingMachine(
            .responder, identity: PairingIdentity(address: own), own: own,
            peer: PrivateAddress.resolvable(key, from: &random))
        machine.kept = Self.store(Strength.passkey.bond(identity, key))
        let request = PairingFeatures(
            ioCapability: .noInputNoOutput, authentication: [.bonding, .secureConnections],
            initiatorKeys: .all, responderKeys: .all)
        #expect(
            machine.receive(SMPPDU.pairingRequest(request).bytes, at: .zero) == [
                .send(.pairingFailed(.authenticationRequirements)), .failed(.weakerThanBond(identity)),
            ])
        // A pairing without bonding replaces nothing.
        var transient = request
        transient.authentication = .secureConnections
        #expect(machine.receive(SMPPDU.pairingRequest(transient).bytes, at: .zero) == [.ask(.agree)])
    }

    @Test func `an initiator refuses the response of a peripheral that would pair less safely`() throws {
        let peripheral = try #require(PairingRig.peripheral)
        var rig = try #require(PairingRig())
        rig.initiator.kept = Self.store(Strength.passkey.bond(peripheral))
        rig.pair()
        #expect(rig.failure(of: .initiator) == .weakerThanBond(peripheral))
        #expect(rig.failure(of: .responder) == .refusedByPeer(.authenticationRequirements))
        #expect(rig.security(of: .initiator) == nil && rig.isOver)
    }

    @Test(arguments: [PairingRole.initiator, .responder], [true, false])
    func `a peer that says who it is with its keys is refused before its bond is kept`(
        keeper: PairingRole, isSecureConnections: Bool
    ) throws {
        var rig = try #require(
            PairingRig(.noInputNoOutput, .noInputNoOutput, isSecureConnections: isSecureConnections))
        let other: PairingRole = keeper == .initiator ? .responder : .initiator
        let identity = try #require(DeviceAddress("AA:BB:CC:00:00:77", kind: .public))
        // The same device by its resolving key, though it has another address now.
        rig[keeper].kept = Self.store(
            Strength.passkey.bond(identity, rig[other].identity.resolvingKey))
        rig.pair()
        #expect(rig.failure(of: keeper) == .weakerThanBond(identity))
        #expect(rig.bond(of: keeper) == nil && rig.done[keeper]?.contains(.paired) == false)
        #expect(rig.isOver)
        // An initiator has not given its own keys yet.
        if keeper == .initiator {
            #expect(
                !rig.deliveries.contains { $0.taker.role == other && $0.pdu.code == .identityInformation })
            #expect(rig.failure(of: other) == .refusedByPeer(.authenticationRequirements))
        }
    }

    @Test func `the warning names what was kept and what to remove`() throws {
        let peer = try #require(PairingRig.central)
        let identity = try #require(PairingRig.peripheral)
        let failure = PairingFailure.weakerThanBond(identity)
        #expect(failure.warningCode == "weakerPairingRefused")
        #expect(
            "\(failure.error(peer, .responder, after: nil, "/state/bonds.json"))"
                == """
                pairing with \(peer) failed: it is weaker than the authenticated bond with \(identity), \
                which was kept; to pair again, stop this device and remove /state/bonds.json, which \
                holds all its bonds
                """
        )
        #expect(
            failure.error(peer, .initiator, after: nil, nil).remedy
                == "forget the bond here first, then pair again")
        #expect(
            failure.error(peer, .responder, after: nil, nil).remedy
                == "to pair again, restart this device: it keeps bonds in memory only")
    }

    @Test func `a phone that forgot its bond cannot replace it by Just Works`() async throws {
        let rig = try await SecureRig(device: .displayOnly, phone: .keyboardOnly)
        let peer = try await rig.connect()
        try await rig.phone.pair(peer)
        try await until("the device has its bond too") { await !rig.device.bonds.bonds.isEmpty }
        let old = try #require(await rig.device.bonds.bonds.first)
        #expect(old.isAuthenticated)
        try await rig.disconnect(peer)
        await rig.phone.forgetBond(with: rig.address)
        await rig.phone.stop()
        try await rig.phone.start(DeviceIdentity(name: "Phone"), central: rig.phoneSink)
        let again = try await rig.connect()
        let error = await #expect(throws: RadioError.self) { try await rig.phone.pair(again) }
        #expect(error?.message.contains("the peripheral refused: Authentication Requirements") == true)
        try await rig.deviceSink.wait(for: "warning weakerPairingRefused")
        #expect(await rig.device.bonds.bonds == [old])
        #expect(rig.deviceSink.all.count { $0 == "paired" } == 1)
        // It is still refused what the old bond opens.
        #expect(try await rig.refusal(of: rig.encrypted, again) == 0x0F)
        await rig.stop()
    }
}
