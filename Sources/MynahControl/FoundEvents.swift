package import MynahSupport

/// Events that match, and the event number at which a search continues.
package struct FoundEvents: Hashable, Sendable {
    /// The events, in order.
    package let events: [Journal.Entry]
    /// The number after the last event, which is the `since` for the next request.
    ///
    /// If there are no events, this is the first number that was searched.
    package let next: UInt64
    /// The number of events from `since` on that were lost before they could be searched.
    package let lost: UInt64

    /// The body of the response: `{events, next}`, and `lost` if events were lost.
    package var json: JSON {
        .object(
            [
                .init("events", .array(events.map(\.json))),
                .init("next", .integer(Int(clamping: next))),
            ] + JSON.lost(lost))
    }
}
