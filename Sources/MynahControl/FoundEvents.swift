package import MynahSupport

/// Events that match, and the number at which a search continues.
package struct FoundEvents: Hashable, Sendable {
    /// The events, in order.
    package let events: [Journal.Entry]
    /// The number after the last of them: the `since` of a request for those that follow.
    ///
    /// Without events it is the first number that was looked at.
    package let next: UInt64
    /// How many events from `since` on were not kept long enough to be looked at.
    package let lost: UInt64

    /// The body of the response: `{events, next}`, and `lost` if there are such events.
    package var json: JSON {
        .object(
            [
                .init("events", .array(events.map(\.json))),
                .init("next", .integer(Int(clamping: next))),
            ] + JSON.lost(lost))
    }
}
