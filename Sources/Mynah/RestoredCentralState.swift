public import MynahCore

/// What the system kept of a central manager while its app did not run (after willRestoreState's dictionary).
public struct RestoredCentralState: Sendable {
    /// The services that are scanned for, empty if for every device; `nil` if nothing is
    /// (CBCentralManagerRestoredStateScanServicesKey).
    public var scanServices: [BluetoothUUID]?
    /// The options of the scan; `nil` if nothing is scanned for
    /// (CBCentralManagerRestoredStateScanOptionsKey).
    public var scanOptions: ScanOptions?
    /// The peripherals that are connected or waited for (CBCentralManagerRestoredStatePeripheralsKey).
    ///
    /// What was discovered of them is in their `services`, with what is subscribed to.
    public var peripherals: [Peripheral]
}
