public import MynahCore

/// Which address a radio is known by (Core Specification, Vol 6, Part B, 1.3, and Vol 3, Part C, 10.7).
public enum AddressPolicy: Hashable, Sendable {
    /// The controller's public address, or where it has none a static random one, which stays where bonds are
    /// kept.
    case automatic
    /// The controller's public address; without one the radio does not start.
    case `public`
    /// This one, which is random and static.
    case fixed(DeviceAddress)
    /// Private addresses that only bonded peers resolve, each for so long; an iPhone's are for about 15
    /// minutes.
    case resolvablePrivate(every: Duration = .seconds(15 * 60))
}
