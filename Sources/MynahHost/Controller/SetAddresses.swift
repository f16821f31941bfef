import MynahCore

/// The advertising sets' own addresses.
struct SetAddresses {
    private var own: [String: DeviceAddress] = [:]
    /// Makes a static random address.
    var makeStatic: () -> DeviceAddress? = { nil }

    /// The address of a set; the set's own address is kept under the set's name.
    mutating func address(of set: Advertisement) -> HostAdvertiser.Address {
        switch set.address {
        case nil: return .ofDevice
        case .identity?: return .identity
        case .random?:
            guard let address = own[set.name] ?? makeStatic() else { return .ofDevice }
            own[set.name] = address
            return .own(address)
        }
    }

    /// The configurations that the controller is asked for; throws if a set does not fit.
    mutating func configurations(
        of sets: [Advertisement]
    ) throws(RadioError) -> [HostAdvertiser.Configuration] {
        var configurations: [HostAdvertiser.Configuration] = []
        for set in sets {
            configurations.append(try HostAdvertiser.Configuration(set, address: address(of: set)))
        }
        return configurations
    }

    /// Forgets all addresses, because the radio is reset.
    mutating func reset() { own = [:] }
}

extension HostAdvertisingSets {
    /// The reports of the sets, which are on the air.
    func reports(
        of sets: [Advertisement], _ wanted: [HostAdvertiser.Configuration]
    ) -> [AdvertisingReport] {
        zip(sets, wanted).map { set, wanted in wanted.report(named: set.name, from: address(of: wanted)) }
    }
}

extension AdvertisingReport {
    /// Combines the reports of several sets; there is at least one.
    init(_ sets: [AdvertisingReport]) {
        self = sets[0]
        otherSets = Array(sets.dropFirst())
    }
}
