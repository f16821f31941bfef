package import MynahCore

/// A value for a subscriber, as changed by faults.
package struct DeliveredValue: Hashable, Sendable {
    /// The subscriber, or `nil` for all subscribers together if the radio does not identify them.
    package let central: Peer.ID?
    /// The bytes that are sent to the subscriber, or `nil` if a fault drops the value or makes it too long.
    package let bytes: [UInt8]?
}

extension DeliveredValue {
    /// The value as sent to each subscriber, or an empty list if every subscriber gets `value` unchanged.
    ///
    /// `unsent` has the values that the radio could not send; the result has no bytes for them.
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
