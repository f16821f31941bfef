import MynahCore
import MynahHCI

/// The sinks of a radio's two roles.
///
/// The radio's drivers share them. They are confined to the radio's executor.
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

    /// Called when the central's half asks something of a peripheral, and when the answer has come, before
    /// later events.
    var asked: @Sendable (_ isAnswered: Bool) -> Void = { _ in }

    /// Called with the sender of a request for a published attribute.
    ///
    /// A device that this one has connected to becomes a central with its first such request.
    var served: (Peer.ID) -> Void = { _ in }

    /// Reports to the peripheral's half.
    @discardableResult
    func tell(_ event: RadioEvent) -> RadioAnswer {
        if let peer = event.requester { served(peer) }
        return peripheral?.handle(event) ?? .none
    }

    /// Reports several events to the peripheral's half.
    func tell(_ events: [RadioEvent]) { for event in events { tell(event) } }

    /// Tells `asked` that something is asked of a peripheral; returns a closure for the answer, which tells
    /// it of that too before the caller has it.
    func asking<Answer: Sendable>(
        _ caller: CheckedContinuation<Answer, Never>
    ) -> @Sendable (Answer) -> Void {
        asked(false)
        return { [asked] answer in
            asked(true)
            caller.resume(returning: answer)
        }
    }

    /// Passes on a read or a write of a central.
    @discardableResult
    func ask(_ request: RadioEvent) -> RadioAnswer {
        if let peer = request.requester { served(peer) }
        return requests?.handle(request) ?? .none
    }

    /// Reports to the central's half.
    @discardableResult
    func tellCentral(_ event: CentralEvent) -> RadioAnswer {
        central?.handle(event) ?? .none
    }

    // MARK: Links

    /// Reports a link to one half, and its MTU if that was agreed on before.
    func connected(_ peer: Peer, _ half: Link.Halves, mtu: Int) {
        if half == .peripheral { tell(.connected(peer)) } else { tellCentral(.connected(peer)) }
        guard mtu != GATT.defaultMTU else { return }
        if half == .peripheral {
            tell(.mtuChanged(peer.id, mtu))
        } else {
            tellCentral(.mtuChanged(peer.id, mtu))
        }
    }

    /// Reports the end of a link to the halves that it was reported to.
    func disconnected(_ peer: Peer.ID, _ halves: Link.Halves, _ error: RadioError?) {
        if halves.contains(.peripheral) {
            if error?.reason == HCIStatus.connectionTimeout.code { tell(.linkLost(peer)) }
            tell(.disconnected(peer))
        }
        if halves.contains(.central) { tellCentral(.disconnected(peer, error)) }
    }

    /// Reports that the peer of a link has paired.
    func paired(_ peer: Peer, _ halves: Link.Halves) {
        if halves.contains(.peripheral) {
            tell(.peerChanged(peer))
            tell(.paired(peer.id))
        }
        if halves.contains(.central) {
            tellCentral(.peerChanged(peer))
            tellCentral(.paired(peer.id))
        }
    }

    /// Reports the MTU of a link, in bytes.
    func tell(mtu: Int, of link: Link) {
        if link.halves.contains(.peripheral) { tell(.mtuChanged(link.peer.id, mtu)) }
        if link.halves.contains(.central) { tellCentral(.mtuChanged(link.peer.id, mtu)) }
    }

    /// Reports something about the connection parameters of a link, once: to the half in whose role it is.
    func tell(_ report: ConnectionParameterReport, of link: Link) {
        switch link.role {
        case .peripheral: tell(.parameters(link.peer.id, report))
        case .central:
            if link.halves.contains(.central) { tellCentral(.parameters(link.peer.id, report)) }
        }
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

extension RadioEvent {
    /// The central whose request caused this event, or `nil` if no request did.
    fileprivate var requester: Peer.ID? {
        switch self {
        case .read(let request), .answeredRead(let request, _): request.central
        case .write(let request): request.central
        case .subscribed(_, let central, _), .unsubscribed(_, let central): central
        case .refused(let request): request.central
        default: nil
        }
    }
}
