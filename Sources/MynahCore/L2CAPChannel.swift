/// An L2CAP connection-oriented channel, which transfers SDUs in both directions (like CBL2CAPChannel).
///
/// `send` waits until the peer has given enough credits. The peer cannot send while too many received SDUs
/// are unread. A channel is closed when its last reference is released.
public protocol L2CAPChannel: AnyObject, Sendable {
    /// The PSM to which the channel was opened.
    var psm: UInt16 { get }
    /// The device at the other end of the channel.
    var peer: Peer.ID { get }
    /// The longest SDU that the peer accepts, in bytes.
    var maximumLength: Int { get }

    /// Sends an SDU, and returns when all of it was sent.
    ///
    /// Throws `valueTooLong` for more than `maximumLength` bytes, and `disconnected` if the channel is
    /// closed.
    func send(_ bytes: [UInt8]) async throws(RadioError)

    /// Returns the next SDU, or `nil` if the channel is closed and there are no more SDUs.
    ///
    /// Only one caller can wait at a time.
    func receive() async -> [UInt8]?

    /// Closes the channel.
    func close() async
}

extension GATT {
    /// The UUID of the characteristic that contains the PSM of a channel in two bytes, little-endian
    /// (CBUUIDL2CAPPSMCharacteristicString).
    public static let l2capPSM: BluetoothUUID = "ABDD3056-28FA-441D-A470-55A75A52553A"
}
