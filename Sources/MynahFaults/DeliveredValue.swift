package import MynahCore

/// A value as faults have it on its way to a subscriber.
package struct DeliveredValue: Hashable, Sendable {
    /// The subscriber, or `nil` for all that the radio does not name.
    package let central: Peer.ID?
    /// The bytes that it gets, or `nil` if it gets none: a fault drops the value, or makes it unsendable.
    package let bytes: [UInt8]?
}

extension DeliveredValue {
    /// A value as its subscribers get it, whose parts are on their way, but for those that could not be sent;
    /// empty if all of them get it as it is.
    static func all(
        of value: [UInt8], _ parts: [HeldValues.Part], unsent: [HeldValues.Value]
    ) -> [DeliveredValue] {
        let all = parts.map { part in
            let sent = part.value.flatMap { unsent.contains($0) ? nil : $0 }
            return DeliveredValue(central: part.central, bytes: sent?.bytes)
        }
        return all.contains { $0.bytes != value } ? all : []
    }
}
