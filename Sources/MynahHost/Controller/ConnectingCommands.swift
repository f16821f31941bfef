import MynahCore
import MynahHCI
import MynahSupport

extension Connector.Step {
    /// The step as a verb phrase for messages, as in "refused connecting".
    var purpose: String {
        switch self {
        case .clearAcceptList: "clearing the filter accept list"
        case .accept: "filling the filter accept list"
        case .create: "connecting"
        case .cancel: "cancelling a connection"
        }
    }
}

extension HCICommand {
    /// The connection parameters that an iPhone was seen to use: interval 30 ms, latency 0, supervision
    /// timeout 720 ms.
    private static let parameters = LEConnection.Parameters()

    /// The command that carries out a step (Core Specification, Vol 4, Part E, 7.8.12, 7.8.13, 7.8.15, 7.8.16
    /// and 7.8.66).
    init(_ step: Connector.Step, style: CommandStyle, address: DeviceAddress?) {
        switch step {
        case .clearAcceptList: self.init(.leClearFilterAcceptList)
        case .accept(let peer):
            var writer = ByteWriter(capacity: 7)
            writer.write(withKind: peer)
            self.init(.leAddDeviceToFilterAcceptList, writer.bytes)
        case .create(let peer): self.init(to: peer, style, address)
        case .cancel: self.init(.leCreateConnectionCancel)
        }
    }

    private init(to peer: DeviceAddress?, _ style: CommandStyle, _ address: DeviceAddress?) {
        let own = address?.kindCode ?? 0
        // One peripheral is found by its address, several by the filter accept list.
        let policy: UInt8 = peer == nil ? 1 : 0
        // The scan window and the scan interval are both 60 ms.
        let scanning: [UInt16] = [0x0060, 0x0060]
        let parameters = Self.parameters
        let wanted = [parameters.interval, parameters.interval, parameters.latency, parameters.timeout, 0, 0]
        var writer = ByteWriter(capacity: 26)
        switch style {
        case .legacy:
            for value in scanning { writer.write(value) }
            writer.write(policy)
            writer.write(withKind: peer)
            writer.write(own)
            for value in wanted { writer.write(value) }
            self.init(.leCreateConnection, writer.bytes)
        case .extended:
            writer.write([policy, own] as [UInt8])
            writer.write(withKind: peer)
            // LE 1M only.
            writer.write(0x01 as UInt8)
            for value in scanning + wanted { writer.write(value) }
            self.init(.leExtendedCreateConnection, writer.bytes)
        }
    }
}

extension ByteWriter {
    /// Writes the type of an address and the address, or zeros if there is no address.
    fileprivate mutating func write(withKind address: DeviceAddress?) {
        guard let address else { return write([0, 0, 0, 0, 0, 0, 0] as [UInt8]) }
        write(address.kindCode)
        write(address)
    }
}
