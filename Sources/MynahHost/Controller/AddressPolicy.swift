public import MynahCore

/// The kind of address that a radio uses (Core Specification, Vol 6, Part B, 1.3, and Vol 3, Part C, 10.7).
public enum AddressPolicy: Hashable, Sendable {
    /// The controller's public address, or a static random address if it has none.
    ///
    /// The random address is saved with the bonds.
    case automatic
    /// The controller's public address; `start` fails if the controller has none.
    case `public`
    /// The given static random address.
    case fixed(DeviceAddress)
    /// Resolvable private addresses, each of which is used for the given time.
    ///
    /// The default is 15 minutes, about the time after which an iPhone changes its address.
    case resolvablePrivate(every: Duration = .seconds(15 * 60))
}
