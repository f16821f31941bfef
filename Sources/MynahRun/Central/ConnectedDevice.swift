import Mynah
import MynahCore
import MynahEmulator
import MynahHost
import MynahSupport

/// Carries out the commands for a connected device.
struct ConnectedDevice: Sendable {
    /// The result of a command.
    enum Outcome {
        case done
        case failed
        case quit
    }

    let manager: CentralManager
    private let radio: HostRadio
    let peripheral: Peripheral
    let sink: ConnectSink
    private let plan: ConnectPlan
    private let clock: RunClock
    /// Whether the user or the plan can provide a passkey.
    private let entersPasskey: Bool
    private let interruption: Interruption
    /// Whether a write without response was sent after the last request.
    private let hasSent = Lock(false)

    init(
        manager: CentralManager, radio: HostRadio, peripheral: Peripheral, sink: ConnectSink,
        plan: ConnectPlan, clock: RunClock, entersPasskey: Bool,
        interruption: Interruption
    ) {
        self.manager = manager
        self.radio = radio
        self.peripheral = peripheral
        self.sink = sink
        self.plan = plan
        self.clock = clock
        self.entersPasskey = entersPasskey
        self.interruption = interruption
    }

    /// Whether the session is ending, so that failed requests are not reported.
    var isEnding: Bool { interruption.isInterrupted }

    func tell(_ report: ConnectReport) { sink.tellResult(report) }

    /// Connects to the device, discovers the services of the plan, and reports them if the plan says so.
    func open() async throws(RequestError) {
        sink.commandBegan()
        defer { sink.commandEnded() }
        await radio.tellOfAnswers { [sink] in sink.asked(isAnswered: $0) }
        await radio.limitAnswers(to: plan.timeout)
        do throws(RadioError) {
            try await manager.connect(peripheral, timeout: plan.timeout)
        } catch {
            throw .failed(error)
        }
        try await discover(isReported: plan.reportsServices)
        await radio.limitAnswers(to: nil)
    }

    private func discover(isReported: Bool) async throws(RequestError) {
        try await peripheral.exchangeMTU()
        let services = try await peripheral.discoverAll(plan.services.isEmpty ? nil : plan.services)
        if let missing = plan.services.first(where: { uuid in !services.contains { $0.uuid == uuid } }) {
            throw .failed(RadioError(.unknownAttribute, "the device has no primary service \(missing)"))
        }
        sink.services = services
        if isReported { tell(.services(services)) }
    }

    /// Parses and carries out a line.
    func perform(_ line: String) async -> Outcome {
        defer { sink.commandEnded() }
        do throws(ConnectRequest.Problem) {
            guard let request = try ConnectRequest.parse(line) else { return .done }
            if request == .quit { return .quit }
            do throws(RequestError) {
                try await perform(request)
            } catch {
                // Pairing with a passkey does not make the key longer.
                let needsPasskey =
                    error.asksForSecurity && error != .refused(.insufficientEncryptionKeySize)
                    && !entersPasskey
                if !isEnding { tell(.failed(error, needsPasskey: needsPasskey)) }
                return .failed
            }
            return .done
        } catch {
            tell(.problem(error.message))
            return .failed
        }
    }

    private func perform(_ request: ConnectRequest) async throws(RequestError) {
        if case .wait = request {} else { sink.commandBegan() }
        switch request {
        case .services: try await discover(isReported: true)
        case .read(let path):
            let target = try await target(path)
            let value: [UInt8]
            switch target {
            case .characteristic(let characteristic):
                value = try await peripheral.readValue(for: characteristic)
            case .descriptor(let descriptor, _): value = try await peripheral.readValue(for: descriptor)
            }
            tell(.read(target, value))
        case .write(let path, let value, let withResponse):
            try await write(value, to: try await target(path), withResponse: withResponse)
        case .subscribe(let path): try await subscribe(true, path)
        case .unsubscribe(let path): try await subscribe(false, path)
        case .mtu: tell(.mtu(try await peripheral.exchangeMTU()))
        case .rssi: tell(.rssi(try await peripheral.readRSSI()))
        case .pair: try await peripheral.pair()
        case .forget:
            guard await peripheral.forgetBond() else {
                throw .failed(RadioError(.invalidState, "there is no bond with the device"))
            }
            tell(.forgotten)
        // The wait lasts as long as the user has requested, even if the link ends.
        case .wait(let duration): try? await clock.sleep(for: duration)
        case .connect:
            if await !peripheral.isConnected { try await open() }
        case .disconnect:
            await settle()
            await manager.cancelPeripheralConnection(peripheral)
        case .help: tell(.help)
        case .quit: break
        }
    }

    /// Waits until earlier write commands have arrived, because ending the link would drop them.
    ///
    /// This sends a request, which the device answers after the commands.
    func settle() async {
        let isWanted = hasSent.withLock { hasSent in
            defer { hasSent = false }
            return hasSent
        }
        guard isWanted, await peripheral.isConnected else { return }
        _ = try? await peripheral.discoverServices(["1800"])
    }

    private func write(
        _ value: [UInt8], to target: AttributePath.Target, withResponse: Bool
    ) async throws(RequestError) {
        switch target {
        case .characteristic(let characteristic):
            var rooms = sink.rooms
            while try await !peripheral.writeValue(
                value, for: characteristic, type: withResponse ? .withResponse : .withoutResponse)
            {
                await sink.waitForRoom(after: rooms)
                rooms = sink.rooms
            }
            hasSent.withLock { $0 = !withResponse }
        case .descriptor(let descriptor, _):
            guard withResponse else {
                throw .failed(
                    RadioError(
                        .unsupported, "a descriptor cannot be written without response",
                        remedy: "use \"write\""))
            }
            try await peripheral.writeValue(value, for: descriptor)
        }
        tell(.written(target, value, withResponse: withResponse))
    }

    private func subscribe(_ isOn: Bool, _ path: AttributePath) async throws(RequestError) {
        let target = try await target(path)
        guard case .characteristic(let characteristic) = target else {
            throw .failed(
                RadioError(
                    .unknownAttribute, "\(path.text) is a descriptor; only a characteristic sends values"))
        }
        try await peripheral.setNotifyValue(isOn, for: characteristic)
        tell(.subscription(isOn, target))
    }

    private func target(_ path: AttributePath) async throws(RequestError) -> AttributePath.Target {
        guard await peripheral.isConnected else {
            throw .failed(RadioError(.disconnected, "\(peripheral.address) is not connected"))
        }
        do throws(ConnectRequest.Problem) {
            return try path.target(in: await peripheral.services)
        } catch {
            throw .failed(RadioError(.unknownAttribute, error.message))
        }
    }
}
