import MynahHost

/// The address that a device on our own host is known by.
package enum AddressChoice: String, CaseIterable, Sendable {
    /// The controller's public address, or where it has none a static random one.
    case identity
    /// Resolvable private addresses, which change as an iPhone's do.
    case `private`

    var policy: AddressPolicy {
        switch self {
        case .identity: .automatic
        case .private: .resolvablePrivate()
        }
    }
}
