import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

@Suite struct BondTests {
    var random = SecurityRandom(SeededGenerator(seed: 9))

    mutating func bond(_ number: UInt8) throws -> Bond {
        var bond = Bond(
            identity: try #require(DeviceAddress(littleEndian: [number, 1, 2, 3, 4, 0xC5], kind: .random)))
        bond.ownKey = Bond.LongTermKey(value: SecretKey(from: &random), ediv: 0xFFFF, rand: .max)
        bond.peerKey = Bond.LongTermKey(value: SecretKey(from: &random), ediv: 1, rand: 1 << 63)
        bond.identityResolvingKey = SecretKey(from: &random)
        bond.ownSigningKey = Bond.SigningKey(value: SecretKey(from: &random), counter: 7)
        bond.peerSigningKey = Bond.SigningKey(value: SecretKey(from: &random), counter: .max)
        bond.keySize = 9
        bond.isAuthenticated = true
        bond.configurations = [13: 1, 9: 2]
        bond.clientFeatures = [5]
        bond.databaseHash = Array(0..<16)
        return bond
    }

    @Test mutating func `bonds are the same after they were kept in a file`() throws {
        var store = BondStore(from: &random)
        store.keep(try bond(1))
        store.keep(Bond(identity: try #require(DeviceAddress("01:02:03:04:05:06", kind: .public))))
        let text = store.json.text
        #expect(try BondStore(try JSON(parsing: Array(text.utf8))) == store)
    }

    @Test(arguments: [
        ("C0:00:00:00:00:01", true), ("FF:FF:FF:FF:FF:FE", true), ("D5:88:1A:B0:E5:92", true),
        ("C0:00:00:00:00:00", false), ("FF:FF:FF:FF:FF:FF", false), ("00:11:22:33:44:55", false),
        ("80:00:00:00:00:01", false), ("7F:FF:FF:FF:FF:FE", false), ("none", false),
    ])
    func `only a static random address is taken from a file as the own one`(text: String, isTaken: Bool)
        throws
    {
        let file = #"""
            {"version":1,"identityResolvingKey":"000102030405060708090A0B0C0D0E0F",\#
            "staticAddress":"\#(text)","bonds":[]}
            """#
        let json = try JSON(parsing: Array(file.utf8))
        if isTaken {
            #expect(try BondStore(json).staticAddress?.description == text)
        } else {
            let error = #expect(throws: RadioError.self) { try BondStore(json) }
            #expect(error?.message == "staticAddress is \"\(text)\", which is not a static random address")
        }
    }

    @Test(arguments: [
        ("{}", "the bonds have no version"),
        (#"{"version":2}"#, "the bonds are of version 2, and this program reads 1"),
        (
            #"{"version":9223372036854775808}"#,
            "the bonds are of version 9223372036854775808, and this program reads 1"
        ),
        (#"{"version":1}"#, "the bonds have no identityResolvingKey"),
        (#"{"version":1,"identityResolvingKey":"00"}"#, "the bonds have no identityResolvingKey"),
        (
            #"{"version":1,"identityResolvingKey":"000102030405060708090A0B0C0D0E0F"}"#,
            "the file of bonds has no list of them"
        ),
        (
            #"{"version":1,"identityResolvingKey":"000102030405060708090A0B0C0D0E0F","bonds":[{}]}"#,
            "bond 1 has no valid address"
        ),
        (
            #"""
            {"version":1,"identityResolvingKey":"000102030405060708090A0B0C0D0E0F",\#
            "bonds":[{"address":"00:00:00:00:00:01","addressType":"public","keySize":16,\#
            "ownLongTermKey":{"value":"00"}}]}
            """#,
            "bond 1 has no valid ownLongTermKey"
        ),
        (
            #"""
            {"version":1,"identityResolvingKey":"000102030405060708090A0B0C0D0E0F",\#
            "bonds":[{"address":"00:00:00:00:00:01","addressType":"public","keySize":6}]}
            """#,
            "bond 1 has no valid keySize"
        ),
    ])
    func `a file that is no good says what is wrong`(text: String, message: String) throws {
        #expect(throws: RadioError(.stateDirectory, message)) {
            try BondStore(try JSON(parsing: Array(text.utf8)))
        }
    }

    @Test mutating func `a peer is found by its identity and by its private addresses`() throws {
        var store = BondStore(from: &random)
        let (first, second) = (try bond(1), try bond(2))
        store.keep(first)
        store.keep(second)
        let key = try #require(first.identityResolvingKey)
        let address = PrivateAddress.resolvable(key, from: &random)
        #expect(store[address]?.identity == first.identity)
        #expect(store[second.identity] == second)
        #expect(store[PrivateAddress.resolvable(SecretKey(from: &random), from: &random)] == nil)
        #expect(store.key(for: address, ediv: 0xFFFF, rand: .max) == first.ownKey?.value)
        #expect(store.key(for: address, ediv: 0xFFFE, rand: .max) == nil)
        #expect(store.key(for: address, ediv: 0xFFFF, rand: 0) == nil)
        store.forget(address)
        #expect(store[first.identity] == nil && store.bonds == [second])
    }

    @Test mutating func `a peer that pairs again has one bond, and the oldest makes room`() throws {
        var store = BondStore(from: &random)
        var again = try bond(1)
        store.keep(again)
        again.keySize = 16
        store.keep(again)
        #expect(store.bonds == [again])
        // Another address of the same device, by its resolving key.
        again.identity = try bond(77).identity
        store.keep(again)
        #expect(store.bonds == [again])
        for number in 0..<UInt8(BondStore.limit) { store.keep(try bond(number)) }
        #expect(store.bonds.count == BondStore.limit && store[again.identity] == nil)
        let first = try bond(0).identity
        let isThere = store.update(first) { $0.clientFeatures = [1] }
        #expect(isThere)
        store.keep(try bond(200))
        #expect(store[first]?.clientFeatures == [1])
        let second = try bond(1).identity
        #expect(store[second] == nil)
    }

    @Test mutating func `a signature is good once, and counters end`() throws {
        var sender = try bond(1)
        var taker = try bond(2)
        sender.ownSigningKey?.counter = 0
        taker.peerSigningKey = sender.ownSigningKey
        let pdu: [UInt8] = [0xD2, 3, 0, 1]
        let signed = sender.sign(pdu) ?? []
        #expect(signed.count == pdu.count + 12)
        let isGood = taker.verify(signed: signed)
        let isGoodAgain = taker.verify(signed: signed)
        #expect(isGood && !isGoodAgain)
        let (second, third) = (sender.sign(pdu) ?? [], sender.sign(pdu) ?? [])
        let isThirdGood = taker.verify(signed: third)
        let isSecondGood = taker.verify(signed: second)
        #expect(isThirdGood && !isSecondGood)
        sender.ownSigningKey?.counter = .max
        let none = sender.sign(pdu)
        #expect(none == nil)
        taker.peerSigningKey = nil
        let isKnown = taker.verify(signed: third)
        #expect(!isKnown)
    }

    @Test mutating func `a bond is enough for some wishes, and weaker than others`() throws {
        var weak = try bond(1)
        weak.isAuthenticated = false
        var strong = weak
        #expect(weak.satisfies([.bonding]) && !weak.satisfies([.mitm]) && !weak.satisfies(.secureConnections))
        strong.isAuthenticated = true
        strong.isSecureConnections = true
        #expect(strong.satisfies([.mitm, .secureConnections]))
        #expect(weak.isWeaker(than: strong) && !strong.isWeaker(than: weak))
        #expect(weak.security.isBonded && weak.security.keySize == 9 && !weak.security.isAuthenticated)
    }
}
