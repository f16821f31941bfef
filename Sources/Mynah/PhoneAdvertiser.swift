import MynahCore
import MynahLifecycle

/// Keeps a phone's radio in step with the combined advertisement of its managers.
///
/// Belongs to a phone, and runs on the phone's executor.
final class PhoneAdvertiser {
    private var advertisement: SharedAdvertisement
    /// The managers that advertise, in the order in which they began to.
    private var advertisers: [ManagerState] = []
    /// Brings the radio in step, or `nil` while it is.
    private var task: Task<RadioError?, Never>?

    init(_ composer: PhoneAdvertising) {
        advertisement = SharedAdvertisement(composer)
    }

    /// Whether the phone advertises, or is about to.
    var isAdvertising: Bool { advertisement.isAsked }

    // MARK: Requests of managers

    func hold() {
        advertisement.isHeld = true
    }

    /// Advertises nothing until `release`, and returns when nothing is on the air.
    func silence(on phone: isolated Phone) async {
        advertisement.isSilenced = true
        // A radio does not refuse to stop.
        try? await settle(on: phone)
    }

    func release(on phone: isolated Phone) async throws(RadioError) {
        (advertisement.isHeld, advertisement.isSilenced) = (false, false)
        try await settle(on: phone)
    }

    func start(
        _ new: Advertisement, for reference: ManagerReference, on phone: isolated Phone
    ) async throws(RadioError) -> AdvertisingReport {
        guard let manager = phone.manager(reference) else {
            throw RadioError(.invalidState, "the app of this manager has ended, or its phone was stopped")
        }
        if let app = manager.app {
            try app.checkMayAct()
            try new.checkIsApps(app.description.name)
            manager.requested.start(new, isInForeground: app.state == .foreground)
            manager.save(on: phone)
        } else {
            try checkAccessory(manager, on: phone)
            manager.accessoryAdvertisement = new
            // If it asks for the same again, so is the radio.
            advertisement.requestAgain()
        }
        include(manager)
        do throws(RadioError) {
            try await settle(on: phone)
        } catch {
            manager.accessoryAdvertisement = nil
            throw error
        }
        return manager.advertising
    }

    func stop(_ reference: ManagerReference, on phone: isolated Phone) async {
        guard let manager = phone.manager(reference), manager.app?.isRunning ?? true,
            manager.requested.advertisement != nil || manager.accessoryAdvertisement != nil
        else { return }
        manager.accessoryAdvertisement = nil
        manager.requested.stop()
        manager.save(on: phone)
        remove(manager)
        do throws(RadioError) {
            try await settle(on: phone)
        } catch {
            phone.warn("advertisingNotStopped", "advertising could not be stopped: \(error)")
        }
    }

    func remove(_ manager: ManagerState) {
        advertisers.removeAll { $0 === manager }
    }

    private func include(_ manager: ManagerState) {
        if !advertisers.contains(where: { $0 === manager }) { advertisers.append(manager) }
    }

    /// The phone was stopped.
    func reset() {
        advertisers = []
        advertisement.reset()
    }

    private func checkAccessory(
        _ manager: ManagerState, on phone: isolated Phone
    ) throws(RadioError) {
        guard phone.isRunning else { throw RadioError(.invalidState, "the phone has not been started") }
        guard phone.apps.isEmpty else {
            throw RadioError(.invalidState, "an accessory cannot advertise on the phone of an app")
        }
        guard phone.managers.allSatisfy({ $0 === manager || $0.accessoryAdvertisement == nil }) else {
            throw RadioError(.advertisementRefused, "another manager of this phone advertises already")
        }
    }

    /// The advertising of an app's manager is forgotten without being asked.
    func forget(_ manager: ManagerState, on phone: isolated Phone) {
        guard manager.requested.advertisement != nil else { return }
        manager.requested = RequestedAdvertisement()
        manager.save(on: phone)
        update(on: phone)
    }

    // MARK: The radio

    /// Something changed that may change what is advertised.
    func update(on phone: isolated Phone) {
        guard phone.isRunning else { return }
        advertisement.request()
        guard task == nil else { return }
        PhoneLink(phone).enqueue { phone in
            do throws(RadioError) {
                try await phone.advertiser.settle(on: phone)
            } catch {
                phone.warn("advertisingRefused", "the radio does not advertise: \(error)")
            }
        }
    }

    /// Asks the radio until what it sends is what is asked for; all callers wait for the same end.
    fileprivate func settle(on phone: isolated Phone) async throws(RadioError) {
        guard phone.isRunning else { return }
        advertisement.request()
        if let error = await steps(on: phone).value { throw error }
    }

    private func steps(on phone: isolated Phone) -> Task<RadioError?, Never> {
        if let task { return task }
        let new = PhoneLink.task(on: phone) { await $0.advertiser.takeSteps(on: $0) }
        task = new
        return new
    }

    fileprivate func takeSteps(on phone: isolated Phone) async -> RadioError? {
        defer { task = nil }
        while phone.isRunning {
            let epoch = advertisement.epoch
            do throws(RadioError) {
                try await takeStep(on: phone)
            } catch {
                advertisement.refused()
                phone.central.listen(on: phone)
                report(on: phone)
                if epoch == advertisement.epoch { return error }
            }
            if epoch == advertisement.epoch { return nil }
        }
        return nil
    }

    private func takeStep(on phone: isolated Phone) async throws(RadioError) {
        for manager in phone.managers where manager.requested.advertisement != nil { include(manager) }
        let defers = advertisement.defersBackgroundChanges
        let parts = advertisers.compactMap { $0.part(deferringChanges: defers) }
        switch advertisement.next(parts) {
        case .none: break
        case .stop:
            await phone.radio.stopAdvertising()
            advertisement.note(.silent)
            phone.central.listen(on: phone)
        case .advertise(let bytes):
            await phone.central.scanner.makeRoomToAdvertise(on: phone)
            advertisement.note(try await phone.radio.advertise(bytes))
        }
        if !advertisement.isHeld { report(on: phone) }
    }

    /// The radio changed what is on the air by itself.
    func radioChanged(to report: AdvertisingReport, on phone: isolated Phone) {
        advertisement.note(report)
        self.report(on: phone)
    }

    /// The radio is off: nothing is on the air, and managers know it by the state.
    func radioEnded(on phone: isolated Phone) {
        advertisement.note(.silent)
        if let whole = advertisement.wholeReport() { phone.report(.advertisingChanged(whole)) }
        phone.meter.update(on: phone)
    }

    /// Reports what is on the air, with what is omitted of each app's requests, if it has changed.
    private func report(on phone: isolated Phone) {
        for manager in phone.managers {
            let report = advertisement.report(for: manager.number)
            if report != manager.advertising { _ = phone.deliver(.advertisingChanged(report), to: manager) }
        }
        if let whole = advertisement.wholeReport() { phone.report(.advertisingChanged(whole)) }
        phone.meter.update(on: phone)
    }
}
