import MynahCore

extension BlueZAdvertising {
    /// Encodes an advertisement for a radio with these capabilities.
    ///
    /// Throws `advertisementRefused` if the advertisement does not fit.
    init(_ advertisement: Advertisement, _ capabilities: RadioCapabilities.Advertising) throws(RadioError) {
        do throws(AdvertisementError) {
            try self.init(
                advertisement, keepsInterval: capabilities.keepsInterval,
                placesScanResponse: capabilities.placesScanResponse)
        } catch {
            throw RadioError(.advertisementRefused, "the advertisement does not fit: \(error)")
        }
    }

    /// Returns warnings about the differences between the requested advertisement and the bytes that
    /// bluetoothd sends.
    func warnings(keepsInterval: Bool) -> [RadioWarning] {
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
