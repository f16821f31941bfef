import MynahCore
import MynahHCI

/// Identifies a channel; no two channels of a radio ever have equal keys.
struct ChannelKey: Hashable, Sendable {
    var link: ConnectionHandle
    /// The channel identifier at this side.
    var channel: UInt16
    var number: UInt64
}

/// A channel's description for its user.
struct ChannelEnd: Hashable, Sendable {
    var key: ChannelKey
    /// The PSM to which the channel was opened.
    var psm: UInt16
    var peer: Peer.ID
    /// The length of the longest SDU that the peer accepts, in bytes.
    var maximumLength: Int
}

/// The state of a channel in `L2CAPManager`.
struct OpenChannel: Sendable {
    var key: ChannelKey
    /// The published PSM to which the peer opened the channel, or `nil` if this side opened the channel.
    var service: UInt16?
    /// The channel identifier on the peer's side.
    var peer: UInt16
    var machine: CreditChannel
    /// Received SDUs that have not been read yet.
    var inbox: [[UInt8]] = []
    /// Whether a call waits for the next SDU.
    var isAwaited = false
    /// Whether a call waits for the action `sent`.
    var isSendAwaited = false
}
