/// The connection latency that a peripheral requests (`CBPeripheralManagerConnectionLatency`).
public enum ConnectionLatency: String, Hashable, Sendable, CaseIterable {
    /// Low latency, at the cost of more energy.
    case low
    /// Medium latency.
    case medium
    /// High latency, which saves energy.
    case high
}
