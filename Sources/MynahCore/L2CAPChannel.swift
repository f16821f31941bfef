/// An L2CAP connection-oriented channel with a peer (after CBL2CAPChannel): whole SDUs, in order, in
/// both directions.
///
/// `send` waits until the peer has given credits. The peer cannot send more while received SDUs are unread. A
/// channel is closed when its last reference is released.
public protocol L2CAPChannel: AnyObject, Sendable {
    /// The PSM of the channel, which one side has published.
    var psm: UInt16 { get }
    /// The peer.
    var peer: Peer.ID { get }
    /// The longest SDU that the peer accepts, in bytes.
    var maximumLength: Int { get }

    /// Sends an SDU; returns when all of it is sent.
    ///
    /// Throws `valueTooLong` for more than `maximumLength` bytes, and `disconnected` if the channel is
    /// closed.
    func send(_ bytes: [UInt8]) async throws(RadioError)

    /// Returns the next SDU, or `nil` if the channel is closed and all earlier SDUs were received.
    ///
    /// Only one caller can wait at a time.
    func receive() async -> [UInt8]?

    /// Closes the channel.
    func close() async
}

extension GATT {
    /// The type of the characteristic that holds the PSM of a channel in two bytes, little-endian
    /// (CBUUIDL2CAPPSMCharacteristicString).
    public static let l2capPSM: BluetoothUUID = "ABDD3056-28FA-441D-A470-55A75A52553A"
}
