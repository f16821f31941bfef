import Mynah
public import MynahCore
import MynahSupport

/// Plays one device on a phone: answers what is asked, sends what is due, and tells what happens.
///
/// Runs on the phone's executor; a request is answered before the radio's call returns.
public actor Emulator<C: Clock> where C.Duration == Duration {
    /// What hears the device's events, synchronously and in order.
    public typealias Observer = @Sendable (DeviceEvent) -> Void

    private enum State {
        case idle
        case starting
        case running(since: C.Instant)
        case stopped
    }

    private let clock: C
    private let wallTime: @Sendable () -> WallTime
    private let observer: Observer?
    private let phone: Phone
    private let device: EmulatedDevice
    private var table: AttributeTable
    private var schedule = TickSchedule()
    private var manager: PeripheralManager?
    private var state = State.idle
    private var ticking: (task: Task<Void, Never>, until: Duration)?
    private var isQueueFull = false
    private var isBehind = false
    private var tooLong: Set<AttributeKey> = []
    private var enteringPasskey: PendingReply?
    private var isOnAir = false

    /// The radio's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { phone.unownedExecutor }

    /// An emulator of a device on a radio that has not been started.
    ///
    /// Without an observer no event is made at all, which is the fastest.
    public init(
        _ device: EmulatedDevice, on radio: any PeripheralRadio, clock: C,
        wallTime: @escaping @Sendable () -> WallTime = { .now() }, observer: Observer? = nil
    ) {
        let relay = EmulatorRelay<C>()
        self.device = device
        self.clock = clock
        self.wallTime = wallTime
        self.observer = observer
        table = device.table
        phone = Phone(radio: radio, identity: device.identity, sink: relay)
        self.relay = relay
    }

    private let relay: EmulatorRelay<C>

    /// Starts the radio, publishes and advertises; `check` may refuse what the radio turns out to be.
    ///
    /// Whatever fails, nothing is left behind.
    public func start(
        check: (RadioCapabilities) throws(RadioError) -> Void = { _ throws(RadioError) in }
    ) async throws(RadioError) {
        guard case .idle = state else {
            throw RadioError(.invalidState, "the device has been started already")
        }
        state = .starting
        relay.emulator = self
        do throws(RadioError) {
            let capabilities = try await phone.start()
            try check(capabilities)
            let manager = await phone.makePeripheralManager(sink: relay)
            self.manager = manager
            // The device's time begins before a central can read.
            state = .running(since: clock.now)
            if !device.services.isEmpty { try await manager.add(device.services) }
            if let advertisement = device.advertisement { try await manager.startAdvertising(advertisement) }
            tell(
                .ready,
                [
                    .init("profile", .string(device.name)), .init("radio", .string(capabilities.name)),
                    .init("services", .array(device.services.map { .string($0.uuid.description) })),
                ])
        } catch {
            await stop()
            throw error
        }
    }

    /// Withdraws everything and stops the radio.
    public func stop() async {
        if case .stopped = state { return }
        state = .stopped
        stopTicking()
        enteringPasskey = nil
        if let manager, await manager.isAdvertising {
            await manager.stopAdvertising()
        }
        await phone.stop()
        manager = nil
    }

    /// Gives the number that pairing asked for; false: nothing is asked.
    public func enter(passkey: UInt32) -> Bool {
        guard let reply = enteringPasskey else { return false }
        enteringPasskey = nil
        reply.answer(.success(Self.bytes(of: passkey)))
        return true
    }

    private var elapsed: Duration {
        guard case .running(let since) = state else { return .zero }
        return since.duration(to: clock.now)
    }
}

// Requests.
extension Emulator {
    func take(_ event: PeripheralEvent) -> RadioAnswer {
        switch event {
        case .read(let request, let central):
            let outcome = table.read(request, at: elapsed)
            if observer != nil {
                var value: [UInt8] = []
                if case .success(let bytes) = outcome { value = bytes }
                tellRead(request, central, value, outcome)
            }
            return .answer(outcome)
        case .answeredRead(let request, let central, let value):
            tellRead(request, central, value, .success(value))
        case .write(let request, let central):
            let outcome = table.write(request)
            tellWrite(request, central, outcome)
            return .answer(outcome)
        case .subscribed(let attribute, let central, let delivery):
            subscribe(attribute)
            tell(.subscribed, on: attribute, central) {
                delivery.map { [.init("delivery", .string($0.rawValue))] } ?? []
            }
        case .unsubscribed(let attribute, let central):
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
            if state != .poweredOn { stopTicking() }
        case .connected, .mtuChanged, .advertisingChanged, .missed:
            break
        }
        return .none
    }
}

// Values that are due.
extension Emulator {
    private func subscribe(_ attribute: AttributeKey) {
        guard let every = table.entries[attribute]?.every else { return }
        schedule.start(attribute, every: every, now: elapsed)
        keepTicking()
    }

    private func unsubscribeIfUnheard(_ attribute: AttributeKey) {
        guard let manager, !hasSubscribers(manager, attribute) else { return }
        schedule.stop(attribute)
    }

    private func unsubscribeUnheard() {
        guard let manager else { return }
        for attribute in schedule.attributes where !hasSubscribers(manager, attribute) {
            schedule.stop(attribute)
        }
    }

    private func hasSubscribers(_ manager: PeripheralManager, _ attribute: AttributeKey) -> Bool {
        manager.assumeIsolated { $0.hasSubscribers(of: attribute) }
    }

    private func stopTicking() {
        schedule.stopAll()
        ticking?.task.cancel()
        ticking = nil
        isQueueFull = false
        isBehind = false
    }

    /// Sleeps until the next tick, unless a sleep that ends no later is under way.
    private func keepTicking() {
        guard case .running(let since) = state, !isQueueFull, let next = schedule.earliest else { return }
        if let ticking {
            guard next.due < ticking.until else { return }
            ticking.task.cancel()
        }
        let clock = clock
        let task = Task {
            // Cancelled: whoever cancelled it has made the next one.
            guard (try? await clock.sleep(until: since.advanced(by: next.due), tolerance: nil)) != nil else {
                return
            }
            self.wake()
        }
        ticking = (task, next.due)
    }

    private func wake() {
        // A task that was cancelled after its sleep had ended: the one that replaced it will come.
        guard !Task.isCancelled else { return }
        ticking = nil
        sendDue()
    }

    /// Sends every tick that is due, in order, until the queue is full, and sleeps until the next.
    private func sendDue() {
        let now = elapsed
        while !isQueueFull, let tick = schedule.earliest, tick.due <= now {
            guard let value = table.value(of: tick) else { return schedule.stop(tick.attribute) }
            if send(value, of: tick.attribute) { schedule.sent(tick) } else { isQueueFull = true }
            tellIfBehind(now - tick.due)
        }
        keepTicking()
    }

    /// True: it is done with, even where it could not be sent at all.
    private func send(_ value: [UInt8], of attribute: AttributeKey) -> Bool {
        guard let manager else { return true }
        let result: Result<Bool, RadioError> = manager.assumeIsolated { manager in
            do throws(RadioError) {
                return .success(try manager.updateValue(value, for: attribute))
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(true):
            tell(.notified, on: attribute, nil) { [.init("value", .string(Hex.encode(value)))] }
            return true
        case .success(false):
            return false
        case .failure(let error):
            // Said once for each value: at a thousand a second it would bury everything else.
            if tooLong.insert(attribute).inserted {
                tell(.error, on: attribute, nil) { [.init("message", .string(error.description))] }
            }
            return true
        }
    }

    /// Values are never dropped, so a radio that cannot keep up is behind for good; the user should know.
    private func tellIfBehind(_ delay: Duration) {
        guard delay > .seconds(1), !isBehind else { return }
        isBehind = true
        tell(
            .warning,
            [
                .init("code", .string("notificationsBehind")),
                .init(
                    "message",
                    .string(
                        "the radio sends notifications more slowly than they are due, and is over a second behind"
                    )),
            ])
    }
}

// What is told.
extension Emulator {
    func take(_ event: PhoneEvent) -> RadioAnswer {
        switch event {
        case .pairing(let central, let step):
            return take(step, of: central)
        case .lost, .stateChanged:
            tooLong = []
        default:
            break
        }
        if case .advertisingChanged(let report) = event {
            tellAdvertising(report)
        } else if observer != nil, let (name, fields) = EventFields.of(event) {
            tell(name, fields)
        }
        return .none
    }

    private func take(_ step: PairingStep, of central: Central) -> RadioAnswer {
        if step != .agree {
            tell(.pairingPasskey, EventFields.of(step, central, isKnown: device.passkey != nil))
        }
        switch step {
        case .display: return .none
        case .compare, .agree: return .answer(.success([]))
        case .enter:
            if let passkey = device.passkey { return .answer(.success(Self.bytes(of: passkey))) }
            let reply = PendingReply()
            enteringPasskey = reply
            return .later(reply.pending)
        }
    }

    private func tellAdvertising(_ report: AdvertisingReport) {
        defer { isOnAir = report.isOn }
        switch (isOnAir, report.isOn) {
        case (false, true): tell(.advertisingStarted, EventFields.of(report))
        case (true, true): tell(.advertisingChanged, EventFields.of(report))
        case (true, false): tell(.advertisingStopped)
        case (false, false): break
        }
    }

    private static func bytes(of passkey: UInt32) -> [UInt8] {
        var writer = ByteWriter(capacity: 4)
        writer.write(passkey)
        return writer.bytes
    }

    private func tellRead(
        _ request: ReadRequest, _ central: Central, _ value: [UInt8], _ outcome: PendingReply.Outcome
    ) {
        tell(.read, on: request.attribute, central) {
            var fields: [JSON.Member] = []
            if request.offset > 0 { fields.append(.init("offset", .integer(request.offset))) }
            switch outcome {
            case .success: fields.append(.init("value", .string(Hex.encode(value))))
            case .failure(let error): fields.append(.init("error", EventFields.code(error)))
            }
            return fields
        }
    }

    private func tellWrite(_ request: WriteRequest, _ central: Central, _ outcome: PendingReply.Outcome) {
        for part in request.parts {
            tell(.write, on: part.attribute, central) {
                var fields: [JSON.Member] = []
                if part.offset > 0 { fields.append(.init("offset", .integer(part.offset))) }
                fields.append(.init("value", .string(Hex.encode(part.value))))
                fields.append(.init("withResponse", .bool(request.wantsResponse)))
                if case .failure(let error) = outcome {
                    fields.append(.init("error", EventFields.code(error)))
                }
                return fields
            }
        }
    }

    private func tell(
        _ name: DeviceEvent.Name, on attribute: AttributeKey, _ central: Central?, _ more: () -> [JSON.Member]
    ) {
        guard observer != nil else { return }
        var fields: [JSON.Member] = []
        if let central { fields.append(EventFields.central(central)) }
        if let entry = table.entries[attribute] {
            fields.append(.init("service", .string(entry.service.description)))
            fields.append(.init("characteristic", .string(entry.characteristic.description)))
            if let descriptor = entry.descriptor {
                fields.append(.init("descriptor", .string(descriptor.description)))
            }
        }
        tell(name, fields + more())
    }

    private func tell(_ name: DeviceEvent.Name, _ fields: [JSON.Member] = []) {
        guard let observer else { return }
        observer(DeviceEvent(time: wallTime(), name: name, fields: fields))
    }
}
