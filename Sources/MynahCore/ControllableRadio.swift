/// How a radio serves services, by the program that published them.
package enum ServingMode: Hashable, Sendable {
    /// An accessory's: a value that is too long for a link is an error.
    case accessory
    /// Services of an iOS app: a value that is too long for a link is cut to `maximumUpdateValueLength`.
    case app
    /// Services of an app that are disabled, because the app is not on the screen and has no background mode:
    /// only the values of static characteristics are served.
    case disabled
}

/// A radio whose links and bonds a test controls.
package protocol ControllableRadio: PeripheralRadio {
    /// Whether the link of a connected central is encrypted, or `nil` if that is not known.
    func isEncrypted(_ central: Peer.ID) -> Bool?

    /// The identity addresses of the bonded devices whose bonds are this radio's own.
    ///
    /// Bonds that other programs made with the same adapter are not among them.
    var bondedAddresses: [DeviceAddress] { get }

    /// Deletes the bond with a device, which may be connected; returns `false` if there is none.
    @discardableResult
    func forgetBond(with address: DeviceAddress) async throws(RadioError) -> Bool

    /// Ends a central's link for a reason (Core Specification, Vol 4, Part E, 7.1.6).
    ///
    /// Throws `unsupported` if the radio cannot set the reason.
    func disconnect(_ central: Peer.ID, reason: UInt8) async throws(RadioError)

    /// Sends reads and writes of centrals to another sink than other events, or to the same with `nil`.
    ///
    /// The sink stays until the radio stops. A layer around the radio that has nothing to change sets the
    /// sink above it, so that requests bypass the layer.
    func setRequestSink(_ sink: (any RadioSink)?)

    /// The central role of the same radio, or `nil` if it has none; a layer around the peripheral role leaves
    /// it alone.
    nonisolated var centralRole: (any CentralRadio)? { get }

    // MARK: A phone's

    /// `true` if the radio is on the air, as far as it knows.
    ///
    /// `false` as soon as the radio is turned off or its controller is lost, before the radio reports that.
    var isOn: Bool { get }

    /// Serves published services in another way than an accessory's, which is how it begins.
    func serve(_ services: [ServiceDefinition], as mode: ServingMode)

    /// Stops using a link as a central. The peripheral has made the link, so it stays.
    func leave(_ peer: Peer.ID)
}

extension ControllableRadio {
    /// Returns the radio itself if it has that role.
    package nonisolated var centralRole: (any CentralRadio)? { self as? any CentralRadio }

    /// Returns `nil`: it is not known.
    package func isEncrypted(_ central: Peer.ID) -> Bool? { nil }

    /// Returns `true`: the radio knows no earlier than it reports.
    package var isOn: Bool { true }

    /// Does nothing: the radio serves all alike.
    package func serve(_ services: [ServiceDefinition], as mode: ServingMode) {}

    /// Does nothing: each role has links of its own.
    package func leave(_ peer: Peer.ID) {}

    /// Throws `unsupported`.
    package func disconnect(_ central: Peer.ID, reason: UInt8) async throws(RadioError) {
        throw RadioError(
            .unsupported, "this radio cannot set the reason for which a link ends",
            remedy: "use Mynah's own host, with a controller of its own")
    }
}
