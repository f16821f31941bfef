import MynahCore
import MynahTestSupport
import Testing

@testable import MynahHost

/// A bonded peer with an identity resolving key, and peers without a bond.
@Suite struct PeerAddressesTests {
    private let identity = DeviceAddress(value: 9, kind: .public)
    private let stranger = DeviceAddress(value: 0xC0_0000_0000_01, kind: .random)
    private let first: DeviceAddress
    private let second: DeviceAddress
    /// A private address that no key resolves.
    private let unknown: DeviceAddress
    private let bonds: BondStore
    private var peers = PeerAddresses()

    init() {
        var random = SecurityRandom(SeededGenerator(seed: 3))
        var bonds = BondStore(from: &random)
        let key = SecretKey(from: &random)
        var bond = Bond(identity: identity)
        bond.identityResolvingKey = key
        bonds.keep(bond)
        self.bonds = bonds
        first = PrivateAddress.resolvable(key, from: &random)
        second = PrivateAddress.resolvable(key, from: &random)
        unknown = PrivateAddress.resolvable(SecretKey(from: &random), from: &random)
    }

    private mutating func hear(_ address: DeviceAddress) -> String {
        let (found, hasMoved) = peers.heard(address, bonds)
        let name = found == identity ? "bonded" : found == address ? "as it is" : "wrong"
        return name + (hasMoved ? ", moved" : "")
    }

    @Test mutating func `a bonded peer is heard by its identity, and moves with each new address`() {
        #expect(hear(first) == "bonded, moved" && peers.current(of: identity) == first)
        #expect(hear(first) == "bonded")
        #expect(hear(second) == "bonded, moved" && peers.current(of: identity) == second)
        #expect(hear(identity) == "bonded, moved" && peers.current(of: identity) == identity)
        #expect(hear(identity) == "bonded")
    }

    @Test mutating func `a peer without a bond is heard as it is`() {
        for address in [stranger, unknown] {
            #expect(hear(address) == "as it is" && peers.current(of: address) == address)
        }
    }

    @Test mutating func `an address that is named is resolved, and does not replace one that was heard`() {
        #expect(peers.identity(of: first, bonds) == identity && peers.current(of: identity) == first)
        #expect(peers.identity(of: second, bonds) == identity && peers.current(of: identity) == first)
        #expect(peers.identity(of: unknown, bonds) == unknown)
        #expect(peers.identity(of: stranger, bonds) == stranger)
    }

    @Test mutating func `a connection tells the private address that a peer uses`() {
        peers.connected(identity, by: second)
        #expect(peers.current(of: identity) == second)
        // The controller may resolve the address and keep it to itself.
        peers.connected(identity, by: identity)
        #expect(peers.current(of: identity) == second)
    }
}
