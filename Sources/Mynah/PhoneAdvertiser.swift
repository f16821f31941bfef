import MynahCore
import MynahLifecycle

/// Changes the radio's advertising when the combined advertisement of the phone's managers changes.
///
/// Belongs to a phone, and runs on the phone's executor.
final class PhoneAdvertiser {
    private var advertisement: SharedAdvertisement {
        didSet { scanner.isAdvertising = advertisement.isAsked }
    }
    /// The managers that advertise, in the order in which they began.
    private var advertisers: [ManagerState] = []
    /// The task that changes the radio's advertising, or `nil` if there is nothing to change.
    private var task: Task<RadioError?, Never>?

    private let radio: any PeripheralRadio
    private let memory: PhoneMemory
    private let reports: PhoneReports
    private let meter: PhoneMeter
    private let work: PhoneWork
    /// The phone's scanner, which must pause if the controller cannot advertise while it scans.
    private let scanner: PhoneScanner

    init(_ composer: PhoneAdvertising, _ common: PhoneCommon, beside scanner: PhoneScanner) {
        advertisement = SharedAdvertisement(composer)
        (radio, memory, work) = (common.radio, common.memory, common.work)
        (reports, meter) = (common.reports, common.meter)
        self.scanner = scanner
    }

    // MARK: Requests of managers

    func hold() {
        advertisement.isHeld = true
    }

    /// Stops advertising until `release`, and returns when nothing is on the air.
    func silence() async {
        advertisement.isSilenced = true
        // A radio does not refuse to stop.
        try? await settle()
    }

    func release() async throws(RadioError) {
        (advertisement.isHeld, advertisement.isSilenced) = (false, false)
        try await settle()
    }

    func start(
        _ new: Advertisement, for reference: ManagerReference
    ) async throws(RadioError) -> AdvertisingReport {
        guard let manager = memory.manager(reference) else {
            throw RadioError(.invalidState, "the app of this manager has ended, or its phone was stopped")
        }
        if let app = manager.app {
            try app.checkMayAct()
            try new.checkIsApps(app.description.name)
            manager.requested.start(new, isInForeground: app.state == .foreground)
            manager.save()
        } else {
            try checkAccessory(manager)
            manager.accessoryAdvertisement = new
            // If the accessory repeats a request, the radio gets the request again.
            advertisement.requestAgain()
        }
        include(manager)
        do throws(RadioError) {
            try await settle()
        } catch {
            manager.accessoryAdvertisement = nil
            throw error
        }
        return manager.advertising
    }

    func stop(_ reference: ManagerReference) async {
        guard let manager = memory.manager(reference), manager.app?.isRunning ?? true,
            manager.requested.advertisement != nil || manager.accessoryAdvertisement != nil
        else { return }
        manager.accessoryAdvertisement = nil
        manager.requested.stop()
        manager.save()
        remove(manager)
        do throws(RadioError) {
            try await settle()
        } catch {
            reports.warn("advertisingNotStopped", "advertising could not be stopped: \(error)")
        }
    }

    func remove(_ manager: ManagerState) {
        advertisers.removeAll { $0 === manager }
    }

    private func include(_ manager: ManagerState) {
        if !advertisers.contains(where: { $0 === manager }) { advertisers.append(manager) }
    }

    /// Resets the state because the phone was stopped.
    func reset() {
        advertisers = []
        advertisement.reset()
    }

    private func checkAccessory(_ manager: ManagerState) throws(RadioError) {
        guard memory.isRunning else { throw RadioError(.invalidState, "the phone has not been started") }
        guard memory.apps.isEmpty else {
            throw RadioError(.invalidState, "an accessory cannot advertise on the phone of an app")
        }
        guard memory.managers.allSatisfy({ $0 === manager || $0.accessoryAdvertisement == nil }) else {
            throw RadioError(.advertisementRefused, "another manager of this phone advertises already")
        }
    }

    /// Stops the advertising of an app's manager, and forgets its request.
    func forget(_ manager: ManagerState) {
        guard manager.requested.advertisement != nil else { return }
        manager.requested = RequestedAdvertisement()
        manager.save()
        update()
    }

    // MARK: The radio

    /// Updates the radio's advertising after a change that may affect it.
    func update() {
        guard memory.isRunning else { return }
        advertisement.request()
        guard task == nil else { return }
        work.start(.advertise)
    }

    /// Changes the radio's advertising to what the managers request, and returns when that is done.
    ///
    /// Concurrent callers share the result.
    func settle() async throws(RadioError) {
        guard memory.isRunning else { return }
        advertisement.request()
        if task == nil { task = work.start(.advertising) }
        if let error = await task?.value { throw error }
    }

    /// Changes the radio's advertising until it is what the managers request; returns the last error, if any.
    func requestSteps() async -> RadioError? {
        defer { task = nil }
        while memory.isRunning {
            let epoch = advertisement.epoch
            do throws(RadioError) {
                try await requestStep()
            } catch {
                advertisement.refused()
                work.tell(.listen)
                report()
                if epoch == advertisement.epoch { return error }
            }
            if epoch == advertisement.epoch { return nil }
        }
        return nil
    }

    private func requestStep() async throws(RadioError) {
        for manager in memory.managers where manager.requested.advertisement != nil { include(manager) }
        let defers = advertisement.defersBackgroundChanges
        let parts = advertisers.compactMap { $0.part(deferringChanges: defers) }
        switch advertisement.next(parts) {
        case .none: break
        case .stop:
            await radio.stopAdvertising()
            advertisement.note(.silent)
            work.tell(.listen)
        case .advertise(let bytes):
            await scanner.makeRoomToAdvertise()
            advertisement.note(try await radio.advertise(bytes))
        }
        if !advertisement.isHeld { report() }
    }

    /// Handles a change of the advertising that the radio made by itself.
    func radioChanged(to report: AdvertisingReport) {
        advertisement.note(report)
        self.report()
    }

    /// Reports to the `PhoneSink` that nothing is advertised, because the radio is off.
    ///
    /// The managers get the new Bluetooth state instead.
    func radioEnded() {
        advertisement.note(.silent)
        if let whole = advertisement.wholeReport() { reports.report(.advertisingChanged(whole)) }
        meter.update()
    }

    /// Reports the data on the air, with the omitted parts of each app's request, if it has changed.
    private func report() {
        for manager in memory.managers {
            let report = advertisement.report(for: manager.number)
            if report != manager.advertising {
                work.tell(.advertisingChanged(report, for: manager.number))
            }
        }
        if let whole = advertisement.wholeReport() { reports.report(.advertisingChanged(whole)) }
        meter.update()
    }
}
