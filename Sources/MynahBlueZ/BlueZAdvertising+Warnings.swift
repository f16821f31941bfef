import MynahCore

extension BlueZAdvertising {
    /// Encodes the sets of an advertisement for a radio with these capabilities.
    ///
    /// Throws `advertisementRefused` if bluetoothd cannot advertise a set, or if the set does not fit; throws
    /// `noAdvertisingSet` if there are too many.
    static func sets(
        of advertisement: Advertisement, _ capabilities: RadioCapabilities
    ) throws(RadioError) -> [BlueZAdvertising] {
        try capabilities.check(advertisement)
        let sets = advertisement.sets
        if sets.count > 1, let most = capabilities.advertising.maximumSets, sets.count > most {
            throw BlueZErrors.noAdvertisingSet(for: sets.count, of: most)
        }
        return try sets.map { (set) throws(RadioError) in
            try BlueZAdvertising(set, capabilities.advertising)
        }
    }

    /// Encodes an advertisement for a radio with these capabilities.
    ///
    /// Throws `advertisementRefused` if the advertisement does not fit.
    init(_ advertisement: Advertisement, _ capabilities: RadioCapabilities.Advertising) throws(RadioError) {
        do throws(AdvertisementError) {
            try self.init(
                advertisement, keepsInterval: capabilities.keepsInterval,
                placesScanResponse: capabilities.placesScanResponse,
                extendedCapacity: capabilities.extendedCapacity)
        } catch {
            throw RadioError(.advertisementRefused, "the advertisement does not fit: \(error)")
        }
    }

    /// The warnings about the differences between the requested advertisement and the bytes that bluetoothd
    /// sends.
    var warnings: [RadioWarning] {
        var warnings: [RadioWarning] = []
        if advertisement.interval != nil, !keepsInterval {
            warnings.append(
                RadioWarning(
                    "intervalIgnored",
                    """
                    bluetoothd ignores the advertising interval; it uses it from 5.77 on, or if started \
                    with --experimental
                    """
                ))
        }
        guard isExact else { return warnings }
        return warnings
            + report.omitted.filter { keepsInterval || $0.item != "interval" }
            .map { RadioWarning("notExact", "on the air, \($0.item): \($0.reason)") }
    }
}

extension RadioCapabilities {
    /// Throws `advertisementRefused` if a part of an advertisement cannot be advertised by bluetoothd.
    ///
    /// Sets that specify exact bytes are not checked, because the nearest possible advertisement replaces
    /// them.
    fileprivate func check(_ advertisement: Advertisement) throws(RadioError) {
        let requirements = advertisement.sets.filter { $0.exact == nil }.flatMap { set in
            set.needs.map { RadioRequirement($0.need, of: "advertising.\($0.field)", at: set.name) }
        }
        guard let shortcoming = shortcomings(requirements).first(where: \.isFatal) else { return }
        throw RadioError(.advertisementRefused, shortcoming.message)
    }
}
