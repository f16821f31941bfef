import MynahCore
import MynahHCI

/// Identifies a channel for as long as the radio exists.
struct ChannelKey: Hashable, Sendable {
    var link: ConnectionHandle
    /// The channel identifier at this side.
    var channel: UInt16
    var number: UInt64
}

/// A channel as reported to its user.
struct ChannelEnd: Hashable, Sendable {
    var key: ChannelKey
    /// The PSM that the channel was opened to.
    var psm: UInt16
    var peer: Peer.ID
    /// The longest SDU that the peer accepts, in bytes.
    var maximumLength: Int
}

/// The state of a channel in `L2CAPManager`.
struct OpenChannel: Sendable {
    var key: ChannelKey
    /// The PSM of this side that the channel was opened to, or `nil` if this side opened the channel.
    var service: UInt16?
    /// The channel identifier at the peer's side.
    var peer: UInt16
    var machine: CreditChannel
    /// Received SDUs that have not been read yet.
    var inbox: [[UInt8]] = []
    /// Whether the next SDU was requested.
    var isAwaited = false
    /// Whether a call waits for the action `sent`.
    var isSendAwaited = false
}
