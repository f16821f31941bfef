import Mynah
import MynahCore
import MynahLifecycle
import MynahSupport

/// Plays one device on a phone: answers what is asked of it, sends what is due, and tells what happens.
///
/// Runs on the phone's executor; a request is answered before the radio's call returns.
actor DevicePlayer<C: Clock> where C.Duration == Duration {
    let phone: Phone
    let clock: C
    let teller: Teller
    /// What is published; after a restoration with the keys that the restored services have.
    var device: EmulatedDevice
    var table: AttributeTable
    var schedule = TickSchedule()
    var manager: PeripheralManager?
    var app: App?
    /// When the device's time began.
    var since: C.Instant?
    /// Whether its run is under way: from then on it publishes by itself what was lost.
    var isStarted = false
    var isPublished = false
    /// What was restored is not what the profile has, and is to be replaced.
    var isRestoredOther = false
    /// Its app was launched and has not been told the Bluetooth state yet.
    var isIntroducing = false
    var ticking: (task: Task<Void, Never>, until: Duration)?
    var isQueueFull = false
    var isBehind = false
    var tooLong: Set<AttributeKey> = []
    /// What the events of this wake were about, and what else was said to be extraneous.
    var wokenFor: Set<AttributeKey> = []
    var toldExtraneous: Set<AttributeKey> = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { phone.unownedExecutor }

    init(_ device: EmulatedDevice, on phone: Phone, clock: C, teller: Teller) {
        self.device = device
        self.phone = phone
        self.clock = clock
        self.teller = teller
        table = device.table
    }

    /// How long the device has run.
    var elapsed: Duration { since.map { $0.duration(to: clock.now) } ?? .zero }

    /// The device's time begins, before a central can read.
    func begin() {
        since = clock.now
    }

    /// Publishes and advertises what is not yet.
    func publish() async throws(RadioError) {
        if device.app == nil, manager == nil { manager = await phone.makePeripheralManager(sink: self) }
        guard let manager, !isPublished else { return }
        isPublished = true
        do throws(RadioError) {
            if isRestoredOther {
                await manager.removeAllServices()
                isRestoredOther = await !manager.services.isEmpty
            }
            if await manager.services.isEmpty, !device.services.isEmpty {
                try await manager.add(device.services)
            }
            if let advertisement = device.advertisement {
                try await manager.startAdvertising(advertisement)
            } else {
                // What was restored may be of an older profile.
                await manager.stopAdvertising()
            }
        } catch {
            isPublished = false
            throw error
        }
    }

    /// The run is under way.
    func started() {
        isStarted = true
    }

    func stop() async {
        isStarted = false
        stopTicking()
        if device.app == nil, let manager, await manager.isAdvertising {
            await manager.stopAdvertising()
        }
        manager = nil
    }

    func stopTicking() {
        schedule.stopAll()
        ticking?.task.cancel()
        ticking = nil
        isQueueFull = false
        isBehind = false
    }

    /// The radio's trouble is over or has begun: what was said once may be said again.
    func forgetComplaints() {
        tooLong = []
    }
}

// Requests.
extension DevicePlayer: PeripheralSink {
    nonisolated func handle(_ event: PeripheralEvent) -> RadioAnswer {
        assumeIsolated { $0.take(event) }
    }

    private func take(_ event: PeripheralEvent) -> RadioAnswer {
        switch event {
        case .read(let request, let central):
            noteWake(request.attribute)
            let outcome = table.read(request, at: elapsed)
            if teller.isHeard {
                var value: [UInt8] = []
                if case .success(let bytes) = outcome { value = bytes }
                tellRead(request, central, value, outcome)
            }
            return .answer(outcome)
        case .answeredRead(let request, let central, let value):
            tellRead(request, central, value, .success(value))
        case .write(let request, let central):
            for part in request.parts { noteWake(part.attribute) }
            let outcome = table.write(request)
            tellWrite(request, central, outcome)
            return .answer(outcome)
        case .subscribed(let attribute, let central, let delivery):
            noteWake(attribute)
            subscribe(attribute)
            tell(.subscribed, on: attribute, central) {
                delivery.map { [.init("delivery", .string($0.rawValue))] } ?? []
            }
        case .unsubscribed(let attribute, let central):
            noteWake(attribute)
            tell(.unsubscribed, on: attribute, central) { [] }
            unsubscribeIfUnheard(attribute)
        case .confirmed(let attribute, let central):
            tell(.confirmed, on: attribute, central) { [] }
        case .readyToUpdateSubscribers:
            isQueueFull = false
            sendDue()
        case .disconnected:
            unsubscribeUnheard()
        case .stateChanged(let state):
            take(state)
        case .willRestoreState(let state):
            restore(state)
        case .missed(let count):
            teller.tell(
                .warning,
                [
                    .init("code", .string("eventsMissed")),
                    .init(
                        "message",
                        .string("\(count) events were dropped because the app did not run for so long")),
                ])
        case .connected, .mtuChanged, .advertisingChanged, .channelOpened:
            break
        }
        return .none
    }

    private func take(_ state: RadioState) {
        if isIntroducing, isStarted { teller.tell(.stateChanged, [.init("state", .string(state.rawValue))]) }
        isIntroducing = false
        guard device.app != nil else {
            if state != .poweredOn { stopTicking() }
            return
        }
        switch state {
        case .poweredOn: publishAgain()
        case .poweredOff: stopTicking()
        case .unknown, .resetting, .unsupported, .unauthorized:
            stopTicking()
            isPublished = false
        }
    }

    /// What iOS has taken away its app puts up again.
    private func publishAgain() {
        guard isStarted, !isPublished else { return }
        Task {
            do throws(RadioError) {
                try await publish()
            } catch {
                teller.tell(.error, [.init("message", .string("not published again: \(error)"))])
            }
        }
    }

    private func noteWake(_ attribute: AttributeKey) {
        if device.app != nil { wokenFor.insert(attribute) }
    }
}
