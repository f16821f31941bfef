import MynahCore

/// The combinations of states and roles that a controller supports (LE Read Supported States, Core
/// Specification, Vol 4, Part E, 7.8.27).
struct SupportedStates: OptionSet, Hashable, Sendable {
    let rawValue: UInt64

    /// A scan, passive or active, during connectable advertising.
    static let scanningBesideAdvertising = SupportedStates(rawValue: 1 << 10 | 1 << 14)
    /// A scan, passive or active, during initiating.
    static let scanningBesideInitiating = SupportedStates(rawValue: 1 << 22 | 1 << 23)
    /// A scan, passive or active, during a connection in the central role.
    static let scanningAsCentral = SupportedStates(rawValue: 1 << 24 | 1 << 25)
    /// A scan, passive or active, during a connection in the peripheral role.
    static let scanningAsPeripheral = SupportedStates(rawValue: 1 << 26 | 1 << 27)
    /// All combinations, which are assumed if a controller does not report its states.
    static let all = SupportedStates(rawValue: .max)

    /// The capabilities of a radio on a controller with these states.
    var capabilities: CentralCapabilities {
        var capabilities = CentralCapabilities()
        capabilities.scansBesidePeripherals = contains(.scanningAsCentral)
        capabilities.scansBesideCentrals = contains(.scanningAsPeripheral)
        capabilities.scansBesideAdvertising = contains(.scanningBesideAdvertising)
        return capabilities
    }
}
