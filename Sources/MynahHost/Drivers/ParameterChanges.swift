package import MynahCore
import MynahHCI
import MynahSupport

/// A handler of the reports about the connection parameters of links to peripherals.
package typealias ParameterHandler = @Sendable (Peer, ConnectionParameterReport) -> Void

/// Changes the connection parameters of links to peripherals, and stores the calls that wait for a change.
///
/// The object is confined to the radio's executor.
final class ParameterChanges {
    typealias Call = CheckedContinuation<Result<ConnectionParameterRange, RadioError>, Never>

    private let controller: ControllerDriver
    private let acl: ACLDriver
    private var calls = SortedMap<ConnectionHandle, [Call]>()

    init(_ controller: ControllerDriver, _ acl: ACLDriver) {
        self.controller = controller
        self.acl = acl
    }

    /// Changes the parameters of the link to a peripheral, and returns the new ones.
    func change(
        to range: ConnectionParameterRange, of peer: Peer.ID
    ) async throws(RadioError) -> ConnectionParameterRange {
        let link = try acl.table.handle(of: peer)
        return try await withCheckedContinuation { (call: Call) in
            calls[link] = calls[link, default: []] + [call]
            controller.send(.updateParameters, of: link, peer, .updateConnection(link, range))
        }.get()
    }

    /// Ends the calls that wait for a change of a link's parameters, with the given result.
    func end(_ link: ConnectionHandle, _ result: Result<ConnectionParameterRange, RadioError>) {
        for call in calls.removeValue(forKey: link) ?? [] { call.resume(returning: result) }
    }

    /// Ends the calls that wait for a change of a link's parameters, because the change was refused.
    ///
    /// `status` is the reason, or `nil` if the controller has refused the command itself.
    func refused(_ link: ConnectionHandle, _ status: HCIStatus?) {
        let message =
            status.map { "the connection parameters were refused: \($0.hexadecimal)" }
            ?? "the controller refused the connection parameters"
        end(link, .failure(RadioError(.unsupported, message, reason: status?.code)))
    }

    /// Ends the calls of a link that has ended.
    func linkEnded(_ link: ConnectionHandle) {
        end(link, .failure(RadioError(.disconnected, "the link ended")))
    }

    /// Ends all calls, because the radio stops.
    func endAll() {
        for link in Array(calls.keys) { linkEnded(link) }
    }
}
