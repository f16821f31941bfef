/// How a radio handles requests for services, depending on the kind of program that published them.
package enum ServingMode: Hashable, Sendable {
    /// Services of an accessory: a value that is too long for a link is an error.
    case accessory
    /// Services of an iOS app: a value that is too long for a link is cut to `maximumUpdateValueLength`.
    case app
    /// Services of an app that are disabled, because the app is not in the foreground and has no background
    /// mode: only static values can be read.
    case disabled
}

/// A radio whose links and bonds a test can control.
package protocol ControllableRadio: PeripheralRadio {
    /// Whether the link of a connected central is encrypted, or `nil` if the radio does not know.
    func isEncrypted(_ central: Peer.ID) -> Bool?

    /// The identity addresses of the devices with which this radio itself has bonds.
    ///
    /// Bonds that other programs made with the same adapter are not included.
    var bondedAddresses: [DeviceAddress] { get }

    /// Deletes the bond with a device, which may be connected; returns `false` if there is none.
    @discardableResult
    func forgetBond(with address: DeviceAddress) async throws(RadioError) -> Bool

    /// Ends a central's link with a reason (Core Specification, Vol 4, Part E, 7.1.6).
    ///
    /// Throws `unsupported` if the radio cannot set the reason.
    func disconnect(_ central: Peer.ID, reason: UInt8) async throws(RadioError)

    /// Sets a separate sink for the reads and writes of centrals; with `nil`, they go to the sink of all
    /// other events.
    ///
    /// The sink stays until the radio stops. A layer around the radio that does not need to change requests
    /// sets the sink above itself, so that requests bypass the layer.
    func setRequestSink(_ sink: (any RadioSink)?)

    /// The central role of the same radio, or `nil` if it has none; a layer around the peripheral role does
    /// not affect it.
    nonisolated var centralRole: (any CentralRadio)? { get }

    // MARK: A phone's

    /// `true` if the radio works, as far as it knows.
    ///
    /// The value is `false` as soon as the radio is turned off or its controller is lost, before the radio
    /// reports that.
    var isOn: Bool { get }

    /// Sets how requests for published services are handled; the default is `accessory`.
    func serve(_ services: [ServiceDefinition], as mode: ServingMode)

    /// Stops using a link as a central. The link stays, because the peripheral has made it.
    func leave(_ peer: Peer.ID)
}

extension ControllableRadio {
    /// Returns the radio itself if it has the central role, or `nil`.
    package nonisolated var centralRole: (any CentralRadio)? { self as? any CentralRadio }

    /// Returns `nil`, because the radio does not know.
    package func isEncrypted(_ central: Peer.ID) -> Bool? { nil }

    /// Returns `true`, because the radio does not know more than it reports.
    package var isOn: Bool { true }

    /// Does nothing, because the radio handles all services alike.
    package func serve(_ services: [ServiceDefinition], as mode: ServingMode) {}

    /// Does nothing, because each role has links of its own.
    package func leave(_ peer: Peer.ID) {}

    /// Throws `unsupported`.
    package func disconnect(_ central: Peer.ID, reason: UInt8) async throws(RadioError) {
        throw RadioError(
            .unsupported, "this radio cannot set the reason for which a link ends",
            remedy: "use Mynah's own host, with a controller of its own")
    }
}
