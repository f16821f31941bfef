import Logging
import MynahCore
import MynahHCI
import MynahSupport

/// Drives the controller through its transport, and searches for a lost controller.
///
/// The driver has no reference to the other drivers: it returns received packets to its owner, and requests
/// everything else by actions. It is confined to the radio's executor.
final class ControllerDriver {
    private typealias Answer = CheckedContinuation<Result<[UInt8], RadioError>, Never>

    /// The longest pause between two attempts to open the transport of a lost controller.
    private static let longestRecoveryPause = Duration.seconds(5)

    private let environment: Environment
    private let timer: HostTimer
    private let sinks: RadioSinks
    /// Passes an action to the other drivers.
    var act: (ControllerAction) -> Void = { _ in }
    /// Returns the source of the own address; the argument is the controller's public address.
    var addressSource: (DeviceAddress?) -> OwnAddress.Source? = { _ in nil }
    /// Measures the radio's use of the air.
    let meter = AirMeter()
    private(set) var session: ControllerSession
    private(set) var stage = ControllerStage.absent
    private var inlet: ControllerInlet?
    /// The number of transports opened so far; packets of earlier transports are dropped.
    private(set) var epoch = 0
    /// The error of the last loss of the controller, or `nil` if there was none since the last start.
    private var lastLoss: RadioError?
    /// The task that searches for a lost controller.
    private var recovery: Task<Void, Never>?
    private var bringUp: CheckedContinuation<Result<Void, RadioError>, Never>?
    /// Calls that wait for the result of a command, by number.
    private var calls: [UInt64: Answer] = [:]
    /// Calls that wait until the advertiser or the scanner has no pending command.
    private var settling: [ControllerSession.Sender: [CheckedContinuation<Void, Never>]] = [:]

    init(_ environment: Environment, _ timer: HostTimer, _ sinks: RadioSinks) {
        self.environment = environment
        self.timer = timer
        self.sinks = sinks
        session = Self.session(environment.options)
    }

    private static func session(_ options: HostRadioOptions) -> ControllerSession {
        ControllerSession(name: options.controller, timeout: options.commandTimeout)
    }

    private var logger: Logger { environment.logger }
    var isRunning: Bool { stage == .running }
    /// Whether the transport is open and the controller is in use.
    var isAttached: Bool { stage.isAttached }
    /// `true` if the controller was turned off, is being turned off, or is being turned on again.
    var isOff: Bool { stage.isOff }
    /// The error of the last loss of the controller.
    var loss: RadioError { lastLoss ?? session.loss() }
    /// The own address used on the air, or `nil` if none is set.
    var ownAddress: DeviceAddress? { session.address.current }

    /// The error for calls that need a running controller: Bluetooth is off, or else the given message.
    func unavailable(_ message: String = "the radio is not running") -> RadioError {
        isOff
            ? RadioError(.poweredOff, "Bluetooth is off", remedy: "turn it on")
            : RadioError(.invalidState, message)
    }

    // MARK: Start

    /// Opens the transport, and waits for the bring-up of the controller.
    ///
    /// After an error, the caller must call `stop`.
    func start(_ inlet: ControllerInlet) async throws(RadioError) {
        stage = .starting
        self.inlet = inlet
        try await open()
        guard stage == .starting else { throw Self.stopped }
        stage = .running
    }

    private static let stopped = RadioError(.lost, "the radio was stopped while it was starting")

    private func open() async throws(RadioError) {
        epoch += 1
        lastLoss = nil
        guard let inlet else { throw Self.stopped }
        let epoch = epoch
        try await environment.transport.open(
            receive: { inlet.receive($0, epoch) }, ended: { inlet.ended($0, epoch) })
        try checkIsAttached(epoch)
        try await beginAnew()
    }

    /// Resets the controller and brings it up, over the open transport.
    private func beginAnew() async throws(RadioError) {
        let epoch = epoch
        let result = await withCheckedContinuation { continuation in
            bringUp = continuation
            drive { $0.bringUp(at: $1, &$2) }
        }
        try result.get()
        // The controller may have been lost between the end of the bring-up and this line.
        try checkIsAttached(epoch)
    }

    private func checkIsAttached(_ epoch: Int) throws(RadioError) {
        guard epoch == self.epoch, isAttached else { throw Self.stopped }
        if let lastLoss { throw lastLoss }
    }

    /// Makes the session prefer the extended commands.
    ///
    /// Callers do this if the radio is also a central, or if an advertisement needs these commands.
    func preferExtendedCommands() { session.prefersExtendedCommands = true }

    /// Makes the session use the extended commands.
    ///
    /// Throws `advertisementRefused` if the controller cannot use them; `need` is the reason in the message.
    func useExtendedCommands(for need: String) throws(RadioError) {
        try session.useExtendedCommands(for: need)
    }

    private func endBringUp(_ result: Result<Void, RadioError>) {
        let waiter = bringUp
        bringUp = nil
        waiter?.resume(returning: result)
    }

    // MARK: Stop and loss

    /// Closes the transport, and ends waiting calls with an error.
    func stop() {
        stage = .absent
        recovery?.cancel()
        recovery = nil
        environment.transport.close()
        drive { session, _, actions in session.end(RadioError(.lost, "the radio was stopped"), &actions) }
        endBringUp(.failure(Self.stopped))
    }

    /// Discards the state of the controller after the links have ended, but keeps `epoch`.
    func reset() {
        session = Self.session(environment.options)
        lastLoss = nil
        inlet = nil
    }

    /// Handles the end of the transport that was opened with an epoch number.
    func transportEnded(_ error: RadioError?, _ epoch: Int) {
        guard epoch == self.epoch else { return }
        guard case .off = stage else { return lose(error ?? session.loss()) }
        // While Bluetooth is off, the loss is found only when it is turned on.
        environment.transport.close()
        stage = .off(isOpen: false)
    }

    /// Handles the controller's failure to answer a command in time: the controller counts as lost.
    func loseSilent() {
        let options = environment.options
        let message = "\(options.controller) did not answer within \(options.commandTimeout.text)"
        lose(RadioError(.lost, message), session.timeoutError)
    }

    /// Handles a hardware error: the controller counts as lost, because only a reset helps (Core
    /// Specification, Vol 4, Part E, 7.7.16).
    private func hardwareFailed(_ code: UInt8) {
        let message = "the controller reports the hardware error \(code)"
        sinks.warn(RadioWarning("hardwareError", message))
        if isRunning { lose(RadioError(.lost, message)) }
    }

    /// Handles the loss of the controller.
    ///
    /// Waiting calls fail with `callError` or, if that is `nil`, with `error`.
    private func lose(_ error: RadioError, _ callError: RadioError? = nil) {
        guard isAttached else { return }
        let callError = callError ?? error
        lastLoss = callError
        guard isRunning else {
            drive { session, _, actions in session.end(callError, &actions) }
            act(.stopWaitingForEnd)
            return endBringUp(.failure(callError))
        }
        lost(error, callError)
    }

    private func lost(_ error: RadioError, _ callError: RadioError) {
        stage = .lost
        environment.transport.close()
        act(.lost(callError))
        drive { session, _, actions in session.end(callError, &actions) }
        sinks.report(.unsupported, after: error)
        act(.reportRoom)
        if let inlet { recovery = environment.task { await inlet.recover() } }
    }

    /// Handles the closing of the transport from another thread, after which the radio stops.
    func closed() { lose(session.loss()) }

    /// Tries to bring up a lost controller until that succeeds; returns `false` if the radio ended the
    /// search.
    func recover() async -> Bool {
        var pause = environment.options.recoveryPause
        while !Task.isCancelled, stage == .lost {
            guard await environment.sleeps(for: pause), stage == .lost else { return false }
            pause = min(pause * 2, Self.longestRecoveryPause)
            stage = .recovering
            do throws(RadioError) {
                try await open()
            } catch {
                logger.debug("controller still gone", metadata: ["error": "\(error)"])
                guard stage == .recovering else { return false }
                environment.transport.close()
                drive { session, _, actions in session.end(error, &actions) }
                stage = .lost
                continue
            }
            guard stage == .recovering else { return false }
            stage = .running
            return true
        }
        return false
    }

    // MARK: Power

    /// Starts to turn off a running controller.
    ///
    /// The caller then ends the links, and calls `finishTurningOff`.
    func startTurningOff() {
        stage = .turningOff
        drive { $0.turnOff(at: $1, &$2) }
    }

    /// Resets the controller after its links have ended.
    ///
    /// If `isSilent` is `true`, the new Bluetooth state is not reported.
    func finishTurningOff(isSilent: Bool) async throws(RadioError) {
        let isReset = (try? await command(HCICommand(.reset), "turning it off")) != nil
        guard stage == .turningOff else { throw Self.stopped }
        turnedOff(isOpen: isReset, isSilent)
    }

    /// Turns off a lost controller, which ends the search for it.
    func turnOffLost(isSilent: Bool) {
        recovery?.cancel()
        turnedOff(isOpen: false, isSilent)
    }

    private func turnedOff(isOpen: Bool, _ isSilent: Bool) {
        stage = .off(isOpen: isOpen)
        if !isOpen { environment.transport.close() }
        let error = unavailable()
        lastLoss = error
        act(.lost(error))
        drive { session, _, actions in session.end(error, &actions) }
        endBringUp(.failure(error))
        if !isSilent { sinks.report(.poweredOff) }
        act(.reportRoom)
    }

    /// Brings the controller up again after it was turned off.
    ///
    /// If the controller was lost meanwhile, this throws, and the search for the controller begins.
    func turnOn() async throws(RadioError) {
        let isOpen = stage == .off(isOpen: true)
        stage = .turningOn
        lastLoss = nil
        do throws(RadioError) {
            if isOpen { try await beginAnew() } else { try await open() }
        } catch {
            if stage == .turningOn { lost(error, error) }
            throw error
        }
        guard stage == .turningOn else { throw Self.stopped }
        stage = .running
    }

    // MARK: Reports

    /// Handles a packet of the transport that was opened with this epoch number.
    ///
    /// The result is the packet if another driver must handle it. For the log, `channel` returns the L2CAP
    /// channel of a link's incomplete PDU, to which a continuing packet belongs.
    func receive(
        _ packet: H4Packet, _ epoch: Int, continuing channel: (ConnectionHandle) -> UInt16?
    ) -> ReceivedPacket? {
        guard epoch == self.epoch, isAttached else { return nil }
        logger.trace("received", packet, channel)
        switch packet.type {
        case .event: return receiveEvent(packet.body)
        case .aclData: return .data(packet.body)
        case .command, .synchronousData, .isochronousData: return nil
        }
    }

    private func receiveEvent(_ body: [UInt8]) -> ReceivedPacket? {
        // This event comes after almost every packet, so it is handled without decoding in full.
        if body.first == HCIEvent.numberOfCompletedPackets, let completed = HCIEvent.completedPackets(body) {
            return .completed(completed)
        }
        guard let event = HCIEvent(body), let content = HCIEventContent(event) else {
            logger.notice("event dropped", metadata: ["body": "\(Hex.encode(body))"])
            return nil
        }
        switch content {
        case .commandComplete(let opcode, let credits, let parameters):
            let (status, rest) = (HCIStatus(parameters.first ?? 0), Array(parameters.dropFirst()))
            drive { $0.answered(opcode, credits: credits, status, rest, at: $1, &$2) }
        case .commandStatus(let opcode, let credits, let status):
            drive { $0.answered(opcode, credits: credits, status, [], at: $1, &$2) }
        case .hardwareError(let code): hardwareFailed(code)
        case .advertisingReports(let reports): return .advertising(reports)
        case .periodicSyncEstablished, .periodicSyncLost:
            drive { $0.synchronize(at: $1, &$2) { $0.handle(content) } }
        case .periodicReport(let report): return .periodic(report)
        case .connectionComplete(let status, let connection) where status != .success:
            if connection.role == .central { drive { $0.attemptEnded(status, at: $1, &$2) } }
        case .advertisingSetTerminated(.success, let id, _): drive { $0.advertisingStopped(id, at: $1, &$2) }
        default: return .event(content)
        }
        return nil
    }

    // MARK: Requests

    /// Changes the state of the session, and carries out its actions.
    @discardableResult
    func drive<Result>(
        _ body: (inout ControllerSession, Duration, inout [ControllerSession.Action]) -> Result
    ) -> Result {
        var actions: [ControllerSession.Action] = []
        let result = body(&session, environment.now(), &actions)
        for action in actions { carryOut(action) }
        meter.note(session, at: environment.now())
        timer[.command] = session.commandDeadline
        timer[.addressRotation] = session.address.due
        timer[.connectionCancel] = session.connectionCancelDeadline
        return result
    }

    private func carryOut(_ action: ControllerSession.Action) {
        switch action {
        case .send(let command): transmit(command.packet)
        case .chooseAddress(let publicAddress):
            guard let source = addressSource(publicAddress) else { return }
            drive { $0.choose(source, at: $1, &$2) }
        case .broughtUp:
            act(.configure(session.profile))
            endBringUp(.success(()))
        case .bringUpFailed(let error): endBringUp(.failure(error))
        case .addressChanged: act(.addressChanged)
        case .settled(let sender):
            for waiter in settling.removeValue(forKey: sender) ?? [] { waiter.resume() }
            if sender == .advertiser { act(.advertiserSettled) }
        case .connectionsFailed(let numbers, let error): act(.connectionsFailed(numbers, error))
        case .answered(let call, let result): calls.removeValue(forKey: call)?.resume(returning: result)
        case .refused(let purpose, let status):
            logger.debug("refused", metadata: ["command": "\(purpose)", "status": "\(status.hexadecimal)"])
        case .linkCommandRefused(let command, let handle, let peer):
            act(.refused(command, handle, peer))
        }
    }

    /// Sends a packet to the controller.
    ///
    /// For the log, `channel` returns the L2CAP channel of a link's incomplete PDU, to which a continuing
    /// packet belongs.
    func transmit(_ packet: H4Packet, continuing channel: (ConnectionHandle) -> UInt16? = { _ in nil }) {
        logger.trace("sent", packet, channel)
        environment.transport.send(packet)
    }

    /// Waits until the advertiser or the scanner has no unanswered command.
    func settled(_ sender: ControllerSession.Sender) async {
        while sender == .advertiser ? session.advertiser.isBusy : session.scanner.isBusy {
            await withCheckedContinuation { settling[sender, default: []].append($0) }
        }
    }

    /// Changes the requests to the advertiser, the scanner and the connector.
    @discardableResult
    func change<Result>(
        _ change: (inout HostAdvertisingSets, inout HostScanner, inout Connector) -> Result
    ) -> Result {
        drive { session, now, actions in session.change(at: now, &actions, change) }
    }

    /// Sends a command, waits for its result, and returns the parameters that follow the status.
    ///
    /// `purpose` is a verb phrase for the error, as in "refused resetting it".
    @discardableResult
    func command(_ command: HCICommand, _ purpose: String) async throws(RadioError) -> [UInt8] {
        guard isAttached else { throw RadioError(.lost, "the radio was stopped while \(purpose)") }
        let result = await withCheckedContinuation { continuation in
            drive { session, now, actions in
                calls[session.call(command, purpose, at: now, &actions)] = continuation
            }
        }
        return try result.get()
    }

    /// Sends a command without waiting for its result.
    func send(_ command: HCICommand, _ purpose: String) {
        guard isAttached else { return }
        drive { $0.send(command, purpose, at: $1, &$2) }
    }

    /// Sends a command about a link whose refusal must be handled.
    func send(
        _ purpose: ControllerSession.LinkCommand, of handle: ConnectionHandle, _ peer: Peer.ID,
        _ command: HCICommand
    ) {
        guard isAttached else { return }
        drive { $0.send(purpose, of: handle, peer, command, at: $1, &$2) }
    }
}
