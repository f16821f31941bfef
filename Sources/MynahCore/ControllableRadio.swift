/// The handling of requests to services, which depends on the kind of program that published them.
package enum ServingMode: Hashable, Sendable {
    /// The services of an accessory: a value that is too long for a link is an error.
    case accessory
    /// The services of an iOS app: a value that is too long for a link is cut to `maximumUpdateValueLength`.
    case app
    /// The disabled services of an app: only static values can be read.
    ///
    /// Services are disabled if the app is not in the foreground and has no background mode.
    case disabled
}

/// A radio whose links and bonds can be controlled by a test.
package protocol ControllableRadio: PeripheralRadio {
    /// Whether the link of a connected central is encrypted, or `nil` if the radio does not know.
    func isEncrypted(_ central: Peer.ID) -> Bool?

    /// The identity addresses of the devices with which this radio itself has bonds.
    ///
    /// Bonds that other programs made with the same adapter are not included.
    var bondedAddresses: [DeviceAddress] { get }

    /// Deletes the bond with a device, even if it is connected; returns `false` if there is none.
    @discardableResult
    func forgetBond(with address: DeviceAddress) async throws(RadioError) -> Bool

    /// Ends a central's link with this reason (Core Specification, Vol 4, Part E, 7.1.6).
    ///
    /// Throws `unsupported` if the radio cannot set the reason.
    func disconnect(_ central: Peer.ID, reason: UInt8) async throws(RadioError)

    /// Sets a separate sink for the reads and writes of centrals, or removes it if `sink` is `nil`.
    ///
    /// Other events still go to the sink that was passed to `start`. The separate sink is used until the
    /// radio stops. A layer that wraps the radio passes in the receiver of its own events while it does not
    /// change requests. Requests then bypass the layer.
    func setRequestSink(_ sink: (any RadioSink)?)

    /// The central role of the same radio, or `nil` if it has none.
    ///
    /// A layer that wraps the peripheral role does not affect the central role.
    nonisolated var centralRole: (any CentralRadio)? { get }

    // MARK: A phone's

    /// `true` if the radio is on and its controller is present, as far as this is known.
    ///
    /// The value becomes `false` as soon as the radio is turned off or its controller is lost, even before
    /// the radio reports that as an event.
    var isOn: Bool { get }

    /// Sets the way in which requests for published services are handled; the default is `accessory`.
    func serve(_ services: [ServiceDefinition], as mode: ServingMode)

    /// Stops using a link in the central role.
    ///
    /// The link itself continues, because the peer has established it as a central.
    func leave(_ peer: Peer.ID)
}

extension ControllableRadio {
    /// The radio itself if it has the central role, or `nil` otherwise.
    package nonisolated var centralRole: (any CentralRadio)? { self as? any CentralRadio }

    /// Returns `nil`, because the state is not known.
    package func isEncrypted(_ central: Peer.ID) -> Bool? { nil }

    /// Returns `true`, because such a radio reports its state only through events.
    package var isOn: Bool { true }

    /// Does nothing, because all services are handled alike.
    package func serve(_ services: [ServiceDefinition], as mode: ServingMode) {}

    /// Does nothing, because the two roles do not share links.
    package func leave(_ peer: Peer.ID) {}

    /// Throws `unsupported`.
    package func disconnect(_ central: Peer.ID, reason: UInt8) async throws(RadioError) {
        throw RadioError(
            .unsupported, "this radio cannot set the reason for which a link ends",
            remedy: "use Mynah's own host, with a controller of its own")
    }
}
