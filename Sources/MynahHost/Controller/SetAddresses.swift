import MynahCore

/// Chooses and stores the addresses of advertising sets that do not use the device's address.
struct SetAddresses {
    private var own: [String: DeviceAddress] = [:]
    /// The rotations of the sets with a resolvable private address, by the name of the set.
    private var rotations: [String: AddressRotation] = [:]
    /// Returns the rotation that generates a set's resolvable private addresses from the given time on.
    var makeRotation: (Duration) -> AddressRotation? = { _ in nil }
    /// Returns a new static random address.
    var makeStatic: () -> DeviceAddress? = { nil }

    /// Returns the address with which a set is to be advertised.
    ///
    /// If the set has an address of its own, the address is stored by the name of the set.
    mutating func address(of set: Advertisement, at now: Duration) -> HostAdvertiser.Address {
        switch set.address {
        case nil: return .ofDevice
        case .identity?: return .identity
        case .random?:
            guard let address = own[set.name] ?? makeStatic() else { return .ofDevice }
            own[set.name] = address
            return .own(address)
        case .private?:
            guard var rotation = rotations[set.name] ?? makeRotation(now) else { return .ofDevice }
            _ = rotation.rotate(at: now)
            rotations[set.name] = rotation
            return .own(rotation.address)
        }
    }

    /// Returns the configurations to request from the controller; throws an error if a set does not fit.
    mutating func configurations(
        of sets: [Advertisement], at now: Duration
    ) throws(RadioError) -> [HostAdvertiser.Configuration] {
        var configurations: [HostAdvertiser.Configuration] = []
        for set in sets {
            configurations.append(try HostAdvertiser.Configuration(set, address: address(of: set, at: now)))
        }
        return configurations
    }

    /// The time at which the address of one of these sets has to change, or `nil` if none changes.
    func due(of sets: [Advertisement]) -> Duration? {
        sets.filter { $0.address == .private }.compactMap { rotations[$0.name]?.due }.min()
    }

    /// Removes all addresses, because the radio is reset.
    mutating func reset() { (own, rotations) = ([:], [:]) }
}

extension HostAdvertisingSets {
    /// Returns the reports for sets that are all on the air.
    func reports(
        of sets: [Advertisement], _ wanted: [HostAdvertiser.Configuration]
    ) -> [AdvertisingReport] {
        zip(sets, wanted).map { set, wanted in wanted.report(named: set.name, from: address(of: wanted)) }
    }
}
