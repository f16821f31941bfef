/// A radio in the central role: it scans, connects and sends ATT requests.
///
/// The radio is an actor, whose executor the manager shares. Events are reported to the sink synchronously on
/// that executor, in order. A request is a call that returns the answer. Requests to one peripheral are sent
/// one at a time, in the order of the calls, as the Attribute Protocol requires (Core Specification, Vol 3,
/// Part F, 3.3.2).
public protocol CentralRadio: Radio {
    /// Starts the radio as a central. A radio that plays a peripheral already continues to do so.
    func start(_ identity: DeviceIdentity, central sink: any CentralSink) async throws(RadioError)

    /// Ends every link and stops the radio, including its peripheral role.
    func stop() async

    /// Ends every link at once, from any thread, and then stops the radio.
    ///
    /// Called when the manager was released.
    nonisolated func close()

    /// Starts a scan, or changes the options of the current one.
    func scan(_ options: ScanOptions) async throws(RadioError)

    /// Stops the scan.
    func stopScan() async

    /// Connects to a device; without a timeout, this waits until the device is in range.
    ///
    /// Two devices have only one link. If the device has already connected as a central, that link is used.
    ///
    /// Throws `timedOut` if the timeout elapses. A cancelled task stops waiting.
    func connect(_ address: DeviceAddress, timeout: Duration?) async throws(RadioError) -> Peer

    /// Returns the identity address of a bonded device with this resolvable private address, or any other
    /// address unchanged.
    ///
    /// Scan reports have the identity address of a bonded device (Core Specification, Vol 3, Part C,
    /// 10.8.2.3).
    func identity(of address: DeviceAddress) -> DeviceAddress

    /// Returns the address from which a bonded device was last received, for any of its known addresses.
    ///
    /// Any other address is returned unchanged.
    func addressOnAir(of address: DeviceAddress) -> DeviceAddress

    /// Ends a link.
    func disconnect(_ peer: Peer.ID) async

    /// Reads the RSSI of the link, in dBm.
    func readRSSI(of peer: Peer.ID) async throws(RadioError) -> Int8

    /// Exchanges the ATT_MTU, at most once on each link, and returns it.
    func exchangeMTU(with peer: Peer.ID) async throws(RequestError) -> Int

    /// Discovers primary services: those of one type, or all with `nil`.
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

    /// Reads values of known lengths with one request, up to ATT_MTU − 1 bytes in all.
    func readConcatenated(
        _ handles: [AttributeHandle], of peer: Peer.ID
    ) async throws(RequestError) -> [UInt8]

    /// Writes a value and waits for the response.
    ///
    /// A value that is too long for one request is written in prepared parts, and each part is verified.
    func write(_ value: [UInt8], to handle: AttributeHandle, of peer: Peer.ID) async throws(RequestError)

    /// Whether a link has room for a write command now; if not, `readyToWrite` follows.
    func hasRoomToWrite(to peer: Peer.ID) -> Bool

    /// Writes with a command, which has no response; returns `false` if the link has no room, and then
    /// `readyToWrite` follows.
    func writeWithoutResponse(
        _ value: [UInt8], to handle: AttributeHandle, of peer: Peer.ID
    ) throws(RadioError) -> Bool

    /// Writes with a command that is signed with the key of the bond; returns `false` if the link has no
    /// room, and then `readyToWrite` follows.
    ///
    /// Throws `insufficientSecurity` if there is no key.
    func writeSigned(
        _ value: [UInt8], to handle: AttributeHandle, of peer: Peer.ID
    ) throws(RadioError) -> Bool

    /// Pairs, or encrypts with the key of an earlier pairing.
    func pair(_ peer: Peer.ID) async throws(RadioError)

    /// Deletes the bond with a peripheral; returns `false` if there is none.
    @discardableResult
    func forgetBond(with address: DeviceAddress) -> Bool

    /// Opens an L2CAP channel to a PSM that a peripheral has published.
    ///
    /// Throws `channelRefused`, `insufficientSecurity` if pairing may help, and `unsupported` if the radio
    /// has no L2CAP channels.
    func openL2CAPChannel(_ psm: UInt16, with peer: Peer.ID) async throws(RadioError) -> any L2CAPChannel
}

/// A radio in the central role that can read a peripheral's GAP device name, as a phone's system does.
package protocol DeviceNameRadio: CentralRadio {
    /// Reads the device name of a connected peripheral (Core Specification, Vol 3, Part C, 12.1).
    func readDeviceName(of peer: Peer.ID) async throws(RequestError) -> String
}

extension CentralRadio {
    /// The address itself.
    public func identity(of address: DeviceAddress) -> DeviceAddress { address }

    /// The address itself.
    public func addressOnAir(of address: DeviceAddress) -> DeviceAddress { address }

    /// Stops the radio as soon as its executor is free.
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
