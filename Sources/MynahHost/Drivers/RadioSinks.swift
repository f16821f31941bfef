import MynahCore
import MynahHCI

/// The `RadioSink` of the peripheral role and the `CentralSink` of the central role.
///
/// The radio reports its events to these sinks. The radio's drivers share this object. It is confined to the
/// radio's executor.
final class RadioSinks {
    /// The sink of the peripheral role, or `nil` if it is not started.
    var peripheral: (any RadioSink)? {
        didSet { requests = peripheral }
    }
    /// The sink for reads and writes of centrals, or `nil` if the peripheral role is not started.
    var requests: (any RadioSink)?
    /// The sink of the central role, or `nil` if it is not started.
    var central: (any CentralSink)?
    /// The faults that apply to bonds, and to requests that are not passed to a sink; `nil` if there are
    /// none.
    var faults: LinkFaults?

    /// Called when the central role sends a request to a peripheral, and again when the answer arrives.
    ///
    /// The second call comes before later events are reported.
    var asked: @Sendable (_ isAnswered: Bool) -> Void = { _ in }

    /// Called with the peripheral and each report about the parameters of its link.
    var parameters: ParameterHandler = { _, _ in }

    /// Called with the central that has sent a request for a published attribute, for each such request.
    ///
    /// If the peer is a peripheral for this radio's central role, the first request makes it a central too.
    var served: (Peer.ID) -> Void = { _ in }

    /// Reports an event to the peripheral role.
    @discardableResult
    func tell(_ event: RadioEvent) -> RadioAnswer {
        if let peer = event.requester { served(peer) }
        return peripheral?.handle(event) ?? .none
    }

    /// Reports several events to the peripheral role.
    func tell(_ events: [RadioEvent]) { for event in events { tell(event) } }

    /// Calls `asked` for a request to a peripheral, and returns a closure for the answer.
    ///
    /// The closure calls `asked` again, and then resumes the caller.
    func asking<Answer: Sendable>(
        _ caller: CheckedContinuation<Answer, Never>
    ) -> @Sendable (Answer) -> Void {
        asked(false)
        return { [asked] answer in
            asked(true)
            caller.resume(returning: answer)
        }
    }

    /// Passes a read or a write of a central to the sink for requests.
    @discardableResult
    func ask(_ request: RadioEvent) -> RadioAnswer {
        if let peer = request.requester { served(peer) }
        return requests?.handle(request) ?? .none
    }

    /// Reports an event to the `CentralSink` of the central role.
    @discardableResult
    func tellCentral(_ event: CentralEvent) -> RadioAnswer {
        central?.handle(event) ?? .none
    }

    // MARK: Links

    /// Reports a link to the role in `half`, and the link's MTU if that differs from the default.
    func connected(_ peer: Peer, _ half: Link.Halves, mtu: Int) {
        if half == .peripheral { tell(.connected(peer)) } else { tellCentral(.connected(peer)) }
        guard mtu != GATT.defaultMTU else { return }
        if half == .peripheral {
            tell(.mtuChanged(peer.id, mtu))
        } else {
            tellCentral(.mtuChanged(peer.id, mtu))
        }
    }

    /// Reports the end of a link to the roles to which the link was reported.
    func disconnected(_ peer: Peer.ID, _ halves: Link.Halves, _ error: RadioError?) {
        if halves.contains(.peripheral) {
            if error?.reason == HCIStatus.connectionTimeout.code { tell(.linkLost(peer)) }
            tell(.disconnected(peer))
        }
        if halves.contains(.central) { tellCentral(.disconnected(peer, error)) }
    }

    /// Reports that a peer has paired, to the given roles.
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

    /// Reports the MTU of a link, in bytes, to its roles.
    func tell(mtu: Int, of link: Link) {
        if link.halves.contains(.peripheral) { tell(.mtuChanged(link.peer.id, mtu)) }
        if link.halves.contains(.central) { tellCentral(.mtuChanged(link.peer.id, mtu)) }
    }

    /// Reports a change or a request of connection parameters, to the role that this side has on the link.
    func tell(_ report: ConnectionParameterReport, of link: Link) {
        switch link.role {
        case .peripheral: tell(.parameters(link.peer.id, report))
        case .central:
            guard link.halves.contains(.central) else { return }
            tellCentral(.parameters(link.peer.id, report))
            parameters(link.peer, report)
        }
    }

    /// Reports that notifications and indications, or write commands, can be sent again.
    func tell(_ ready: Outbound.Ready, of links: LinkTable) {
        if ready.values { tell(.readyToSend) }
        for link in ready.writes {
            if let peer = links[link]?.peer.id { tellCentral(.readyToWrite(peer)) }
        }
    }

    /// Reports a new Bluetooth state to both roles.
    ///
    /// If the controller was lost, the error `loss` is reported first.
    func report(_ state: RadioState, after loss: RadioError? = nil) {
        if let loss { tell(.lost(loss)) }
        tell(.stateChanged(state))
        if let loss { tellCentral(.lost(loss)) }
        tellCentral(.stateChanged(state))
    }

    /// Reports a warning to the peripheral role, or to the central role if the peripheral role is not
    /// started.
    func warn(_ warning: RadioWarning) {
        if peripheral == nil { tellCentral(.warning(warning)) } else { tell(.warning(warning)) }
    }
}

extension RadioWarning {
    /// The warning that advertising waits for the end of a link, because the controller cannot do both.
    static func advertisingWaits(_ controller: String) -> RadioWarning {
        let message =
            "\(controller) cannot advertise while it is connected; it advertises again after a link ends"
        return RadioWarning("advertisingWaits", message)
    }
}

extension RadioEvent {
    /// The central that caused this event by a request, or `nil` if no request did.
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
