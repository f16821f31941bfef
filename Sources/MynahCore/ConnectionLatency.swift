/// How soon data shall be there, as `CBPeripheralManagerConnectionLatency` says it.
public enum ConnectionLatency: String, Hashable, Sendable, CaseIterable {
    /// Soon, whatever it costs.
    case low
    /// In between.
    case medium
    /// Late, and cheap.
    case high
}
