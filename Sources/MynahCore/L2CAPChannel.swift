/// A channel with a peer beside the attributes, as `CBL2CAPChannel` is: whole pieces of data, in order, both ways.
///
/// Whoever sends waits until the peer has room; what nobody receives keeps the peer from sending more. One that nobody holds
/// any more is closed.
public protocol L2CAPChannel: AnyObject, Sendable {
    /// The number that was published, or asked for.
    var psm: UInt16 { get }
    /// The other end.
    var peer: Peer.ID { get }
    /// The longest piece that the other end takes, in bytes.
    var maximumLength: Int { get }

    /// Sends a piece; returns when all of it is on its way.
    ///
    /// Throws `valueTooLong` for more than `maximumLength`, `disconnected` where the channel is or was closed.
    func send(_ bytes: [UInt8]) async throws(RadioError)

    /// The next piece; nil: the channel is closed, and what came before that has been received.
    ///
    /// One caller at a time waits.
    func receive() async -> [UInt8]?

    /// Closes it.
    func close() async
}

extension GATT {
    /// The characteristic that tells a channel's number, two bytes with the lower first (CBUUIDL2CAPPSMCharacteristicString).
    public static let l2capPSM: BluetoothUUID = "ABDD3056-28FA-441D-A470-55A75A52553A"
}
