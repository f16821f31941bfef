package import MynahCore

/// The capabilities of a peripheral on bluetoothd, which depend on its version.
package enum BlueZCapabilities {
    /// Returns the capabilities of a version of bluetoothd.
    ///
    /// `keepsInterval` is `true` if bluetoothd uses the requested advertising interval. If it is `nil`, this
    /// depends on the version alone, as without `--experimental`. `namesSubscribers` is `true` if each
    /// subscriber has its own notification socket.
    package static func capabilities(
        version: BlueZVersion = .oldest, keepsInterval: Bool? = nil, namesSubscribers: Bool = false,
        adapter: String? = nil, hasExtendedAdvertising: Bool = true
    ) -> RadioCapabilities {
        var result = RadioCapabilities(name: "BlueZ \(version)" + (adapter.map { " on \($0)" } ?? ""))
        result.subscriptions.namesSubscribers = namesSubscribers
        result.subscriptions.sendsToOneCentral = namesSubscribers
        result.subscriptions.namesConfirmingCentral = namesSubscribers
        result.advertising.isExact = false
        result.advertising.keepsInterval = keepsInterval ?? (version >= BlueZVersion(5, 77))
        // Both need `--experimental` until 7e028287a.
        result.advertising.keepsTxPower = result.advertising.keepsInterval
        result.advertising.intervalRemedy =
            "it uses the profile's from 5.77 on, or if started with --experimental"
        result.advertising.placesScanResponse = version >= BlueZVersion(5, 80)
        // bluetoothd composes at most 31 bytes before bt_ad_set_max_len of 5.69. From then on the limit is
        // the kernel's, which sends the data in one HCI command.
        let capacity = version >= BlueZVersion(5, 69) ? 251 : ExactAdvertisement.legacyCapacity
        result.advertising.extendedCapacity = hasExtendedAdvertising ? capacity : 0
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
        result.knowsMTU = false
        result.limitsLinks = false
        return result
    }
}
