import MynahCore
import MynahHCI

/// The sinks of a radio's two roles.
///
/// Its drivers share it. It is confined to the radio's executor.
final class RadioSinks {
    /// The sink of the peripheral role, or `nil` if it is not started.
    var peripheral: (any RadioSink)? {
        didSet { requests = peripheral }
    }
    /// The sink of centrals' reads and writes.
    var requests: (any RadioSink)?
    /// The sink of the central role, or `nil` if it is not started.
    var central: (any CentralSink)?
    /// The faults below the sinks, or `nil` without a layer of faults around the radio.
    var faults: LinkFaults?

    /// Reports to the peripheral's half.
    @discardableResult
    func tell(_ event: RadioEvent) -> RadioAnswer {
        peripheral?.handle(event) ?? .none
    }

    /// Passes on a read or a write of a central.
    @discardableResult
    func ask(_ request: RadioEvent) -> RadioAnswer {
        requests?.handle(request) ?? .none
    }

    /// Reports to the central's half.
    @discardableResult
    func tellCentral(_ event: CentralEvent) -> RadioAnswer {
        central?.handle(event) ?? .none
    }

    /// Reports the MTU of a link, in bytes.
    func tell(mtu: Int, of link: Link) {
        if link.halves.contains(.peripheral) { tell(.mtuChanged(link.peer.id, mtu)) }
        if link.halves.contains(.central) { tellCentral(.mtuChanged(link.peer.id, mtu)) }
    }

    /// Reports that there is room again on links.
    func tell(_ ready: Outbound.Ready, of links: LinkTable) {
        if ready.values { tell(.readyToSend) }
        for link in ready.writes {
            if let peer = links[link]?.peer.id { tellCentral(.readyToWrite(peer)) }
        }
    }

    /// Reports another Bluetooth state to both halves, and before it why the controller is gone, if it is.
    func report(_ state: RadioState, after loss: RadioError? = nil) {
        if let loss { tell(.lost(loss)) }
        tell(.stateChanged(state))
        if let loss { tellCentral(.lost(loss)) }
        tellCentral(.stateChanged(state))
    }

    /// Warns the peripheral's half, or the central's if that alone is started.
    func warn(_ warning: RadioWarning) {
        if peripheral == nil { tellCentral(.warning(warning)) } else { tell(.warning(warning)) }
    }
}
