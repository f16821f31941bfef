public import MynahCore
public import MynahLifecycle

/// A peripheral that a scan discovered, or whose advertisement changed.
public struct Discovery: Sendable {
    /// The peripheral.
    public var peripheral: Peripheral
    /// The last advertising data and the last scan response together.
    public var advertisement: AdvertisementData
    /// The bytes of the last advertising data; empty if none was received.
    public var data: [UInt8]
    /// The bytes of the last scan response; empty if none was received.
    public var scanResponse: [UInt8]
    /// The received signal strength, in dBm, or `nil` if it is not known.
    public var rssi: Int8?
    /// Whether the advertising is connectable.
    public var isConnectable: Bool
    /// The services of the scan whose bit is set in the overflow area, without those that the advertising
    /// data lists.
    ///
    /// An iPhone advertises the services of a background app this way. Several services share a bit, so these
    /// are candidates.
    public var overflowServices: [BluetoothUUID]
    /// The number of packets that were received since the previous report, including this one.
    public var coalesced: Int
    /// The advertising report that led to this event.
    public var report: ScanReport

    init(_ found: DiscoveryCoalescer.Discovery, _ peripheral: Peripheral, _ report: ScanReport) {
        self.peripheral = peripheral
        advertisement = found.advertisement
        data = found.data
        scanResponse = found.scanResponse
        rssi = found.rssi
        isConnectable = found.isConnectable
        overflowServices = found.overflowServices
        coalesced = found.coalesced
        self.report = report
    }
}

/// A value that a peripheral sent as a notification or an indication.
public struct ValueUpdate: Sendable {
    /// The peripheral that sent the value.
    public var peripheral: Peripheral
    /// The characteristic, or `nil` if it was not discovered.
    public var characteristic: DiscoveredCharacteristic?
    /// The attribute handle of the characteristic's value.
    public var handle: AttributeHandle
    /// The value.
    public var value: [UInt8]
    /// How the value was sent: as a notification or an indication.
    public var delivery: Delivery
}

/// The peripherals that a central manager registers for (after CBConnectionEventMatchingOption).
public struct ConnectionEventMatching: Hashable, Sendable {
    /// The services of which a matching peripheral has at least one that an app has discovered.
    public var services: [BluetoothUUID]
    /// The identifiers of matching peripherals.
    public var peripherals: [PeripheralIdentifier]

    /// Matches peripherals that are in either list, or all peripherals if both lists are empty.
    public init(services: [BluetoothUUID] = [], peripherals: [PeripheralIdentifier] = []) {
        self.services = services
        self.peripherals = peripherals
    }

    /// Whether a device with this identifier and these discovered services matches.
    func matches(_ identifier: PeripheralIdentifier, _ found: Set<BluetoothUUID>) -> Bool {
        services.isEmpty && peripherals.isEmpty || peripherals.contains(identifier)
            || services.contains(where: found.contains)
    }
}

/// A connection or disconnection of a peripheral, for any app of the phone (after CBConnectionEvent).
public enum ConnectionEvent: String, Hashable, Sendable {
    /// The peripheral connected.
    case peerConnected
    /// The peripheral disconnected.
    case peerDisconnected
}

/// An event of a central manager (after CBCentralManagerDelegate and CBPeripheralDelegate).
public enum CentralManagerEvent: Sendable {
    /// The system restored the state that it preserved while the app did not run.
    ///
    /// If this event occurs, it is the first one.
    case willRestoreState(RestoredCentralState)
    /// The Bluetooth state changed.
    case stateChanged(RadioState)
    /// A scan discovered a peripheral, or its advertisement changed.
    case discovered(Discovery)
    /// A peripheral connected; `isLocal` is `true` if another app of the phone had the link already.
    case connected(Peripheral, isLocal: Bool)
    /// A connection failed, and is no longer pending.
    case failedToConnect(Peripheral, RadioError)
    /// A connection ended, or was cancelled while it was pending.
    case disconnected(Peripheral, Disconnection)
    /// A peripheral that matches the manager's registration connected to the phone, or disconnected.
    case connectionEvent(ConnectionEvent, Peripheral)
    /// The ATT_MTU of a peripheral's link changed, in bytes.
    case mtuChanged(Peripheral, Int)
    /// The GAP device name of an app's peripheral was read, and differs from its previous name.
    case nameUpdated(Peripheral)
    /// A peripheral sent a notification or an indication.
    case valueUpdated(ValueUpdate)
    /// A peripheral's services changed in this range of handles; the invalidated ones were removed from its
    /// `services`.
    case servicesChanged(Peripheral, ClosedRange<AttributeHandle>, invalidated: [DiscoveredService])
    /// A peripheral paired.
    case paired(Peripheral)
    /// A pairing needs an answer, as `PairingStep` describes; for a manager without an app only.
    case pairing(Peripheral, PairingStep)
    /// There is buffer space again for a write without response to a peripheral.
    ///
    /// The event follows if `writeValue` returned `false`, or `canSendWriteWithoutResponse` was `false`, and
    /// only for the managers that got this result.
    case readyToWrite(Peripheral)
    /// The radio is lost, and recovers by itself if it can; for a manager without an app only.
    case lost(RadioError)
    /// The radio recovered; for a manager without an app only.
    case recovered
    /// The radio gave a warning; for a manager without an app only.
    case warning(RadioWarning)
    /// This number of events were dropped, because the sequence was not read or the app was suspended for too
    /// long.
    case missed(Int)
}

/// Receives the events of a central manager, synchronously on its executor, without a reference to the
/// manager.
package protocol CentralManagerSink: Sendable {
    /// Handles one event; events come in order, and only `.pairing` needs an answer.
    func handle(_ event: CentralManagerEvent) -> RadioAnswer
}
