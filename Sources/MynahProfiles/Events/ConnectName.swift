/// The names of the events that `mynah connect` reports.
package enum ConnectName: String, Hashable, Sendable, CaseIterable {
    case connected
    case disconnected
    case mtu
    case rssi
    case error
    case paired
    case pairingPasskey = "pairing.passkey"
    case forgotten
    case services
    case servicesChanged = "services.changed"
    case read
    case written
    case subscribed
    case unsubscribed
    case notified
    case indicated
    case help
}
