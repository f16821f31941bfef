package import MynahCore

/// The capabilities of a peripheral on bluetoothd, which depend on its version.
package enum BlueZCapabilities {
    /// Returns the capabilities of a version.
    ///
    /// `keepsInterval` is whether bluetoothd keeps the advertising interval; `nil` assumes that it runs
    /// without `--experimental`.
    package static func capabilities(
        version: BlueZVersion = .oldest, keepsInterval: Bool? = nil, namesSubscribers: Bool = false,
        adapter: String? = nil
    ) -> RadioCapabilities {
        var result = RadioCapabilities(name: "BlueZ \(version)" + (adapter.map { " on \($0)" } ?? ""))
        result.subscriptions.namesSubscribers = namesSubscribers
        result.subscriptions.sendsToOneCentral = namesSubscribers
        result.subscriptions.namesConfirmingCentral = namesSubscribers
        result.advertising.isExact = false
        result.advertising.keepsInterval = keepsInterval ?? (version >= BlueZVersion(5, 77))
        result.advertising.intervalRemedy =
            "it uses the profile's from 5.77 on, or if started with --experimental"
        result.advertising.placesScanResponse = version >= BlueZVersion(5, 80)
        result.subscriptions.hasBackPressure = false
        result.writes.areRefusedBesideCommands = false
        result.writes.protectsCommandsAlone = false
        result.subscriptions.areAuthorized = false
        // An empty array of bytes fails the registration.
        result.advertising.sendsEmptyData = false
        // check_length counts the header before 8bf3a4a26.
        result.writes.maximumLength = version >= BlueZVersion(5, 69) ? GATT.maximumValueLength : 510
        result.writes.maximumLongLength = version >= BlueZVersion(5, 69) ? GATT.maximumValueLength : 508
        result.readErrors = .init(BlueZErrors.codes(version: version, isRead: true))
        result.writes.errors = .init(BlueZErrors.codes(version: version, isRead: false))
        // D-Bus has no interface for either. The kernel's sockets have channels, but bluetoothd has to
        // publish them.
        result.publishesL2CAPChannels = false
        result.requestsConnectionLatency = false
        result.answerDeadline = .seconds(5)
        result.playsPhoneServices = false
        result.cutsValues = false
        result.limitsLinks = false
        return result
    }
}
