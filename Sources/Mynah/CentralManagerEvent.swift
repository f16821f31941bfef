public import MynahCore

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
    /// The PDU that brought it.
    public var report: ScanReport
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

/// What a central manager reports, in the order in which it happened (after CBCentralManagerDelegate and CBPeripheralDelegate).
public enum CentralManagerEvent: Sendable {
    /// The Bluetooth state changed.
    case stateChanged(RadioState)
    /// A device was heard.
    case discovered(Discovery)
    /// A peripheral is connected.
    case connected(Peripheral)
    /// A link ended, with the reason; `nil` if it was ended from here.
    case disconnected(Peripheral, RadioError?)
    /// The ATT_MTU of a link changed, in bytes.
    case mtuChanged(Peripheral, Int)
    /// A peripheral sent a value by itself.
    case valueUpdated(ValueUpdate)
    /// Services came or went; what was discovered in this range of handles is forgotten.
    case servicesChanged(Peripheral, ClosedRange<AttributeHandle>)
    /// A peripheral paired.
    case paired(Peripheral)
    /// Pairing wants something of this side.
    case pairing(Peripheral, PairingStep)
    /// After a write without response found no room: there is some again.
    case readyToWrite
    /// The radio is gone.
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
