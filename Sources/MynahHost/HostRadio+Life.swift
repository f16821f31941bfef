public import MynahCore
import MynahHCI
import MynahSupport

// Starting and stopping the radio.
extension HostRadio {
    /// The stage of the radio, apart from the stage of its controller.
    enum Stage {
        case stopped
        case starting
        case running
        /// The radio is stopping; these calls wait until it has stopped.
        case stopping([CheckedContinuation<Void, Never>])
    }

    /// Starts the peripheral role.
    ///
    /// If the central role is not started, this also opens the transport and initializes the controller.
    public func start(
        _ identity: DeviceIdentity, sink: any RadioSink
    ) async throws(RadioError) -> RadioCapabilities {
        try checkMayStart(isStarted: sinks.peripheral != nil)
        sinks.peripheral = sink
        // If the central role has started the radio, it used an identity of its own.
        if case .running = stage { links.begin(as: identity) } else { try await open(identity) }
        sinks.tell(.stateChanged(state))
        var capabilities = RadioCapabilities(name: options.name)
        capabilities.address = controller.ownAddress
        return capabilities
    }

    /// Starts the central role.
    ///
    /// If the peripheral role is not started, this also opens the transport and initializes the controller.
    public func start(_ identity: DeviceIdentity, central sink: any CentralSink) async throws(RadioError) {
        try checkMayStart(isStarted: sinks.central != nil)
        sinks.central = sink
        controller.preferExtendedCommands()
        if case .stopped = stage { try await open(identity) }
        sinks.tellCentral(.capabilitiesChanged(controller.session.profile.states.capabilities))
        sinks.tellCentral(.stateChanged(state))
    }

    private var state: RadioState { controller.isOff ? .poweredOff : .poweredOn }

    /// Throws an error if a role must not be started now.
    ///
    /// A role can be started if the radio is stopped, or if only the other role is started.
    private func checkMayStart(isStarted: Bool) throws(RadioError) {
        switch stage {
        case .stopped where !isStarted: return
        case .running where !isStarted:
            guard !controller.isRunning, !controller.isOff else { return }
            throw RadioError(
                .lost, "\(options.controller) disappeared, and the radio tries to reach it",
                remedy: "start the radio when the controller is back")
        case .stopping: throw RadioError(.invalidState, "the radio is about to stop")
        case .stopped, .starting, .running:
            throw RadioError(.invalidState, "the radio has been started already")
        }
    }

    /// Opens the transport and initializes the controller; stops the radio if that fails.
    private func open(_ identity: DeviceIdentity) async throws(RadioError) {
        stage = .starting
        connectParts()
        security.manager.begin(as: identity)
        security.loadBonds()
        let epoch = controller.epoch + 1
        do throws(RadioError) {
            try await controller.start(inlet)
        } catch {
            // If the radio was stopped and started again meanwhile, this call must not stop it.
            guard controller.epoch == epoch else { throw error }
            environment.transport.close()
            await stop()
            // A peer that sends invalid answers may not be a controller at all.
            guard error.remedy == nil, [.lost, .timedOut, .protocolViolation].contains(error.code) else {
                throw error
            }
            throw RadioError(
                error.code, error.message,
                remedy:
                    "check that a Bluetooth controller speaks H4 there, and that no other program uses it")
        }
        links.begin(as: identity)
        stage = .running
    }

    private func connectParts() {
        timer.wake = { [weak self] number in await self?.wake(number) }
        links.radio = self
        channels.radio = self
        security.radio = self
    }

    /// The callbacks with which the transport's threads reach the radio's executor.
    private var inlet: ControllerInlet {
        let executor = environment.executor
        return ControllerInlet(
            receive: { [weak self] packet, epoch in
                guard let self else { return }
                executor.perform { self.assumeIsolated { $0.drivers.receive(packet, epoch) } }
            },
            ended: { [weak self] error, epoch in
                guard let self else { return }
                executor.perform { self.assumeIsolated { $0.controller.transportEnded(error, epoch) } }
            },
            recover: { [weak self] in await self?.recover() })
    }

    private func recover() async {
        if await controller.recover() { await access.goOn(afterLoss: true) }
    }

    /// Stops advertising, ends every link and closes the transport.
    public func stop() async {
        switch stage {
        case .stopped: return
        case .stopping(let waiting):
            await withCheckedContinuation { stage = .stopping(waiting + [$0]) }
        case .starting, .running:
            stage = .stopping([])
            if controller.isRunning {
                await access.stop()
                await links.endAll()
            }
            controller.stop()
            // The end of the links is not reported.
            sinks.peripheral = nil
            sinks.central = nil
            sinks.faults = nil
            links.reset()
            controller.reset()
            access.reset()
            timer.stop()
            options.bonds?.writer.retry()
            await options.bonds?.writer.settle()
            guard case .stopping(let waiting) = stage else { return }
            stage = .stopped
            for waiter in waiting { waiter.resume() }
        }
    }

    /// Closes the transport immediately, from any thread, and then stops the radio.
    public nonisolated func close() {
        environment.transport.close()
        Task(executorPreference: preferredExecutor) { await self.stopClosed() }
    }

    private func stopClosed() async {
        controller.closed()
        await stop()
    }
}
