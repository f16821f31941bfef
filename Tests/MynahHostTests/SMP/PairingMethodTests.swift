import MynahCore
import MynahTestSupport
import Testing

@testable import MynahHost

@Suite struct PairingMethodTests {
    static let order: [IOCapability] = [
        .displayOnly, .displayYesNo, .keyboardOnly, .noInputNoOutput, .keyboardDisplay,
    ]
    static let methods: [Character: PairingMethod] = [
        "j": .justWorks, "i": .initiatorDisplays, "r": .responderDisplays, "b": .bothEnter,
        "n": .numericComparison,
    ]

    /// Table 2.8: a row a responder, a column an initiator.
    static let legacy = [
        "jjrjr",
        "jjrjr",
        "iibji",
        "jjjjj",
        "iirji",
    ]
    static let secure = [
        "jjrjr",
        "jnrjn",
        "iibji",
        "jjjjj",
        "inrjn",
    ]

    @Test(arguments: [false, true])
    func `the method is that of table 2_8`(isSecure: Bool) throws {
        for (responder, row) in zip(Self.order, isSecure ? Self.secure : Self.legacy) {
            for (initiator, cell) in zip(Self.order, row) {
                #expect(
                    PairingMethod.of(
                        initiator: initiator, responder: responder, isSecureConnections: isSecure)
                        == Self.methods[cell], "\(initiator) \(responder)")
            }
        }
    }

    static let pairs = order.flatMap { first in order.map { (first, $0) } }

    @Test(arguments: pairs, [false, true])
    func `any two devices bond, and hold each other's keys`(
        pair: (IOCapability, IOCapability), isSecure: Bool
    ) throws {
        for seed in 1...4 as ClosedRange<UInt64> {
            var rig = try #require(
                PairingRig(pair.0, pair.1, isSecureConnections: isSecure, seed: seed))
            rig.pair()
            #expect(rig.isOver)
            let central = try #require(rig.bond(of: .initiator))
            let peripheral = try #require(rig.bond(of: .responder))
            #expect(central.identity == PairingRig.peripheral)
            #expect("\(peripheral.identity)" == "AA:BB:CC:00:00:01")
            #expect(central.peerKey != nil && central.peerKey == peripheral.ownKey)
            #expect(central.ownKey != nil && central.ownKey == peripheral.peerKey)
            #expect((central.ownKey == central.peerKey) == isSecure)
            #expect((central.peerKey?.ediv == 0) == isSecure)
            #expect(central.identityResolvingKey == rig.responder.identity.resolvingKey)
            #expect(peripheral.identityResolvingKey == rig.initiator.identity.resolvingKey)
            #expect(central.ownSigningKey != nil && central.ownSigningKey == peripheral.peerSigningKey)
            #expect(central.peerSigningKey != nil && central.peerSigningKey == peripheral.ownSigningKey)
            let method = PairingMethod.of(
                initiator: pair.0, responder: pair.1, isSecureConnections: isSecure)
            for role in [PairingRole.initiator, .responder] {
                let security = try #require(rig.security(of: role))
                #expect(security.isEncrypted && security.keySize == 16)
                #expect(security.isSecureConnections == isSecure)
                #expect(security.isAuthenticated == (method != .justWorks))
                #expect(rig.done[role]?.last == .paired)
            }
        }
    }

    @Test(arguments: [
        ("displayOnly", "keyboardOnly", false, ["display"], ["enter"]),
        ("keyboardOnly", "displayOnly", false, ["enter"], ["display"]),
        ("keyboardOnly", "keyboardOnly", false, ["enter"], ["enter"]),
        ("keyboardDisplay", "displayYesNo", false, ["enter"], ["display"]),
        ("keyboardDisplay", "displayYesNo", true, ["compare"], ["compare"]),
        ("displayOnly", "keyboardDisplay", true, ["display"], ["enter"]),
        ("keyboardOnly", "displayYesNo", true, ["enter"], ["display"]),
        ("keyboardOnly", "keyboardOnly", true, ["enter"], ["enter"]),
        ("noInputNoOutput", "keyboardDisplay", true, [], ["agree"]),
        ("displayYesNo", "displayYesNo", false, [], ["agree"]),
    ])
    func `users are asked what the method needs, and see one number`(
        central: String, peripheral: String, isSecure: Bool, first: [String], second: [String]
    ) throws {
        let named = Dictionary(uniqueKeysWithValues: Self.order.map { ("\($0)", $0) })
        let capabilities = (try #require(named[central]), try #require(named[peripheral]))
        var rig = try #require(
            PairingRig(capabilities.0, capabilities.1, isSecureConnections: isSecure))
        rig.pair()
        #expect(rig.asked(.initiator) == first)
        #expect(rig.asked(.responder) == second)
        #expect(Set(rig.shown).count <= 1)
        #expect(rig.shown.allSatisfy { $0 <= 999_999 })
    }

    @Test func `where nobody wants authentication, capabilities do not matter`() throws {
        var configuration = PairingMachine.Configuration()
        configuration.ioCapability = .keyboardDisplay
        var rig = try #require(PairingRig(configuration, configuration))
        rig.pair()
        #expect(rig.security(of: .initiator)?.isAuthenticated == false)
        #expect(rig.asked(.responder) == ["agree"])
    }

    @Test(arguments: [PairingRole.initiator, .responder])
    func `one side's wish for authentication is enough`(wishing: PairingRole) throws {
        var plain = PairingMachine.Configuration()
        plain.ioCapability = .keyboardDisplay
        var wish = plain
        wish.wantsAuthentication = true
        var rig = try #require(
            wishing == .initiator ? PairingRig(wish, plain) : PairingRig(plain, wish))
        rig.pair()
        #expect(rig.security(of: .responder)?.isAuthenticated == true)
        #expect(rig.asked(.initiator) == ["compare"])
    }

    @Test func `a passkey in LE Secure Connections takes twenty rounds of four PDUs`() throws {
        var rig = try #require(PairingRig(.keyboardOnly, .displayOnly, isSecureConnections: true))
        rig.pair()
        let codes = rig.deliveries.map(\.pdu.code)
        #expect(codes.count { $0 == .pairingConfirm } == 40)
        #expect(codes.count { $0 == .pairingRandom } == 40)
        #expect(
            codes.filter { $0 != .pairingConfirm && $0 != .pairingRandom } == [
                .pairingRequest, .pairingResponse, .pairingPublicKey, .pairingPublicKey, .pairingDHKeyCheck,
                .pairingDHKeyCheck, .identityInformation, .identityAddressInformation, .signingInformation,
                .identityInformation, .identityAddressInformation, .signingInformation,
            ])
    }

    @Test func `Just Works in LE legacy takes these PDUs in this order`() throws {
        var rig = try #require(
            PairingRig(.noInputNoOutput, .noInputNoOutput, isSecureConnections: false))
        rig.pair()
        let keys: [SMPPDU.Code] = [
            .encryptionInformation, .centralIdentification, .identityInformation,
            .identityAddressInformation, .signingInformation,
        ]
        #expect(
            rig.deliveries.map(\.pdu.code)
                == [
                    .pairingRequest, .pairingResponse, .pairingConfirm, .pairingConfirm, .pairingRandom,
                    .pairingRandom,
                ] + keys + keys)
    }
}
