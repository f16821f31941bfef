import Logging
import MynahCore
import MynahHCI

/// Drives the L2CAP of every link: channels, and requests for connection parameters.
///
/// The driver is confined to the radio's executor. Its PDUs are queued in the `Outbound` of the `ACLDriver`,
/// with those of all other drivers.
final class ChannelDriver {
    typealias Call<Value> = CheckedContinuation<Result<Value, RadioError>, Never>

    private let environment: Environment
    private let timer: HostTimer
    private let sinks: RadioSinks
    private let controller: ControllerDriver
    private let acl: ACLDriver
    /// The radio that the channels belong to.
    weak var radio: HostRadio?
    private var l2cap: L2CAPManager
    /// Calls that wait for a channel to open, by number.
    private var openings: [UInt64: Call<ChannelEnd>] = [:]
    /// Calls that wait for a central's response to a request for connection parameters, by number.
    private var parameters: [UInt64: (call: Call<Bool>, link: ConnectionHandle, ConnectionParameterRange)] =
        [:]
    /// Changes the parameters of links to peripherals.
    let changes: ParameterChanges
    /// Calls that wait for the next SDU of a channel.
    private var readers: [ChannelKey: CheckedContinuation<[UInt8]?, Never>] = [:]
    /// Calls that wait until SDUs are sent on a channel.
    private var writers: [ChannelKey: [Call<Void>]] = [:]

    init(
        _ environment: Environment, _ timer: HostTimer, _ sinks: RadioSinks, _ controller: ControllerDriver,
        _ acl: ACLDriver
    ) {
        self.environment = environment
        self.timer = timer
        self.sinks = sinks
        self.controller = controller
        self.acl = acl
        changes = ParameterChanges(controller, acl)
        l2cap = L2CAPManager(timeout: environment.options.transactionTimeout)
    }

    /// Whether any link has a channel.
    var hasChannels: Bool { l2cap.hasChannels }

    /// Applies the rules of a device for accepting connection parameters.
    func begin(as identity: DeviceIdentity) { l2cap.rules = identity.parameterRules }

    /// Configures L2CAP for the controller's supported commands.
    func configure(on profile: ControllerProfile) {
        l2cap.canUpdateParameters = profile.supportedCommands.allows(.leConnectionUpdate)
    }

    /// Removes all channels, because the radio stops.
    func reset() {
        l2cap.removeAll()
        changes.endAll()
    }

    /// Handles the beginning of a link.
    func began(_ link: Link) {
        l2cap.addLink(link.handle, to: link.peer.id, as: link.role)
    }

    /// Ends the channels and requests of a link that has ended.
    func ended(_ link: ConnectionHandle) {
        var actions: [L2CAPManager.Action] = []
        l2cap.end(link, &actions)
        for action in actions { carryOut(action) }
        changes.linkEnded(link)
    }

    /// Sends packets and data of channels until the controller has no more room.
    func sendData() {
        repeat { acl.transmit() } while hasChannels && fill()
    }

    /// Queues data of channels while there is room; returns whether any data was queued.
    private func fill() -> Bool {
        var actions: [L2CAPManager.Action] = []
        let isAny = l2cap.fill(&acl.outbound, &actions)
        for action in actions { carryOut(action) }
        return isAny
    }

    // MARK: Requests of the user

    /// Publishes a PSM, to which centrals open channels, and returns it.
    func publish(isEncrypted: Bool) throws(RadioError) -> UInt16 {
        guard sinks.peripheral != nil else {
            throw RadioError(.invalidState, "the radio has not been started")
        }
        return try l2cap.publish(isEncrypted: isEncrypted)
    }

    /// Withdraws the PSM, and closes the channels that were opened to it.
    func unpublish(_ psm: UInt16) {
        change { $0.unpublish(psm, &$1, &$2) }
    }

    /// Opens a channel to a PSM that a peer has published.
    func open(_ psm: UInt16, with peer: Peer.ID) async throws(RadioError) -> ChannelEnd {
        let handle = try acl.table.handle(of: peer)
        return try await withCheckedContinuation { continuation in
            change { l2cap, outbound, actions in
                let call = l2cap.open(psm, on: handle, at: environment.now(), &outbound, &actions)
                openings[call] = continuation
            }
        }.get()
    }

    /// Requests connection parameters from a central; returns `false` if the central refuses.
    func askForParameters(
        _ range: ConnectionParameterRange, of central: Peer.ID
    ) async throws(RadioError) -> Bool {
        let handle = try acl.table.handle(of: central)
        return try await withCheckedContinuation { continuation in
            change { l2cap, outbound, actions in
                let call = l2cap.askForParameters(
                    range, on: handle, at: environment.now(), &outbound, &actions)
                parameters[call] = (continuation, handle, range)
            }
        }.get()
    }

    // MARK: A channel

    func send(_ bytes: [UInt8], over key: ChannelKey) async throws(RadioError) {
        try await withCheckedContinuation { (continuation: Call<Void>) in
            change { l2cap, outbound, actions in
                do throws(RadioError) {
                    guard try !l2cap.send(bytes, over: key, &outbound, &actions) else {
                        return continuation.resume(returning: .success(()))
                    }
                    writers[key, default: []].append(continuation)
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }.get()
    }

    func receive(from key: ChannelKey) async -> [UInt8]? {
        if let next = takeReceived(from: key) { return next }
        return await withCheckedContinuation { continuation in
            // An SDU may have arrived since the check above.
            if let next = takeReceived(from: key) { return continuation.resume(returning: next) }
            guard l2cap.awaitNext(key) else { return continuation.resume(returning: nil) }
            readers[key] = continuation
        }
    }

    private func takeReceived(from key: ChannelKey) -> [UInt8]? {
        guard let next = l2cap.takeReceived(key, &acl.outbound) else { return nil }
        sendData()
        return next
    }

    func close(_ key: ChannelKey) {
        change { $0.close(key, &$1, &$2) }
    }

    func drop(_ key: ChannelKey) {
        change { $0.drop(key, &$1, &$2) }
    }

    // MARK: The part

    /// Handles a frame of the signalling channel or of an open channel.
    func receive(_ frame: L2CAPFrame, on handle: ConnectionHandle, _ security: LinkSecurity) {
        change { $0.receive(frame, on: handle, security, &$1, &$2) }
    }

    /// Handles the timeout of an L2CAP request.
    func signalDue(_ link: ConnectionHandle, _ identifier: UInt8) {
        change { $0.expire(identifier, on: link, &$2) }
    }

    // MARK: Connection parameters

    /// Handles a request of the peer for connection parameters on the Link Layer, or a change of the
    /// parameters.
    func handle(_ event: HCIEventContent) {
        switch event {
        case .remoteParameterRequest(let handle, let minimum, let maximum, let latency, let timeout):
            let wanted = ConnectionParameterRange(
                minimum: minimum, maximum: maximum, latency: latency, timeout: timeout)
            let rules = acl.table[handle]?.role == .central ? l2cap.rules : .specification
            let refusal = rules.refusal(of: wanted)
            let isAccepted = refusal == nil
            controller.send(
                .answer(handle, wanted, isAccepted: isAccepted),
                "answering a request for connection parameters")
            report(
                .requested(.init(wanted, by: .linkLayer, isAccepted: isAccepted, refusal)), of: handle)
        case .connectionUpdateComplete(.success, let handle, let new):
            report(.changed(new.range), of: handle)
            changes.end(handle, .success(new.range))
        case .connectionUpdateComplete(let status, let handle, _): changes.refused(handle, status)
        default: break
        }
    }

    private func report(_ content: ConnectionParameterReport.Content, of link: ConnectionHandle) {
        if let link = acl.table[link] { sinks.tell(ConnectionParameterReport(content), of: link) }
    }

    /// Changes the state of L2CAP, sends the resulting frames, and carries out the resulting actions.
    private func change(
        _ body: (inout L2CAPManager, inout Outbound, inout [L2CAPManager.Action]) -> Void
    ) {
        var actions: [L2CAPManager.Action] = []
        body(&l2cap, &acl.outbound, &actions)
        sendData()
        for action in actions { carryOut(action) }
    }

    private func carryOut(_ action: L2CAPManager.Action) {
        switch action {
        case .opened(let end):
            if let radio { sinks.tell(.channelOpened(HostChannel(end, of: radio))) }
        case .openEnded(let call, let result):
            openings.removeValue(forKey: call)?.resume(returning: result)
        case .parametersEnded(let call, let result):
            guard let (waiting, link, range) = parameters.removeValue(forKey: call) else { return }
            if case .success(let isAccepted) = result {
                report(.requested(.init(range, by: .l2cap, isAccepted: isAccepted)), of: link)
            }
            waiting.resume(returning: result)
        case .watchAnswer(let link, let identifier, let due): timer[.signal(link, identifier)] = due
        case .updateParameters(let link, let range):
            controller.send(.updateConnection(link, range), "changing the parameters of a connection")
        case .parametersRequested(let link, let request): report(.requested(request), of: link)
        case .received(let key, let sdu):
            readers.removeValue(forKey: key)?.resume(returning: sdu)
        case .sent(let key, let result):
            for waiter in writers.removeValue(forKey: key) ?? [] {
                waiter.resume(returning: result)
            }
        case .violated(let reason):
            environment.logger.notice("channel closed", metadata: ["reason": "\(reason)"])
        }
    }
}

extension LEConnection.Parameters {
    /// The current parameters as a range with a single interval.
    fileprivate var range: ConnectionParameterRange {
        ConnectionParameterRange(minimum: interval, maximum: interval, latency: latency, timeout: timeout)
    }
}
