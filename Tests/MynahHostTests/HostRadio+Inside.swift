import MynahCore
import MynahHCI

@testable import MynahHost

// The internal state of a radio for tests; its drivers do not leave its executor.
extension HostRadio {
    var session: ControllerSession { controller.session }
    var ownAddress: DeviceAddress? { controller.ownAddress }
    var isStopped: Bool { if case .stopped = stage { true } else { false } }

    /// How many calls wait for another call of `stop`.
    var waitingStops: Int { if case .stopping(let waiting) = stage { waiting.count } else { 0 } }

    func visible(_ packet: H4Packet) -> String { packet.visibleBody { acl.channel(of: $0) } }

    func due(_ deadline: HostDeadline) -> Duration? { timer[deadline] }

    func look<Value: Sendable>(_ body: @Sendable (LinkDriver) -> Value) -> Value { body(links) }

    var waitingConnections: Int { access.connections.count }
}
