/// The connection latency that a peripheral wants (`CBPeripheralManagerConnectionLatency`).
public enum ConnectionLatency: String, Hashable, Sendable, CaseIterable {
    /// Soon, whatever it costs.
    case low
    /// In between.
    case medium
    /// Late, and cheap.
    case high
}
