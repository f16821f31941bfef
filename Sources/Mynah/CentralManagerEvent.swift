public import MynahCore
public import MynahLifecycle

/// A device that was heard.
public struct Discovery: Sendable {
    /// The device.
    public var peripheral: Peripheral
    /// What its advertising and its scan response say together, each as it was heard last.
    public var advertisement: AdvertisementData
    /// Its advertising as it was heard last, also where another PDU brought this; empty: it was not heard.
    public var data: [UInt8]
    /// Its scan response as it was heard last; empty: it was not.
    public var scanResponse: [UInt8]
    /// The received signal strength, in dBm; `nil` if it is not known.
    public var rssi: Int8?
    /// Whether a central may connect.
    public var isConnectable: Bool
    /// The services of the scan that the device does not list, and whose bit in its overflow area is set.
    public var overflowServices: [BluetoothUUID]
    /// The number of packets of the device since it was reported before, this one included.
    public var coalesced: Int
    /// The PDU that brought it.
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

/// A value that a peripheral sent by itself.
public struct ValueUpdate: Sendable {
    /// The peripheral that sent it.
    public var peripheral: Peripheral
    /// Its characteristic, or `nil` if that was not discovered.
    public var characteristic: DiscoveredCharacteristic?
    /// The handle of the value.
    public var handle: AttributeHandle
    /// The value.
    public var value: [UInt8]
    /// Whether it was confirmed.
    public var delivery: Delivery
}

/// Which connections of the phone a central manager hears of (CBConnectionEventMatchingOption).
public struct ConnectionEventMatching: Hashable, Sendable {
    /// Devices with one of these services, as far as an app has discovered them.
    public var services: [BluetoothUUID]
    /// These devices.
    public var peripherals: [PeripheralIdentifier]

    /// Every device, unless one of the two is given.
    public init(services: [BluetoothUUID] = [], peripherals: [PeripheralIdentifier] = []) {
        self.services = services
        self.peripherals = peripherals
    }

    /// Whether a device with these services is meant.
    func matches(_ identifier: PeripheralIdentifier, _ found: Set<BluetoothUUID>) -> Bool {
        services.isEmpty && peripherals.isEmpty || peripherals.contains(identifier)
            || services.contains(where: found.contains)
    }
}

/// A device came to the phone or left it, by whichever app (CBConnectionEvent).
public enum ConnectionEvent: String, Hashable, Sendable {
    /// The phone has a link to it.
    case peerConnected
    /// The link ended.
    case peerDisconnected
}

/// What a central manager reports, in the order in which it happened (after CBCentralManagerDelegate and
/// CBPeripheralDelegate).
public enum CentralManagerEvent: Sendable {
    /// The system restores what it preserved while the app did not run. It comes before any other event.
    case willRestoreState(RestoredCentralState)
    /// The Bluetooth state changed.
    case stateChanged(RadioState)
    /// A device was heard.
    case discovered(Discovery)
    /// A peripheral is connected; `isLocal` if another app of the phone held the link already.
    case connected(Peripheral, isLocal: Bool)
    /// A connection failed, and is no longer waited for.
    case failedToConnect(Peripheral, RadioError)
    /// A connection ended, or was cancelled while it was pending.
    case disconnected(Peripheral, Disconnection)
    /// A device that the manager registered for came to the phone or left it.
    case connectionEvent(ConnectionEvent, Peripheral)
    /// The ATT_MTU of a link changed, in bytes.
    case mtuChanged(Peripheral, Int)
    /// A peripheral sent a value by itself.
    case valueUpdated(ValueUpdate)
    /// Services came or went; what was discovered in this range of handles is forgotten, these services.
    case servicesChanged(Peripheral, ClosedRange<AttributeHandle>, invalidated: [DiscoveredService])
    /// A peripheral paired.
    case paired(Peripheral)
    /// Pairing wants something of this side.
    case pairing(Peripheral, PairingStep)
    /// A peripheral's link has room again for a write without response.
    ///
    /// It follows if `writeValue` returned `false`, or `canSendWriteWithoutResponse` was `false`, and is for
    /// the managers alone that were told so.
    case readyToWrite(Peripheral)
    /// The radio is gone. An app is not told of this and the two after it, but by the Bluetooth state.
    case lost(RadioError)
    /// It is back.
    case recovered
    /// A warning.
    case warning(RadioWarning)
    /// So many events were dropped here because nobody read the sequence; only reported through it.
    case missed(Int)
}

/// What listens to a central manager, synchronously and on its executor.
public protocol CentralManagerSink: Sendable {
    /// Called in the order in which things happened; only `pairing` takes an answer.
    func handle(_ event: CentralManagerEvent) -> RadioAnswer
}
