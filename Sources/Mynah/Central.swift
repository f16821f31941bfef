public import MynahCore

/// A central that is, or was, connected (after CBCentral).
public struct Central: Hashable, Sendable, Identifiable {
    /// Identifies the central for as long as the radio runs.
    public var id: Peer.ID
    /// The address of the central, or `nil` if the radio does not report it.
    public var address: DeviceAddress?
    /// The name of the central, or `nil` if it is not known.
    public var name: String?
    /// Whether the central is paired.
    public var isPaired: Bool
    /// The ATT_MTU of the link, in bytes, or `nil` if it is not known yet.
    public var mtu: Int?
    /// Whether the link was lost, and neither side ended it.
    package var isLost = false

    init(_ peer: Peer, mtu: Int? = nil) {
        id = peer.id
        address = peer.address
        name = peer.name
        isPaired = peer.isPaired
        self.mtu = mtu
    }

    /// The longest value of one notification or indication, in bytes: ATT_MTU − 3, or 20 if the ATT_MTU is
    /// not known.
    public var maximumUpdateValueLength: Int {
        min((mtu ?? GATT.defaultMTU) - GATT.notificationHeaderLength, GATT.maximumValueLength)
    }
}
