import MynahCore
import MynahProfiles
package import MynahSupport
package import MynahValues

/// The result of setting a value.
package struct SetResult: Hashable, Sendable {
    /// The value that the attribute has now.
    package var value: [UInt8]
    /// The number of centrals that the value was sent to, or `nil` if the radio cannot count them.
    package var sent: Int?
    /// The layout of the value, or `nil` if it is not known.
    package var layout: ValueLayout?

    /// The result as a JSON object, without `sent` if that is `nil`.
    package var json: JSON {
        .object(
            JSON.members(of: value, layout) + (sent.map { [.init("sent", .integer($0))] } ?? []))
    }
}
