public import MynahCore

/// What a peripheral can do through bluetoothd, by its version.
public enum BlueZCapabilities {
    /// The abilities of a version; `keepsInterval` where it is known from the daemon itself, else what the version does
    /// without `--experimental`.
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
        // D-Bus has neither; the kernel's sockets, which have channels, know no publisher beside bluetoothd.
        result.publishesL2CAPChannels = false
        result.requestsConnectionLatency = false
        result.answerDeadline = .seconds(5)
        return result
    }
}
