import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// Bytes from hexadecimal as the specification writes it, most significant first, turned round.
func little(_ hex: String) -> [UInt8] { (Hex.decode(hex) ?? []).reversed() }

/// Sample data of the Core Specification, Vol 3, Part H, Appendix D, and Part G, Appendix B.
@Suite struct SecurityToolboxTests {
    let publicA = little("20b003d2f297be2c5e2c83a7e9f9a5b9eff49111acf4fddbcc0301480e359de6")
    let publicB = little("55188b3d32f6bb9a900afcfbeed4e72a59cb9ac2f19d7cfb6b4fdd49f47fc5fd")
    let secret = little("ec0234a357c8ad05341010a60a397d9b99796b13b4f866f1868d34f373bfa698")
    let nonceA = little("d5cb8454d177733effffb2ec712baeab")
    let nonceB = little("a6e8e7cc25a75f6e216583f7ff3dc4cf")
    let key = SecretKey(fitting: little("ec0234a357c8ad05341010a60a397d9b"))

    func address(_ text: String, _ kind: DeviceAddress.Kind = .public) throws -> DeviceAddress {
        try #require(DeviceAddress(text, kind: kind))
    }

    @Test func `e is AES-128 (FIPS 197, C.1)`() {
        let key = SecretKey(fitting: little("000102030405060708090a0b0c0d0e0f"))
        #expect(
            SecurityToolbox.e(key, little("00112233445566778899aabbccddeeff"))
                == little("69c4e0d86a7b0430d8cdb78070b4c55a"))
    }

    @Test func `c1 is as in the example of 2_2_3`() throws {
        #expect(
            SecurityToolbox.c1(
                .zero, little("5783D52156AD6F0E6388274EC6702EE0"), request: little("07071000000101"),
                response: little("05000800000302"), initiator: try address("A1:A2:A3:A4:A5:A6", .random),
                responder: try address("B1:B2:B3:B4:B5:B6")) == little("1e1e3fef878988ead2a74dc5bef13b86"))
    }

    @Test func `s1 is as in the example of 2_2_4`() {
        #expect(
            SecurityToolbox.s1(
                .zero, responder: little("000F0E0D0C0B0A091122334455667788"),
                initiator: little("010203040506070899AABBCCDDEEFF00")
            ).bytes
                == little("9a1fe1f0e8b0f49b5b4216ae796da062"))
    }

    @Test(arguments: [
        ("", "bb1d6929e95937287fa37d129b756746"),
        ("6bc1bee22e409f96e93d7e117393172a", "070a16b46b4d4144f79bdd9dd04a287c"),
        (
            "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411",
            "dfa66747de9ae63030ca32611497c827"
        ),
        (
            "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
                + "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
            "51f0bebf7e3b9d92fc49741779363cfe"
        ),
    ])
    func `AES-CMAC is as in D_1`(message: String, code: String) throws {
        let key = try #require(Hex.decode("2b7e151628aed2a6abf7158809cf4f3c"))
        #expect(
            AES128.cmac(of: try #require(Hex.decode(message)), with: key) == Hex.decode(code))
    }

    @Test func `f4 is as in D_2`() {
        #expect(
            SecurityToolbox.f4(publicA, publicB, nonceA, 0) == little("f2c916f107a9bd1cf1eda1bea974872d"))
    }

    @Test func `f5 is as in D_3`() throws {
        let keys = SecurityToolbox.f5(
            secret, nonceA, nonceB, initiator: try address("56:12:37:37:BF:CE"),
            responder: try address("A7:13:70:2D:CF:C1"))
        #expect(keys.longTermKey.bytes == little("6986791169d7cd23980522b594750a38"))
        #expect(keys.macKey.bytes == little("2965f176a1084a02fd3f6a20ce636e20"))
    }

    @Test func `f6 is as in D_4`() throws {
        #expect(
            SecurityToolbox.f6(
                SecretKey(fitting: little("2965f176a1084a02fd3f6a20ce636e20")), nonceA, nonceB,
                little("12a3343bb453bb5408da42d20c2d0fc8"), little("010102"),
                try address("56:12:37:37:BF:CE"), try address("A7:13:70:2D:CF:C1"))
                == little("e3c473989cd0e8c5d26c0b09da958f61"))
    }

    @Test func `g2 is as in D_5`() {
        #expect(SecurityToolbox.g2(publicA, publicB, nonceA, nonceB) == 0x2F9E_D5BA)
    }

    @Test func `ah is as in D_7`() {
        #expect(SecurityToolbox.ah(key, little("708194")) == little("0dfbaa"))
    }

    @Test func `the database of Part G, Appendix B, has its hash`() throws {
        var database = AttributeDatabase()
        let battery = ServiceDefinition(
            uuid: "180F", isPrimary: false,
            characteristics: [CharacteristicDefinition(uuid: "2A19", properties: [.read])])
        let services = [
            ServiceDefinition(
                uuid: "1800",
                characteristics: [
                    CharacteristicDefinition(uuid: "2A00", properties: [.read, .write]),
                    CharacteristicDefinition(uuid: "2A01", properties: [.read]),
                ]),
            ServiceDefinition(
                uuid: "1801",
                characteristics: [
                    CharacteristicDefinition(uuid: "2A05", properties: [.indicate]),
                    CharacteristicDefinition(uuid: "2B29", properties: [.read, .write]),
                    CharacteristicDefinition(uuid: "2B2A", properties: [.read]),
                ]),
            ServiceDefinition(
                uuid: "1808", includes: [battery.key],
                characteristics: [
                    CharacteristicDefinition(
                        uuid: "2A18", properties: [.read, .indicate, .extendedProperties])
                ]),
            battery,
        ]
        #expect(database.publish(services) == 1...22)
        #expect(
            Hex.encode(database.hashInput)
                == "0100002800180200" + "03280A0300002A04" + "000328020500012A" + "0600002801180700"
                + "0328200800052A09" + "00022" + "90A0003280A" + "0B00292B0C000328" + "020D002A2B0E0000"
                + "2808180F00022814" + "0016000F18100003" + "28A21100182A1200" + "0229130000290000"
                + "140001280F181500" + "0328021600192A")
        #expect(database.hash == little("F1CA2D48ECF58BAC8A8830BBB9FBA990"))
    }

    @Test func `the hash is that of the services that are published now`() throws {
        var database = AttributeDatabase()
        #expect(database.publish([ServiceDefinition(uuid: "1800", characteristics: [])]) == 1...1)
        let first = database
        let hash = first.hash
        let second = database.publish([ServiceDefinition(uuid: "1801", characteristics: [])])
        let range = try #require(second)
        #expect(database.hash != hash && first.hash == hash)
        database.withdraw(range)
        #expect(database.hash == hash)
    }
}

@Suite struct SignedWriteTests {
    let key = SecretKey(
        fitting: Hex.decode("505E42DF9691EC72D31FCDFBEB641B61") ?? [])
    let pdu: [UInt8] = [0xD2, 0x12, 0x00, 0x13, 0x37]
    let signature = Hex.decode("01000000F1871E933C900FF2") ?? []

    @Test func `a signature is as BlueZ makes it`() {
        #expect(SignedWrite.signature(of: pdu, counter: 1, with: key) == signature)
    }

    @Test(arguments: [
        ("6bc1bee22e409f96e93d7e117393172a", "00000000273974f4392a232a"),
        ("", "00000000b3a8594127ebc2c0"),
    ])
    func `a signature of another length is, too`(message: String, expected: String) throws {
        let key = SecretKey(fitting: little("2b7e151628aed2a6abf7158809cf4f3c"))
        let message = try #require(Hex.decode(message))
        #expect(SignedWrite.signature(of: message, counter: 0, with: key) == Hex.decode(expected))
    }

    @Test func `a signed PDU tells its counter, unless that is older than what is known`() {
        #expect(SignedWrite.counter(of: pdu + signature, with: key, from: 0) == 1)
        #expect(SignedWrite.counter(of: pdu + signature, with: key, from: 1) == 1)
        #expect(SignedWrite.counter(of: pdu + signature, with: key, from: 2) == nil)
    }

    @Test func `no byte of a signed PDU may differ, and none be missing`() {
        let whole = pdu + signature
        for index in whole.indices {
            var other = whole
            other[index] ^= 1
            #expect(SignedWrite.counter(of: other, with: key, from: 0) == nil)
            #expect(SignedWrite.counter(of: Array(whole.prefix(index)), with: key, from: 0) == nil)
        }
    }
}

@Suite struct PrivateAddressTests {
    var random = SecurityRandom(SeededGenerator(seed: 7))

    @Test func `the address of D_7 is resolved by its key, and by no other`() throws {
        let key = SecretKey(fitting: little("ec0234a357c8ad05341010a60a397d9b"))
        let address = try #require(DeviceAddress("70:81:94:0D:FB:AA", kind: .random))
        #expect(PrivateAddress.resolves(address, with: key))
        #expect(!PrivateAddress.resolves(address, with: .zero))
        #expect(
            !PrivateAddress.resolves(
                try #require(DeviceAddress("70:81:94:0D:FB:AB", kind: .random)), with: key))
        #expect(
            !PrivateAddress.resolves(
                try #require(DeviceAddress("70:81:94:0D:FB:AA", kind: .public)), with: key))
    }

    @Test mutating func `addresses are of their kind, resolve, and differ`() {
        let key = SecretKey(from: &random)
        var seen: Set<DeviceAddress> = []
        for _ in 0..<1000 {
            let address = PrivateAddress.resolvable(key, from: &random)
            #expect(address.isResolvable && !address.isIdentity)
            #expect(PrivateAddress.resolves(address, with: key))
            let fixed = PrivateAddress.fixed(from: &random)
            #expect(fixed.isIdentity && !fixed.isResolvable)
            seen.formUnion([address, fixed])
        }
        #expect(seen.count == 2000)
    }

    @Test func `an address changes when 15 minutes are over, and not before`() {
        let key = SecretKey(fitting: [1])
        var rotation = AddressRotation(key, at: .seconds(100), random: random)
        let first = rotation.address
        #expect(PrivateAddress.resolves(first, with: key))
        #expect(rotation.due == .seconds(1000))
        #expect(rotation.rotate(at: .seconds(1000) - .nanoseconds(1)) == nil)
        let second = rotation.rotate(at: .seconds(1000))
        #expect(second != first && second == rotation.address)
        // Late: the next is due a whole interval after, not at once.
        #expect(rotation.rotate(at: .seconds(5000)) != nil)
        #expect(rotation.due == .seconds(5900))
        #expect(rotation.rotate(at: .seconds(5001)) == nil)
    }
}
