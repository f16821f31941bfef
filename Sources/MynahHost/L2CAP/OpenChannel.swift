import MynahCore
import MynahHCI

/// Names a channel for as long as the radio exists.
struct ChannelKey: Hashable, Sendable {
    var link: ConnectionHandle
    /// This end's channel identifier.
    var channel: UInt16
    var number: UInt64
}

/// A channel for its user.
struct ChannelEnd: Hashable, Sendable {
    var key: ChannelKey
    /// The number that it was opened to.
    var psm: UInt16
    var peer: Peer.ID
    /// The longest SDU that the peer takes, in bytes.
    var maximumLength: Int
}

/// A channel as `L2CAPManager` keeps it.
struct OpenChannel: Sendable {
    var key: ChannelKey
    /// The number of this side's that it was opened to, or `nil` if this side opened it.
    var service: UInt16?
    /// The other end's channel identifier.
    var peer: UInt16
    var machine: CreditChannel
    /// SDUs that were not read yet.
    var inbox: [[UInt8]] = []
    /// Whether the next SDU is awaited.
    var isAwaited = false
    /// Whether `sent` is awaited.
    var isSendAwaited = false
}
