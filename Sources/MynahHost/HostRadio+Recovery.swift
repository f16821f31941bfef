import Logging
import MynahCore
import MynahHCI

// The controller at the other end: found, lost and found again.
extension HostRadio {
    /// The longest pause between two looks for a controller that was lost.
    static let longestRecoveryPause = Duration.seconds(5)

    /// Opens the transport; what an earlier one has still to say is not heard any more.
    func openTransport() async throws(RadioError) {
        run += 1
        endedWhileStarting = nil
        let run = run
        let executor = executor
        try await transport.open(
            receive: { [weak self] packet in
                guard let self else { return }
                executor.perform { self.assumeIsolated { $0.take(packet, run) } }
            },
            ended: { [weak self] error in
                guard let self else { return }
                executor.perform { self.assumeIsolated { $0.lose(error, run) } }
            })
    }

    /// The controller of that run is gone: its transport ended, or it does not answer.
    func lose(_ error: RadioError?, _ run: Int) {
        guard run == self.run, state.isAttached else { return }
        let wasRunning = state == .running
        if wasRunning { state = .lost } else { endedWhileStarting = error }
        failWaiters()
        guard wasRunning else { return }
        transport.close()
        forgetLinks(isTold: true)
        commands = CommandQueue()
        data = DataQueue()
        advertiser.ended()
        central.listening = nil
        let error = error ?? RadioError(.lost, "\(options.controller) is gone: its transport was closed")
        failConnections(error)
        tell(.lost(error))
        tell(.stateChanged(.unsupported))
        tellCentral(.lost(error))
        tellCentral(.stateChanged(.unsupported))
        if refusals.endAll() { tell(.readyToSend) }
        recovery = Task { await recover() }
    }

    /// Looks for the controller until it is there; what was published and advertised is again.
    private func recover() async {
        var pause = options.recoveryPause
        while !Task.isCancelled, state == .lost {
            guard (try? await sleep(pause)) != nil, state == .lost else { return }
            pause = min(pause * 2, Self.longestRecoveryPause)
            state = .recovering
            do throws(RadioError) {
                try await openTransport()
                try await bringUp()
            } catch {
                logger.debug("controller still gone", metadata: ["error": "\(error)"])
                guard state == .recovering else { return }
                transport.close()
                failWaiters()
                commands = CommandQueue()
                state = .lost
                continue
            }
            guard state == .recovering else { return }
            state = .running
            if let number = advertiser.number {
                await settleAdvertising()
                if reported.isOn { reported.address = ownAddress }
                giveUpIfRefused(number)
                guard state == .running else { return }
            }
            await scanAgain()
            guard state == .running else { return }
            tell(.stateChanged(.poweredOn))
            tell(.recovered)
            // The loss was reported as silence.
            if reported.isOn { tell(.advertisingChanged(reported)) }
            tellCentral(.stateChanged(.poweredOn))
            tellCentral(.recovered)
            return
        }
    }
}
