import MynahCore

/// The two sides of a connection, which never change.
struct ConnectionEndpoints: Sendable {
    /// The connection handle.
    let handle: ConnectionHandle
    /// The role of this side.
    let role: LEConnection.Role
    /// The peer's station.
    let station: Station
    /// The access address.
    let access: UInt32
    let peer: Identity
    /// This side's address on the air.
    let local: DeviceAddress

    /// The bytes of the handle in events.
    var handleBytes: [UInt8] { handle.littleEndianBytes }
}
