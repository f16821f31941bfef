package import MynahCore
import MynahHCI

// Calls for tests.
extension HostRadio: ControllableRadio {
    package func isEncrypted(_ central: Peer.ID) -> Bool? {
        (try? acl.table.handle(of: central)).map { security[$0].isEncrypted }
    }

    package var bondedAddresses: [DeviceAddress] { security.bonds.bonds.map(\.identity) }

    /// Ends a link with a reason code of HCI.
    package func disconnect(_ central: Peer.ID, reason: UInt8) async throws(RadioError) {
        await links.disconnect(central, HCIStatus(reason))
    }

    package var isOn: Bool { controller.isRunning }

    /// The address on the air, or `nil` before the start.
    package var ownAddress: DeviceAddress? { controller.ownAddress }

    package func serve(_ services: [ServiceDefinition], as mode: ServingMode) {
        links.server.serve(services, as: mode)
    }

    package func leave(_ peer: Peer.ID) { acl.table.leave(peer) }
}
