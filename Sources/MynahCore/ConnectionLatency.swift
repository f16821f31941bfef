/// The connection latency that a peripheral wants (`CBPeripheralManagerConnectionLatency`).
public enum ConnectionLatency: String, Hashable, Sendable, CaseIterable {
    /// Low latency, at the cost of more energy.
    case low
    /// In between.
    case medium
    /// Late, and cheap.
    case high
}
