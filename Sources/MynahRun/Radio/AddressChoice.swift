import MynahHost

/// The kind of address that a device on Mynah's own host uses.
package enum AddressChoice: String, CaseIterable, Sendable {
    /// The controller's public address, or a static random address if it has none.
    case identity
    /// Resolvable private addresses, which change as often as an iPhone's.
    case `private`

    var policy: AddressPolicy {
        switch self {
        case .identity: .automatic
        case .private: .resolvablePrivate()
        }
    }
}
