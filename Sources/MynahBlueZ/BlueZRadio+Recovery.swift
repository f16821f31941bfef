import Logging
import MynahCore
import MynahDBus

// Changes of bluetoothd's objects, and the recovery after bluetoothd, the adapter or the bus was lost.
extension BlueZRadio {
    func objectChanged(_ message: DBusMessage) {
        guard let change = ObjectChange(message) else { return }
        let (before, actions) = (adapter.session.objects.devices[change.path], adapter.apply(change))
        if change.concernsDevices { deviceChanged(change.path, from: before) }
        if change.removesDevice { carryOut(centrals.remove(change.path)) }
        carryOut(actions)
    }

    private func deviceChanged(_ path: String, from before: BusObjects.Device?) {
        guard let device = adapter.session.device(path) else { return }
        carryOut(centrals.update(path, from: before, to: device))
    }

    func carryOut(_ actions: [AdapterSession.Action]) {
        for action in actions {
            switch action {
            case .forget(let cause): forget(cause)
            case .reportLost(let cause): report(.lost(cause.error))
            case .reportState(let state): report(.stateChanged(state))
            case .reportRecovered: report(.recovered)
            case .retry(let delay): timers?.schedule(.retry, after: delay)
            case .perform(let job): add(job)
            }
        }
    }

    private func forget(_ cause: AdapterPresence.Cause) {
        let lost = notifier.lost(keepsSubscriptions: cause == .power)
        for central in centrals.removeAll() { report(.disconnected(central)) }
        carryOut(lost)
        // Registrations survive a power cycle.
        guard cause != .power else { return advertiser.poweredOff() }
        services.lost()
        advertiser.lost()
    }

    private func add(_ job: RecoveryJob) {
        let epoch = stage.epoch
        recovery.add(job) { [weak self] in await self?.takeJobs(epoch) }
    }

    private func takeJobs(_ epoch: UInt64) async {
        let adapter = adapter
        while stage.epoch == epoch, let job = recovery.next() {
            do throws(RadioError) {
                switch job {
                case .reconnect: try await reconnect(adapter)
                case .learnObjects:
                    try await adapter.learnObjects()
                    carryOut(adapter.session.look())
                case .registerAll(let epoch): try await registerAll(epoch, adapter)
                }
            } catch {
                environment.logger.log(level: job.logLevel, "not back yet", metadata: ["error": "\(error)"])
                carryOut(adapter.session.failed(job))
            }
        }
    }

    private func reconnect(_ adapter: AdapterClient) async throws(RadioError) {
        try await adapter.connect()
        try services.exportAll(through: adapter)
        // The call may start a bluetoothd that is not running; otherwise its name's owner reports it later.
        add(.learnObjects)
    }

    private func registerAll(_ epoch: Int, _ adapter: AdapterClient) async throws(RadioError) {
        guard adapter.session.isRecovering(epoch) else { return }
        try await adapter.prepare()
        try await services.registerAll(through: adapter)
        try adapter.check()
        try await advertiser.resume()
        try adapter.check()
        let isChanged = try await adapter.learnVersion()
        notifier.usesSockets = adapter.offersSockets
        if isChanged { report(.capabilitiesChanged(adapter.session.capabilities)) }
        carryOut(adapter.session.recovered(epoch))
        guard adapter.session.isPresent else { return }
        if let held = advertiser.held { report(.advertisingChanged(held)) }
        for path in adapter.session.objects.devices.keys.sorted() { deviceChanged(path, from: nil) }
        carryOut(notifier.recovered())
    }
}
