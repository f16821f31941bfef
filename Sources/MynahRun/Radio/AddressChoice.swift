import MynahHost

/// The user's choice of an address for a device on Mynah's own host.
package enum AddressChoice: String, CaseIterable, Sendable {
    /// The controller's public address, or a static random address if it has none.
    case identity
    /// Resolvable private addresses, which change as often as those of an iPhone.
    case `private`

    var policy: AddressPolicy {
        switch self {
        case .identity: .automatic
        case .private: .resolvablePrivate()
        }
    }
}
