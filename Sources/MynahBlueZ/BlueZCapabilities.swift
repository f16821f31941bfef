public import MynahCore

/// The capabilities of a peripheral through bluetoothd, by version.
public enum BlueZCapabilities {
    /// Returns the capabilities of a version.
    ///
    /// `keepsInterval` is what bluetoothd itself reports, or `nil` to assume that it runs without `--experimental`.
    public static func capabilities(
        version: BlueZVersion = .oldest, keepsInterval: Bool? = nil, namesSubscribers: Bool = false,
        adapter: String? = nil
    ) -> RadioCapabilities {
        var result = RadioCapabilities(name: "BlueZ \(version)" + (adapter.map { " on \($0)" } ?? ""))
        result.namesSubscribers = namesSubscribers
        result.sendsToOneCentral = namesSubscribers
        result.namesConfirmingCentral = namesSubscribers
        result.advertisesExactly = false
        result.keepsInterval = keepsInterval ?? (version >= BlueZVersion(5, 77))
        result.intervalRemedy = "it keeps the profile's from 5.77 on, or when started with --experimental"
        result.placesScanResponse = version >= BlueZVersion(5, 80)
        result.hasBackPressure = false
        result.tellsWriteCommands = false
        result.refusesWritesBesideCommands = false
        result.protectsCommandsAlone = false
        result.authorizesSubscriptions = false
        // An empty array of bytes fails the registration.
        result.sendsEmptyAdvertisingData = false
        // check_length counts the header before 8bf3a4a26.
        result.maximumWriteLength = version >= BlueZVersion(5, 69) ? GATT.maximumValueLength : 510
        result.maximumLongWriteLength = version >= BlueZVersion(5, 69) ? GATT.maximumValueLength : 508
        result.readErrors = .init(BlueZErrors.codes(version: version, isRead: true))
        result.writeErrors = .init(BlueZErrors.codes(version: version, isRead: false))
        // D-Bus has neither. The kernel's sockets have channels, but bluetoothd has to publish them.
        result.publishesL2CAPChannels = false
        result.requestsConnectionLatency = false
        result.answerDeadline = .seconds(5)
        return result
    }
}
