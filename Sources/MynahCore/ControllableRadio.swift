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
    /// It lasts until the radio stops. A layer around the radio that has nothing to change uses it to be no
    /// longer in the way of requests.
    func setRequestSink(_ sink: (any RadioSink)?)
}

extension ControllableRadio {
    /// Returns `nil`: it is not known.
    package func isEncrypted(_ central: Peer.ID) -> Bool? { nil }

    /// Throws `unsupported`.
    package func disconnect(_ central: Peer.ID, reason: UInt8) async throws(RadioError) {
        throw RadioError(
            .unsupported, "this radio cannot set the reason for which a link ends",
            remedy: "use Mynah's own host, with a controller of its own")
    }
}
