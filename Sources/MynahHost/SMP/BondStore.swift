import MynahCore
import MynahSupport

/// The bonds with peers, and the radio's own keys and address; a value that `BondFile` saves.
struct BondStore: Hashable, Sendable {
    /// The largest number of bonds; a new one replaces the least recently used.
    static let limit = 64
    private static let version = 1

    /// The key that generates the radio's private addresses, and is given to every peer; if it is lost, all
    /// bonds are useless.
    let identityResolvingKey: SecretKey
    /// `true` if the identity resolving key follows from a seed.
    let isSimulated: Bool
    /// A static address for a controller that has no public address, saved so that it stays the same.
    var staticAddress: DeviceAddress?
    /// The bonds, in the order of their last use.
    private(set) var bonds: [Bond] = []

    /// Makes an empty store with new keys.
    init(from random: inout SecurityRandom) {
        identityResolvingKey = SecretKey(from: &random)
        isSimulated = random.isSimulated
    }

    /// The bond with the peer at an address, which is its identity address or one that its IRK resolves.
    subscript(address: DeviceAddress) -> Bond? {
        bonds.first { $0.identity == address } ?? bonds.first { $0.usedAddress == address }
            ?? bonds.first { bond in
                bond.identityResolvingKey.map { PrivateAddress.resolves(address, with: $0) } ?? false
            }
    }

    /// The key for a peer's request to encrypt (Core Specification, Vol 4, Part E, 7.7.65.5), or `nil` if the
    /// peer has to pair.
    func key(for address: DeviceAddress, ediv: UInt16, rand: UInt64) -> SecretKey? {
        guard let key = self[address]?.ownKey, key.ediv == ediv, key.rand == rand else { return nil }
        return key.value
    }

    /// Adds a bond, and removes an older one with the same identity address or IRK.
    ///
    /// The peer's subscriptions are removed with the old bond: a new bond begins without any (Vol 3,
    /// Part G, 3.3.3.3).
    mutating func keep(_ bond: Bond) {
        bonds.removeAll { $0.isOfSamePeer(as: bond) }
        if bonds.count >= Self.limit { bonds.removeFirst() }
        bonds.append(bond)
    }

    /// The authenticated bond that `keep` would replace with a weaker one, or `nil` if there is none.
    func stronger(than bond: Bond) -> Bond? {
        bonds.first { $0.isAuthenticated && $0.isOfSamePeer(as: bond) && bond.isWeaker(than: $0) }
    }

    /// Changes the bond of a peer, and marks it as the most recently used.
    @discardableResult
    mutating func update(_ address: DeviceAddress, _ change: (inout Bond) -> Void) -> Bool {
        guard var bond = self[address], let index = bonds.firstIndex(where: { $0.identity == bond.identity })
        else { return false }
        let identity = bond.identity
        change(&bond)
        bond.identity = identity
        bonds.remove(at: index)
        bonds.append(bond)
        return true
    }

    /// Removes bonds whose keys follow from a seed, and returns the identity addresses of their peers.
    mutating func removeSimulated() -> [DeviceAddress] {
        defer { bonds.removeAll(where: \.isSimulated) }
        return bonds.filter(\.isSimulated).map(\.identity)
    }

    /// Forgets a peer.
    mutating func forget(_ address: DeviceAddress) {
        guard let identity = self[address]?.identity else { return }
        bonds.removeAll { $0.identity == identity }
    }

    /// The store as JSON for its file, which only the owner may read.
    var json: JSON {
        .object(
            [
                .init("version", .integer(Self.version)),
                .init("identityResolvingKey", .string(Hex.encode(identityResolvingKey.bytes))),
            ] + (isSimulated ? [.init("simulated", .bool(true))] : [])
                + (staticAddress.map { [.init("staticAddress", .string("\($0)"))] } ?? []) + [
                    .init("bonds", .array(bonds.map(\.json)))
                ])
    }

    /// Reads a store from the JSON of a file.
    init(_ json: JSON) throws(RadioError) {
        guard let version = json["version"] else {
            throw RadioError(.stateDirectory, "the bonds have no version")
        }
        guard version.integerValue == Self.version else {
            throw RadioError(
                .stateDirectory,
                "the bonds are of version \(version.text), and this program reads \(Self.version)")
        }
        guard let key = json["identityResolvingKey"].flatMap({ SecretKey($0) }) else {
            throw RadioError(.stateDirectory, "the bonds have no identityResolvingKey")
        }
        identityResolvingKey = key
        isSimulated = json["simulated"]?.boolValue ?? false
        if let field = json["staticAddress"] {
            guard let address = field.stringValue.flatMap({ DeviceAddress($0, kind: .random) }),
                address.isStatic
            else {
                throw RadioError(
                    .stateDirectory, "staticAddress is \(field.text), which is not a static random address")
            }
            staticAddress = address
        }
        guard let entries = json["bonds"]?.arrayValue else {
            throw RadioError(.stateDirectory, "the file of bonds has no list of them")
        }
        for (index, entry) in entries.enumerated() {
            do {
                keep(try Bond(entry))
            } catch {
                throw RadioError(.stateDirectory, "bond \(index + 1) has no valid \(error.name)")
            }
        }
    }
}

extension BondStore: CustomStringConvertible {
    var description: String { bonds.isEmpty ? "no bonds" : bonds.map(\.description).joined(separator: "; ") }
}
