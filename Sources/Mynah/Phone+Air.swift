public import MynahCore
import MynahLifecycle

/// What a phone's apps advertise together, and how far the radio is in step with it.
struct Air {
    let advertising: PhoneAdvertising
    /// The managers that advertise, in the order in which they began to.
    var advertisers: [PeripheralManager] = []
    /// Whether nothing is to change on the air for now.
    var isHeld = false
    /// What the radio was asked to send; nil: nothing.
    var sent: Advertisement?
    /// The interval that an iPhone would send it at.
    var interval: ClosedRange<Duration>?
    /// What the radio said of it.
    var report = AdvertisingReport.silent
    /// What was told of it last, for the phone as a whole.
    var told = AdvertisingReport.silent
    /// Changes with every wish.
    var version = 0
    var task: Task<RadioError?, Never>?
    /// What belongs to each advertiser's report, besides what the radio says.
    var omitted: [(manager: PeripheralManager, isOn: Bool, omissions: [AdvertisingReport.Omission])] = []

    init(advertising: PhoneAdvertising) {
        self.advertising = advertising
    }

    mutating func remove(_ manager: PeripheralManager) {
        advertisers.removeAll { $0 === manager }
    }

    mutating func replace(_ old: PeripheralManager, with new: PeripheralManager) {
        for index in advertisers.indices where advertisers[index] === old { advertisers[index] = new }
        for index in omitted.indices where omitted[index].manager === old { omitted[index].manager = new }
    }
}

// One advertisement for all of a phone's apps.
extension Phone {
    /// Keeps the air as it is until `releaseAir`, so that what is being set up does not go out by halves.
    public func holdAir() {
        air.isHeld = true
    }

    /// Brings the air in step with what the apps want, and returns when it is.
    public func releaseAir() async throws(RadioError) {
        air.isHeld = false
        try await settleAir()
    }

    func startAdvertising(of manager: PeripheralManager) async throws(RadioError) {
        if !air.advertisers.contains(where: { $0 === manager }) { air.advertisers.append(manager) }
        try await settleAir()
    }

    func stopAdvertising(of manager: PeripheralManager) async {
        air.remove(manager)
        do throws(RadioError) {
            try await settleAir()
        } catch {
            warn("advertisingNotStopped", "advertising could not be stopped: \(error)")
        }
    }

    /// Something changed that may change the air.
    func airChanged() {
        guard !apps.isEmpty, case .running = state else { return }
        air.version += 1
        guard air.task == nil else { return }
        Task {
            do throws(RadioError) {
                try await settleAir()
            } catch {
                warn("advertisingRefused", "the radio does not advertise: \(error)")
            }
        }
    }

    /// Asks the radio until what it sends is what is wanted; whoever asks meanwhile waits for the same end.
    private func settleAir() async throws(RadioError) {
        guard case .running = state else { return }
        air.version += 1
        let task = air.task ?? Task { await takeAirSteps() }
        air.task = task
        if let error = await task.value { throw error }
    }

    private func takeAirSteps() async -> RadioError? {
        defer { air.task = nil }
        while true {
            let version = air.version
            do throws(RadioError) {
                try await takeAirStep()
            } catch {
                // What cannot be sent is not on the air; the next change tries again.
                air.sent = nil
                tellAir(.silent)
                if version == air.version { return error }
            }
            if version == air.version { return nil }
        }
    }

    private func takeAirStep() async throws(RadioError) {
        guard case .running = state, !air.isHeld else { return }
        let plan = planAir()
        guard let advertisement = plan.advertisement else {
            guard air.sent != nil else { return }
            air.sent = nil
            await radio.stopAdvertising()
            return tellAir(.silent)
        }
        guard advertisement != air.sent else {
            // The same bytes, for other wishes perhaps.
            return tellAir(air.report)
        }
        air.sent = advertisement
        air.interval = plan.interval
        tellAir(try await radio.advertise(advertisement))
    }

    /// What the apps want now, together.
    private func planAir() -> PhoneAdvertisement {
        for manager in managers where manager.assumeIsolated({ $0.wanted != nil }) {
            if !air.advertisers.contains(where: { $0 === manager }) { air.advertisers.append(manager) }
        }
        let defers = air.advertising.defersBackgroundChanges
        let parts = air.advertisers.compactMap { manager in
            manager.assumeIsolated { $0.contribution(deferringChanges: defers) }.map { (manager, $0) }
        }
        let plan = air.advertising.compose(parts.map(\.1))
        air.omitted = zip(parts, plan.omitted).map { part, omissions in
            (
                part.0, part.1.mode != .off,
                omissions + part.0.assumeIsolated { $0.deferred(part.1) }
            )
        }
        return plan
    }

    /// Tells what is on the air, with what is omitted of each app's wishes.
    func tellAir(_ report: AdvertisingReport) {
        guard !apps.isEmpty else { return tell(.advertisingChanged(report)) }
        var report = report
        // The radio was asked for the shortest interval; an iPhone's report also says what it adds in the background.
        if let interval = report.interval, let planned = air.interval,
            interval.lowerBound == planned.lowerBound
        {
            report.interval = planned
        }
        air.report = report
        var whole = report
        for (manager, isOn, omissions) in air.omitted {
            var own = report
            own.omitted = omissions + report.omitted
            own.isOn = report.isOn && isOn
            if own.isOn {
                let name = air.omitted.count > 1 ? manager.app.map { "\($0.description.name): " } ?? "" : ""
                whole.omitted += omissions.map { .init(item: $0.item, reason: name + $0.reason) }
            }
            if !own.isOn { own = AdvertisingReport(isOn: false, omitted: own.omitted) }
            guard manager.assumeIsolated({ $0.advertising }) != own else { continue }
            _ = self.tell(manager, .advertisingChanged(own))
        }
        guard whole != air.told else { return }
        air.told = whole
        tell(.advertisingChanged(whole))
    }
}
