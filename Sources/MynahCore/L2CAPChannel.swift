/// An L2CAP connection-oriented channel with a peer (after CBL2CAPChannel): whole SDUs, in order, in
/// both directions.
///
/// `send` waits until the peer has given credits. SDUs that are not read here keep the peer from sending
/// more. A channel is closed when its last reference is released.
public protocol L2CAPChannel: AnyObject, Sendable {
    /// The PSM that was published, or asked for.
    var psm: UInt16 { get }
    /// The peer.
    var peer: Peer.ID { get }
    /// The longest SDU that the peer takes, in bytes.
    var maximumLength: Int { get }

    /// Sends an SDU; returns when all of it is sent.
    ///
    /// Throws `valueTooLong` for more than `maximumLength`, `disconnected` if the channel is or was closed.
    func send(_ bytes: [UInt8]) async throws(RadioError)

    /// Returns the next SDU, or `nil` if the channel is closed and everything that came before has been
    /// received.
    ///
    /// One caller at a time waits.
    func receive() async -> [UInt8]?

    /// Closes the channel.
    func close() async
}

extension GATT {
    /// The characteristic type for the PSM of a channel, two bytes, little-endian
    /// (CBUUIDL2CAPPSMCharacteristicString).
    public static let l2capPSM: BluetoothUUID = "ABDD3056-28FA-441D-A470-55A75A52553A"
}
