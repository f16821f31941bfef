import Logging
public import MynahCore
import MynahHCI
import MynahSupport

// The radio's life: started, stopped, and without a controller in between.
extension HostRadio {
    /// The longest pause between two looks for a controller that was lost.
    private static let longestRecoveryPause = Duration.seconds(5)
    /// How long `stop` waits for links to end.
    static let linksEndTimeout = Duration.seconds(1)

    /// Starts the peripheral's half; opens the transport and brings the controller up, unless the central's half has.
    public func start(
        _ identity: DeviceIdentity, sink: any RadioSink
    ) async throws(RadioError) -> RadioCapabilities {
        guard life.sink == nil, life.stage == .stopped || life.isRunning else {
            throw RadioError(.invalidState, "the radio has been started already")
        }
        life.sink = sink
        if life.isRunning {
            // The device is another than the central said.
            security.ioCapability = identity.ioCapability
            server.begin(as: identity)
        } else {
            try await open(identity)
        }
        tell(.stateChanged(.poweredOn))
        var capabilities = RadioCapabilities(name: options.name)
        capabilities.address = ownAddress
        return capabilities
    }

    /// Starts the central's half; opens the transport and brings the controller up, unless the peripheral's half has.
    public func start(_ identity: DeviceIdentity, central sink: any CentralSink) async throws(RadioError) {
        guard life.centralSink == nil, life.stage == .stopped || life.isRunning else {
            throw RadioError(.invalidState, "the radio has been started already")
        }
        life.centralSink = sink
        controller.mayBeCentral = true
        if life.stage == .stopped { try await open(identity) }
        tellCentral(.stateChanged(.poweredOn))
    }

    /// Opens the transport and brings the controller up; if that fails the radio is stopped again.
    private func open(_ identity: DeviceIdentity) async throws(RadioError) {
        life.stage = .starting
        security.ioCapability = identity.ioCapability
        let epoch = life.epoch + 1
        loadBonds()
        do throws(RadioError) {
            try await openController()
        } catch {
            // If the radio was stopped and started again meanwhile, what runs now is not this start's.
            guard life.epoch == epoch else { throw error }
            environment.transport.close()
            await stop()
            // Whatever answered so, or not at all, may be no controller.
            guard error.remedy == nil, [.lost, .timedOut, .protocolViolation].contains(error.code) else {
                throw error
            }
            throw RadioError(
                error.code, error.message,
                remedy: "see that a Bluetooth controller speaks H4 there, and that nobody else has it")
        }
        guard life.stage == .starting else {
            throw RadioError(.lost, "the radio was stopped while it was started")
        }
        server.begin(as: identity)
        life.stage = .running
    }

    /// Opens the transport, and waits until the controller is brought up.
    private func openController() async throws(RadioError) {
        life.epoch += 1
        life.loss = nil
        let epoch = life.epoch
        let executor = environment.executor
        try await environment.transport.open(
            receive: { [weak self] packet in
                guard let self else { return }
                executor.perform { self.assumeIsolated { $0.take(packet, epoch) } }
            },
            ended: { [weak self] error in
                guard let self else { return }
                executor.perform { self.assumeIsolated { $0.transportEnded(error, epoch) } }
            })
        if let loss = life.loss { throw loss }
        guard epoch == life.epoch, life.isAttached else {
            throw RadioError(.lost, "the radio was stopped while it was started")
        }
        let result = await withCheckedContinuation { continuation in
            waiters.bringUp = continuation
            drive { $0.begin(at: $1, &$2) }
        }
        try result.get()
    }

    /// Stops advertising, ends every link and closes the transport.
    public func stop() async {
        guard life.stage != .stopped else { return }
        if life.isRunning {
            drive { session, now, actions in
                session.change(at: now, &actions) { advertiser, scanner, _ in
                    advertiser.stop()
                    scanner.stop()
                    scanner.follow(false)
                }
            }
            await settled(.scanner)
            await settled(.advertiser)
            await endLinks()
        }
        life.stage = .stopped
        life.recovery?.cancel()
        environment.transport.close()
        let error = RadioError(.lost, "the radio was stopped")
        drive { session, _, actions in session.end(error, &actions) }
        waiters.endBringUp(.failure(RadioError(.lost, "the radio was stopped while it was started")))
        // The end of the links is not reported.
        life.sink = nil
        life.centralSink = nil
        loseLinks()
        controller = ControllerSession(name: options.controller, timeout: options.commandTimeout)
        deadlines.removeAll()
        timer.stop()
        reports = ReportAssembler()
        peers = PeerAddresses()
        outbound = Outbound(limit: options.queueLimit)
        server = GATTServer(timeout: options.transactionTimeout)
        l2cap.removeAll()
        life = Life(epoch: life.epoch)
        options.bonds?.writer.retry()
        await options.bonds?.writer.settle()
    }

    /// Closes the transport at once, from any thread, and then stops.
    public nonisolated func close() {
        environment.transport.close()
        Task { await stopClosed() }
    }

    private func stopClosed() async {
        lose(controller.loss())
        await stop()
    }

    /// Ends every link and waits until they are gone: without that the other sides wait for their supervision timeouts.
    private func endLinks() async {
        for handle in links.handles { end(handle) }
        guard life.isRunning, !links.isEmpty else { return }
        await withCheckedContinuation { continuation in
            waiters.linksEnded.append(continuation)
            deadlines[.linksEnd] = now() + Self.linksEndTimeout
            armTimer()
        }
        deadlines[.linksEnd] = nil
    }

    // MARK: Loss and recovery

    private func transportEnded(_ error: RadioError?, _ epoch: Int) {
        guard epoch == life.epoch else { return }
        lose(error ?? controller.loss())
    }

    /// A controller that does not answer is as good as gone.
    func loseSilentController() {
        let error = controller.timeoutError
        lose(
            RadioError(.lost, "\(options.controller) did not answer within \(options.commandTimeout)"), error)
    }

    /// The controller is gone; calls under way fail with `callError`, or with the same error if that is `nil`.
    func lose(_ error: RadioError, _ callError: RadioError? = nil) {
        guard life.isAttached else { return }
        life.loss = callError ?? error
        guard life.isRunning else {
            drive { session, _, actions in session.end(callError ?? error, &actions) }
            return waiters.endBringUp(.failure(callError ?? error))
        }
        life.stage = .lost
        environment.transport.close()
        loseLinks()
        outbound.controllerEnded()
        drive { session, _, actions in session.end(callError ?? error, &actions) }
        tell(.lost(error))
        tell(.stateChanged(.unsupported))
        tellCentral(.lost(error))
        tellCentral(.stateChanged(.unsupported))
        reportRoom()
        life.recovery = Task { await recover() }
    }

    /// Looks for the controller until it is there; then it advertises and scans as before.
    private func recover() async {
        var pause = options.recoveryPause
        while !Task.isCancelled, life.stage == .lost {
            guard (try? await environment.sleep(pause)) != nil, life.stage == .lost else { return }
            pause = min(pause * 2, Self.longestRecoveryPause)
            life.stage = .recovering
            do throws(RadioError) {
                try await openController()
            } catch {
                logger.debug("controller still gone", metadata: ["error": "\(error)"])
                guard life.stage == .recovering else { return }
                environment.transport.close()
                drive { session, _, actions in session.end(error, &actions) }
                life.stage = .lost
                continue
            }
            guard life.stage == .recovering else { return }
            life.stage = .running
            return await goOn()
        }
    }

    /// Has a controller that came back advertise and scan as before, and reports it.
    private func goOn() async {
        let scan = controller.scanner.number
        drive { session, now, actions in session.change(at: now, &actions) { _, _, _ in } }
        await settled(.advertiser)
        await settled(.scanner)
        guard life.isRunning else { return }
        controller.announceAddress()
        reportLostAdvertisement()
        if let scan, case .refused(let step, let status) = controller.scanner.verdict(on: scan) {
            let error = controller.refusal(step.purpose, status)
            tellCentral(.warning(RadioWarning("scanLost", "the scan does not go on: \(error)")))
        }
        tell(.stateChanged(.poweredOn))
        tell(.recovered)
        // The loss was reported as silence.
        if let report = controller.advertiser.announced { tell(.advertisingChanged(report)) }
        tellCentral(.stateChanged(.poweredOn))
        tellCentral(.recovered)
    }
}
