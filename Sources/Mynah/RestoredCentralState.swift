public import MynahCore

/// The preserved state of a central manager (after the dictionary of willRestoreState).
///
/// A device that connects again after the restoration loses its restored services, unless it is bonded and
/// the phone has kept its attribute table. The app then discovers them as on any new link.
public struct RestoredCentralState: Sendable {
    /// The services of the scan, or `nil` if there is no scan; empty if the scan is for all peripherals
    /// (CBCentralManagerRestoredStateScanServicesKey).
    public var scanServices: [BluetoothUUID]?
    /// The options of the scan, or `nil` if there is no scan
    /// (CBCentralManagerRestoredStateScanOptionsKey).
    public var scanOptions: ScanOptions?
    /// The peripherals that are connected or connecting (CBCentralManagerRestoredStatePeripheralsKey).
    ///
    /// Their `services` are the discovered services, with the subscriptions.
    public var peripherals: [Peripheral]

    var isEmpty: Bool { scanServices == nil && peripherals.isEmpty }
}
