/// A radio in the central role: it scans, connects and sends ATT requests.
///
/// The radio is an actor, whose executor the central manager shares. Events are passed to the `CentralSink`
/// synchronously on that executor, in order. A request is a call that returns its result. Requests to one
/// peripheral are sent one at a time, in the order of the calls, as the Attribute Protocol requires (Core
/// Specification, Vol 3, Part F, 3.3.2).
public protocol CentralRadio: Radio {
    /// Starts the radio's central role; a peripheral role that was started earlier continues.
    func start(_ identity: DeviceIdentity, central sink: any CentralSink) async throws(RadioError)

    /// Ends every link and stops the radio, including its peripheral role.
    func stop() async

    /// Ends every link at once, and then stops the radio; can be called on any thread.
    ///
    /// The `Phone` that owns the radio calls this when it is deallocated.
    nonisolated func close()

    /// Starts a scan, or changes the options of the current one.
    func scan(_ options: ScanOptions) async throws(RadioError)

    /// Stops the scan.
    func stopScan() async

    /// Connects to a device; without a timeout, the call waits until the device is in range.
    ///
    /// Two devices have at most one link. If the device has already connected as a central, that link is
    /// used.
    ///
    /// Throws `timedOut` if the timeout elapses. A cancelled task stops waiting.
    func connect(_ address: DeviceAddress, timeout: Duration?) async throws(RadioError) -> Peer

    /// Returns the identity address of the bonded device that uses this resolvable private address.
    ///
    /// Returns any other address unchanged. Scan reports have the identity address of a bonded device (Core
    /// Specification, Vol 3, Part C, 10.8.2.3).
    func identity(of address: DeviceAddress) -> DeviceAddress

    /// Returns the address that a bonded device used last, given any of its known addresses.
    ///
    /// Returns any other address unchanged.
    func addressOnAir(of address: DeviceAddress) -> DeviceAddress

    /// Ends a link.
    func disconnect(_ peer: Peer.ID) async

    /// Reads the RSSI of the link, in dBm.
    func readRSSI(of peer: Peer.ID) async throws(RadioError) -> Int8

    /// Exchanges the ATT_MTU unless that was done on this link already; returns the ATT_MTU.
    func exchangeMTU(with peer: Peer.ID) async throws(RequestError) -> Int

    /// Discovers the primary services with this UUID, or all of them if it is `nil`.
    func discoverServices(
        _ uuid: BluetoothUUID?, of peer: Peer.ID
    ) async throws(RequestError) -> [RemoteService]

    /// Finds secondary services.
    func discoverSecondaryServices(of peer: Peer.ID) async throws(RequestError) -> [RemoteService]

    /// Discovers the included services of a service.
    func discoverIncludedServices(
        in service: RemoteService, of peer: Peer.ID
    ) async throws(RequestError) -> [RemoteService]

    /// Discovers a service's characteristics.
    func discoverCharacteristics(
        in service: RemoteService, of peer: Peer.ID
    ) async throws(RequestError) -> [RemoteCharacteristic]

    /// Discovers a characteristic's descriptors.
    func discoverDescriptors(
        of characteristic: RemoteCharacteristic, of peer: Peer.ID
    ) async throws(RequestError) -> [RemoteDescriptor]

    /// Reads a value of any length.
    func read(_ handle: AttributeHandle, of peer: Peer.ID) async throws(RequestError) -> [UInt8]

    /// Reads several values of any length, with as few requests as possible.
    func read(_ handles: [AttributeHandle], of peer: Peer.ID) async throws(RequestError) -> [[UInt8]]

    /// Reads several values with one request, and returns at most ATT_MTU − 1 bytes of them in all.
    ///
    /// The caller must know the lengths, because the response does not separate the values.
    func readConcatenated(
        _ handles: [AttributeHandle], of peer: Peer.ID
    ) async throws(RequestError) -> [UInt8]

    /// Writes a value and waits for the response.
    ///
    /// If the value is too long for one request, prepared writes are used, and each part is verified.
    func write(_ value: [UInt8], to handle: AttributeHandle, of peer: Peer.ID) async throws(RequestError)

    /// Whether a link can accept a write command now; if not, `readyToWrite` follows when it can.
    func hasRoomToWrite(to peer: Peer.ID) -> Bool

    /// Writes a value with a command, which has no response.
    ///
    /// Returns `false` if the link cannot accept the command now; `readyToWrite` follows when it can.
    func writeWithoutResponse(
        _ value: [UInt8], to handle: AttributeHandle, of peer: Peer.ID
    ) throws(RadioError) -> Bool

    /// Writes a value with a command that is signed with the signing key (CSRK) of the bond.
    ///
    /// Returns `false` if the link cannot accept the command now; `readyToWrite` follows when it can. Throws
    /// `insufficientSecurity` if there is no key.
    func writeSigned(
        _ value: [UInt8], to handle: AttributeHandle, of peer: Peer.ID
    ) throws(RadioError) -> Bool

    /// Pairs with a peripheral, or encrypts the link with the key of an earlier pairing.
    func pair(_ peer: Peer.ID) async throws(RadioError)

    /// Deletes the bond with a peripheral; returns `false` if there is none.
    @discardableResult
    func forgetBond(with address: DeviceAddress) -> Bool

    /// Opens an L2CAP channel to a PSM that a peripheral has published.
    ///
    /// Throws `channelRefused` if the peripheral refuses, `insufficientSecurity` if pairing may help, and
    /// `unsupported` if the radio has no L2CAP channels.
    func openL2CAPChannel(_ psm: UInt16, with peer: Peer.ID) async throws(RadioError) -> any L2CAPChannel
}

/// A radio in the central role that can read a peripheral's GAP device name, as a phone's system does.
package protocol DeviceNameRadio: CentralRadio {
    /// Reads the device name of a connected peripheral (Core Specification, Vol 3, Part C, 12.1).
    func readDeviceName(of peer: Peer.ID) async throws(RequestError) -> String
}

extension CentralRadio {
    /// Returns the address unchanged.
    public func identity(of address: DeviceAddress) -> DeviceAddress { address }

    /// Returns the address unchanged.
    public func addressOnAir(of address: DeviceAddress) -> DeviceAddress { address }

    /// Stops the radio asynchronously.
    public nonisolated func close() {
        Task(executorPreference: preferredExecutor) { await self.stop() }
    }

    /// Throws `unsupported`.
    public func openL2CAPChannel(
        _ psm: UInt16, with peer: Peer.ID
    ) async throws(RadioError) -> any L2CAPChannel {
        throw RadioError(.unsupported, "this radio has no L2CAP channels")
    }
}
