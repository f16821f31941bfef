import MynahCore

/// The combinations of states and roles that a controller supports (LE Read Supported States, Core
/// Specification, Vol 4, Part E, 7.8.27).
struct SupportedStates: OptionSet, Hashable, Sendable {
    let rawValue: UInt64

    /// Connectable advertising together with a passive and an active scan.
    static let scanningBesideAdvertising = SupportedStates(rawValue: 1 << 10 | 1 << 14)
    /// A passive and an active scan together with initiating.
    static let scanningBesideInitiating = SupportedStates(rawValue: 1 << 22 | 1 << 23)
    /// A passive and an active scan together with a connection in the central role.
    static let scanningAsCentral = SupportedStates(rawValue: 1 << 24 | 1 << 25)
    /// A passive and an active scan together with a connection in the peripheral role.
    static let scanningAsPeripheral = SupportedStates(rawValue: 1 << 26 | 1 << 27)
    /// Every combination, which is assumed of a controller that does not report its states.
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
