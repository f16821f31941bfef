import MynahCore
import MynahSupport

/// The bonds with peers, and the radio's own keys and address, as saved by `BondFile`.
struct BondStore: Hashable, Sendable {
    /// The largest number of bonds; beyond it, a new bond replaces the least recently used one.
    static let limit = 64
    private static let version = 1

    /// The radio's IRK, which generates its private addresses and is distributed to every peer.
    ///
    /// Without it, peers cannot recognize the radio, and all bonds are useless.
    let identityResolvingKey: SecretKey
    /// `true` if the IRK was derived from a seed.
    let isSimulated: Bool
    /// The static address for a controller without a public address, saved so that it stays the same.
    var staticAddress: DeviceAddress?
    /// The bonds, with the least recently used first.
    private(set) var bonds: [Bond] = []

    /// Makes an empty store with new keys.
    init(from random: inout SecurityRandom) {
        identityResolvingKey = SecretKey(from: &random)
        isSimulated = random.isSimulated
    }

    /// The bond with the peer that uses an address, or `nil` if there is none.
    ///
    /// A peer may use its identity address, the address with which it paired, and any address that its IRK
    /// resolves.
    subscript(address: DeviceAddress) -> Bond? {
        bonds.first { $0.identity == address } ?? bonds.first { $0.usedAddress == address }
            ?? bonds.first { bond in
                bond.identityResolvingKey.map { PrivateAddress.resolves(address, with: $0) } ?? false
            }
    }

    /// The key for a central that starts encryption, or `nil` if no bond has it and the central must pair.
    ///
    /// See Core Specification, Vol 4, Part E, 7.7.65.5.
    func key(for address: DeviceAddress, ediv: UInt16, rand: UInt64) -> SecretKey? {
        guard let key = self[address]?.ownKey, key.ediv == ediv, key.rand == rand else { return nil }
        return key.value
    }

    /// Adds a bond, and removes older bonds with the same identity address or IRK.
    ///
    /// The peer's subscriptions are removed with the old bond, because a new bond has none (Vol 3, Part G,
    /// 3.3.3.3).
    mutating func keep(_ bond: Bond) {
        bonds.removeAll { $0.isOfSamePeer(as: bond) }
        if bonds.count >= Self.limit { bonds.removeFirst() }
        bonds.append(bond)
    }

    /// The authenticated bond that `keep` would replace by the weaker `bond`, or `nil` if there is none.
    func stronger(than bond: Bond) -> Bond? {
        bonds.first { $0.isAuthenticated && $0.isOfSamePeer(as: bond) && bond.isWeaker(than: $0) }
    }

    /// Changes the bond of a peer, and marks it as most recently used; returns `false` if there is no bond.
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

    /// Removes bonds whose keys were derived from a seed; returns the identity addresses of their peers.
    mutating func removeSimulated() -> [DeviceAddress] {
        defer { bonds.removeAll(where: \.isSimulated) }
        return bonds.filter(\.isSimulated).map(\.identity)
    }

    /// Removes the bond of a peer.
    mutating func forget(_ address: DeviceAddress) {
        guard let identity = self[address]?.identity else { return }
        bonds.removeAll { $0.identity == identity }
    }

    /// The store as JSON for its file.
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

    /// Makes a store from the JSON of its file; throws if the JSON is not valid.
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
