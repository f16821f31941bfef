import MynahCore
import MynahSupport

/// LE Connection Complete, or LE Enhanced Connection Complete if the host enabled it (Core Specification, Vol
/// 4, Part E, 7.7.65.1 and 7.7.65.10).
struct ConnectionComplete: Hashable, Sendable {
    private let status: HCIStatus
    private let handle: ConnectionHandle
    private let role: LEConnection.Role
    private let peer: Identity
    /// The resolvable private address that the controller generated for itself, or `nil`.
    private let local: DeviceAddress?
    /// The parameters, or `nil` if there is no connection.
    private let parameters: LEConnection.Parameters?

    /// Makes the event for the end of advertising or initiating without a connection.
    init(_ status: HCIStatus, role: LEConnection.Role, peer: DeviceAddress) {
        self.status = status
        handle = 0
        self.role = role
        self.peer = Identity(address: peer)
        local = nil
        parameters = nil
    }

    /// Makes the event for a new connection; `isLocalMade` is `true` if the controller generated its own
    /// address.
    init(_ endpoints: ConnectionEndpoints, _ parameters: LEConnection.Parameters, isLocalMade: Bool) {
        status = .success
        handle = endpoints.handle
        role = endpoints.role
        peer = endpoints.peer
        local = isLocalMade ? endpoints.local : nil
        self.parameters = parameters
    }

    func report(to outbox: inout ControllerOutbox) {
        let isEnhanced = outbox.takesLE(HCIEvent.LESubevent.enhancedConnectionComplete)
        var writer = ByteWriter(capacity: 32)
        writer.write(status.code)
        writer.write(handle)
        writer.write(role.rawValue)
        writer.write(isEnhanced ? peer.kindCode : peer.address.kindCode)
        writer.write(peer.address)
        if isEnhanced {
            for address in [local, peer.onAir] {
                if let address { writer.write(address) } else { writer.write(repeatElement(0, count: 6)) }
            }
        }
        if let parameters { writer.write(parameters) } else { writer.write(repeatElement(0, count: 6)) }
        writer.write(0 as UInt8)
        outbox.reportLE(
            isEnhanced
                ? HCIEvent.LESubevent.enhancedConnectionComplete : HCIEvent.LESubevent.connectionComplete,
            writer.bytes)
    }
}
