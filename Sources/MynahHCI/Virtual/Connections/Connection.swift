import MynahCore
import MynahSupport

/// A connection: its PDUs, its procedures and its timing (Core Specification, Vol 6, Part B, 4.5 and 5).
struct Connection: Sendable {
    enum Stage: Hashable, Sendable {
        case open
        /// The host has ended the connection, and the peer has not acknowledged the end yet.
        case ending
        /// The connection has ended, and its handle is free.
        case over
    }

    let endpoints: ConnectionEndpoints
    private(set) var stage = Stage.open
    private(set) var supervision: ConnectionSupervision
    private var window = TransmitWindow()
    private var procedures = ProcedureQueue()
    var encryption = EncryptionProcedure()
    var version = VersionExchange()
    var features = FeatureExchange()
    var lengths: DataLengthProcedure
    var phys = PHYProcedure()
    var parameters = ParameterProcedure()

    init(
        _ endpoints: ConnectionEndpoints, _ parameters: LEConnection.Parameters,
        _ settings: ConnectionSettings,
        rssi: Int8, at now: AirTime
    ) {
        self.endpoints = endpoints
        supervision = ConnectionSupervision(
            parameters, rssi: rssi, isEstablished: endpoints.role == .peripheral, at: now)
        lengths = DataLengthProcedure(
            sentOctets: settings.suggestedLength.octets, sentTime: settings.suggestedLength.time)
    }

    /// The number of the host's packets that have not been sent, or that the peer has not acknowledged.
    var packetsPending: Int { encryption.heldCount + window.packets }

    // MARK: Sending

    /// Sends the first packets of this side.
    mutating func start(at now: AirTime, _ outbox: inout ControllerOutbox) {
        // The peripheral speaks first on this air, so that the central knows that it is there.
        if endpoints.role == .peripheral { acknowledge(at: now, &outbox) }
        var actions: [ConnectionAction] = []
        lengths.begin(&actions)
        perform(actions, at: now, &outbox)
        supervision.schedule(window.retransmission, encryption.deadline, at: now)
    }

    /// Sends a packet of the host, or holds it until encryption has started.
    mutating func send(_ packet: ACLPacket, at now: AirTime, _ outbox: inout ControllerOutbox) {
        let content = LinkPDU.data(isContinued: packet.boundary == .continuing, packet.data)
        if encryption.isUnderWay { encryption.hold(content) } else { send(content, at: now, &outbox) }
    }

    /// Carries out the actions of a procedure, until the connection has ended.
    mutating func perform(
        _ actions: [ConnectionAction], at now: AirTime, _ outbox: inout ControllerOutbox
    ) {
        if let deadline = encryption.deadline { supervision.wake(by: deadline) }
        for action in actions where stage != .over {
            switch action {
            case .send(let content): send(content, at: now, &outbox)
            case .begin(let request): begin(request, at: now, &outbox)
            case .report(let code, let parameters): outbox.report(code, parameters)
            case .reportLE(let subevent, let parameters): outbox.reportLE(subevent, parameters)
            case .use(let parameters):
                supervision.use(parameters, at: now)
                outbox.reportLE(
                    HCIEvent.LESubevent.connectionUpdateComplete,
                    ParameterProcedure.updateComplete(.success, parameters, endpoints))
            case .terminate(let reason):
                send(.terminate(reason), at: now, &outbox)
                end(reason, &outbox)
            }
        }
    }

    /// Sends a PDU, and repeats it until it is acknowledged.
    private mutating func send(_ content: LinkPDU, at now: AirTime, _ outbox: inout ControllerOutbox) {
        guard !window.isFull else { return end(.connectionTimeout, &outbox) }
        let isFirst = window.retransmission == nil
        let frame = window.send(
            content, access: endpoints.access, interval: supervision.interval, at: now)
        supervision.sent(at: now)
        if isFirst { supervision.schedule(window.retransmission, encryption.deadline, at: now) }
        outbox.transmit(.link(frame), to: endpoints.station)
    }

    /// Sends an acknowledgement without a PDU.
    private mutating func acknowledge(at now: AirTime, _ outbox: inout ControllerOutbox) {
        supervision.sent(at: now)
        outbox.transmit(.link(window.acknowledgement(access: endpoints.access)), to: endpoints.station)
    }

    private mutating func begin(_ request: LinkPDU, at now: AirTime, _ outbox: inout ControllerOutbox) {
        switch procedures.begin(request) {
        case .now: send(request, at: now, &outbox)
        case .later: break
        case .never: end(.connectionTimeout, &outbox)
        }
    }

    // MARK: Ending

    /// Begins to end the connection at the host's request, unless it is ending already.
    mutating func disconnect(_ reason: HCIStatus, _ actions: inout [ConnectionAction]) -> HCIStatus {
        guard stage == .open else { return .commandDisallowed }
        stage = .ending
        actions.append(.send(.terminate(reason)))
        return .success
    }

    /// Ends the connection at once, and reports the end and its reason to the host.
    private mutating func end(_ reason: HCIStatus, _ outbox: inout ControllerOutbox) {
        guard stage != .over else { return }
        let reported = stage == .ending ? .connectionTerminatedByLocalHost : reason
        stage = .over
        outbox.report(HCIEvent.disconnectionComplete, [0] + endpoints.handleBytes + [reported.code])
    }

    /// Sends everything that is due, or ends the connection if the peer has been silent for too long.
    mutating func advance(to now: AirTime, _ outbox: inout ControllerOutbox) {
        guard supervision.wake <= now else { return }
        if supervision.isLost(at: now) {
            let isEstablished = supervision.isEstablished
            return end(isEstablished ? .connectionTimeout : .connectionFailedToBeEstablished, &outbox)
        }
        if let deadline = encryption.deadline, deadline <= now { return end(.llResponseTimeout, &outbox) }
        if let retransmission = window.retransmission, retransmission <= now {
            supervision.sent(at: now)
            window.sendAgain(
                access: endpoints.access, to: endpoints.station, interval: supervision.interval, at: now,
                &outbox)
        } else if supervision.mustSend(at: now) {
            acknowledge(at: now, &outbox)
        }
        supervision.reschedule(window.retransmission, encryption.deadline)
    }

    // MARK: Receiving

    /// Handles a frame of the peer, and sends the answers.
    mutating func receive(
        _ frame: LinkFrame, rssi: Int8, _ settings: ConnectionSettings, at now: AirTime,
        _ outbox: inout ControllerOutbox
    ) {
        supervision.heard(rssi: rssi, at: now)
        reportAcknowledged(
            window.acknowledge(frame.expected, interval: supervision.interval, at: now), &outbox)
        guard let content = frame.content, stage != .over else { return }
        // Of a frame that was received before, or that came before its time, the peer learns what is
        // expected.
        guard window.receive(frame.sequence) else { return acknowledge(at: now, &outbox) }
        let next = window.nextSequence
        if case .data(let isContinued, let bytes) = content {
            deliver(bytes, isContinued: isContinued, settings, &outbox)
        } else {
            receiveControl(content, settings, at: now, &outbox)
        }
        // Every frame acknowledges; if none was sent, one goes out for that.
        if stage != .over, window.nextSequence == next { acknowledge(at: now, &outbox) }
    }

    /// Reports to the host the packets that the peer has acknowledged (Vol 4, Part E, 4.1.1).
    private mutating func reportAcknowledged(
        _ found: TransmitWindow.Acknowledged, _ outbox: inout ControllerOutbox
    ) {
        if found.packets > 0 {
            let handle = endpoints.handle.rawValue
            outbox.report(
                HCIEvent.numberOfCompletedPackets,
                [
                    1, UInt8(handle & 0xFF), UInt8(handle >> 8),
                    UInt8(found.packets & 0xFF), UInt8(truncatingIfNeeded: found.packets >> 8),
                ])
        }
        if found.hasTerminated { end(.connectionTerminatedByLocalHost, &outbox) }
    }

    /// Passes data to the host, in packets as long as the data length and the host's buffers allow.
    private func deliver(
        _ bytes: [UInt8], isContinued: Bool, _ settings: ConnectionSettings, _ outbox: inout ControllerOutbox
    ) {
        let size = max(27, min(Int(lengths.receivedOctets), settings.packetLength))
        var boundary: ACLPacket.Boundary = isContinued ? .continuing : .firstFlushable
        guard bytes.count > size else {
            return outbox.deliver(ACLPacket(handle: endpoints.handle, boundary: boundary, data: bytes))
        }
        var rest = bytes[...]
        repeat {
            let piece = rest.prefix(size)
            rest = rest.dropFirst(piece.count)
            outbox.deliver(ACLPacket(handle: endpoints.handle, boundary: boundary, data: Array(piece)))
            boundary = .continuing
        } while !rest.isEmpty
    }

    private mutating func receiveControl(
        _ content: LinkPDU, _ settings: ConnectionSettings, at now: AirTime, _ outbox: inout ControllerOutbox
    ) {
        if case .terminate(let reason) = content {
            acknowledge(at: now, &outbox)
            return end(reason, &outbox)
        }
        var actions: [ConnectionAction] = []
        receiveProcedure(content, settings, at: now, outbox, &actions)
        perform(actions, at: now, &outbox)
        if stage != .over, let next = procedures.end(with: content) { send(next, at: now, &outbox) }
    }

    /// Passes a control PDU to its procedure (2.4.2).
    private mutating func receiveProcedure(
        _ content: LinkPDU, _ settings: ConnectionSettings, at now: AirTime, _ outbox: ControllerOutbox,
        _ actions: inout [ConnectionAction]
    ) {
        switch content {
        case .data, .terminate: break
        case .encryptionRequest, .startEncryption, .encryptionProof, .encrypted, .encryptionRejected:
            encryption.receive(
                content, on: endpoints,
                takesRequest: outbox.takesLE(HCIEvent.LESubevent.longTermKeyRequest), at: now, &actions)
        case .featureRequest(let wanted): features.receiveRequest(wanted, own: settings.features, &actions)
        case .featureResponse(let found): features.receiveResponse(found, endpoints, &actions)
        case .version(let number, let company, let subversion, let isAnswer):
            version.receive(
                LinkVersion(version: number, company: company, subversion: subversion), isAnswer: isAnswer,
                own: settings.version, endpoints, &actions)
        case .lengthRequest(let wanted): lengths.receive(wanted, isRequest: true, endpoints, &actions)
        case .lengthResponse(let found): lengths.receive(found, isRequest: false, endpoints, &actions)
        case .phyRequest(let sending, let receiving):
            phys.receiveRequest(
                LinkPHYs(sending: sending, receiving: receiving), settings, endpoints, &actions)
        case .phyUpdate(let sending, let receiving):
            phys.receiveUpdate(LinkPHYs(sending: sending, receiving: receiving), endpoints, &actions)
        case .connectionUpdate(let wanted):
            parameters.receiveUpdate(wanted, as: endpoints.role, &actions)
        case .parameterRequest(let minimum, let wanted):
            parameters.receiveRequest(
                minimum: minimum, wanted, endpoints,
                takesRequest: outbox.takesLE(HCIEvent.LESubevent.remoteConnectionParameterRequest), &actions)
        case .parametersRejected(let reason):
            parameters.receiveRejection(reason, supervision.parameters, endpoints, &actions)
        }
    }
}
