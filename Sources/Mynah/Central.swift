public import MynahCore

/// A central that is, or was, connected (after CBCentral).
public struct Central: Hashable, Sendable, Identifiable {
    /// What the radio calls it, for as long as the radio runs.
    public var id: Peer.ID
    /// Its address, or `nil` if the radio does not report it.
    public var address: DeviceAddress?
    /// Its name, or `nil` if it gave none.
    public var name: String?
    /// Whether it is paired.
    public var isPaired: Bool
    /// The ATT_MTU of its link, in bytes; `nil` if it is not known yet.
    public var mtu: Int?

    init(_ peer: Peer, mtu: Int? = nil) {
        id = peer.id
        address = peer.address
        name = peer.name
        isPaired = peer.isPaired
        self.mtu = mtu
    }

    /// How many bytes one notification or indication carries to it: ATT_MTU − 3, and 20 if the MTU is not
    /// known.
    public var maximumUpdateValueLength: Int {
        min((mtu ?? GATT.defaultMTU) - GATT.notificationHeaderLength, GATT.maximumValueLength)
    }
}
