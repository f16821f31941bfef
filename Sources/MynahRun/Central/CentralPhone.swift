import Mynah
import MynahCore
import MynahEmulator
import MynahHost
import MynahProfiles
import MynahSupport

/// A phone in the central role: it finds peripherals, carries out verbs for them, and reports what happens.
///
/// A verb (`PhoneVerb`) is an operation such as `read` or `pair`. `mynah connect` parses verbs from lines,
/// and the control API parses them from HTTP requests. Each shows the reports in a form of its own.
struct CentralPhone: Sendable {
    /// The options for pairings, and for the end of the phone.
    struct Options: Sendable {
        /// Whether the user or a test can enter a passkey during a pairing.
        var entersPasskey = false
        /// Whether the phone is about to end, so that requests fail.
        var isEnding: @Sendable () -> Bool = { false }
    }

    let manager: CentralManager
    let radio: HostRadio
    let sink: ConnectSink
    let clock: RunClock
    private let options: Options
    /// The peripherals whose last written value was sent without response, and may not have arrived yet.
    private let sent = Lock<Set<PeripheralIdentifier>>([])

    init(
        _ radio: HostRadio, as identity: DeviceIdentity, _ sink: ConnectSink, clock: RunClock,
        options: Options
    ) {
        self.radio = radio
        self.sink = sink
        self.clock = clock
        self.options = options
        manager = CentralManager(radio: radio, identity: identity, sink: sink)
    }

    /// Starts the radio.
    func start() async throws(RadioError) {
        try await manager.start()
        await radio.tellOfAnswers { [sink] in sink.asked(isAnswered: $0) }
        await radio.tellOfParameters { [sink] peer, report in
            sink.tell(.parameters(report), EventPeripheral(address: peer.address, name: peer.name))
        }
    }

    /// Ends every link, and stops the radio.
    func stop() async { await manager.stop() }

    // MARK: Finding and connecting

    /// Scans until a peripheral is found; returns `nil` if the task is cancelled.
    ///
    /// `hint` returns a likely reason that no device was received, for the error message, or `nil`.
    func find(
        _ search: DeviceSearch, timeout: Duration, hint: @escaping @Sendable () -> String? = { nil }
    ) async throws(RadioError) -> Peripheral? {
        let finder = DeviceFinder(search: search, timeout: timeout, clock: clock, hint: hint)
        return try await finder.find(manager) { sink.onDiscovery($0) }
    }

    /// Connects to a peripheral and discovers its services: all, or only those of these types if there are
    /// any.
    ///
    /// `timeout` limits the time for connecting, and `nil` means no limit. With `limitsAnswers`, it also
    /// limits the time for each ATT response until the services are discovered. Other responses have ATT's
    /// limit of 30 s.
    @discardableResult
    func open(
        _ peripheral: Peripheral, timeout: Duration?, limitsAnswers: Bool, services types: [BluetoothUUID],
        reportsServices: Bool
    ) async throws(RequestError) -> [DiscoveredService] {
        sink.commandBegan()
        defer { sink.commandEnded() }
        if limitsAnswers { await radio.limitAnswers(to: timeout) }
        do throws(RadioError) {
            try await manager.connect(peripheral, timeout: timeout)
        } catch {
            throw .failed(error)
        }
        let services = try await discover(types, of: peripheral, isReported: reportsServices)
        if limitsAnswers { await radio.limitAnswers(to: nil) }
        return services
    }

    private func discover(
        _ types: [BluetoothUUID], of peripheral: Peripheral, isReported: Bool
    ) async throws(RequestError) -> [DiscoveredService] {
        try await peripheral.exchangeMTU()
        let services = try await peripheral.discoverAll(types.isEmpty ? nil : types)
        if let missing = types.first(where: { uuid in !services.contains { $0.uuid == uuid } }) {
            throw .failed(RadioError(.unknownAttribute, "the device has no primary service \(missing)"))
        }
        sink.services = services
        if isReported { await tell(.services(services), of: peripheral) }
        return services
    }

    // MARK: Verbs

    /// Carries out a verb for a peripheral, and reports its result or its failure.
    func carryOut(_ verb: PhoneVerb, on peripheral: Peripheral) async throws(PhoneFailure) -> PhoneResult {
        sink.commandBegan()
        defer { sink.commandEnded() }
        do throws(Failed) {
            return try await perform(verb, on: peripheral)
        } catch {
            await report(error, of: peripheral)
            throw error.failure
        }
    }

    /// A failure of a verb, and its attribute if it was a request for one.
    private struct Failed: Error {
        var failure: PhoneFailure
        var attempt: ConnectReport.Attempt?

        init(_ failure: PhoneFailure, _ attempt: ConnectReport.Attempt? = nil) {
            self.failure = failure
            self.attempt = attempt
        }
    }

    private func report(_ failed: Failed, of peripheral: Peripheral) async {
        guard !options.isEnding() else { return }
        let error: RequestError
        switch failed.failure {
        case .request(let own): error = own
        case .notFound(let message), .invalid(let message):
            error = .failed(RadioError(.unknownAttribute, message))
        }
        // A passkey makes no key longer.
        let needsPasskey =
            error.asksForSecurity && error != .refused(.insufficientEncryptionKeySize)
            && !options.entersPasskey
        let device = EventPeripheral(address: peripheral.address, name: await peripheral.name)
        sink.tellResult(
            .failed(error, needsPasskey: needsPasskey), device,
            after: failed.attempt.map { ConnectReport.attemptFailed($0, error) })
    }

    private func tell(_ report: ConnectReport, of peripheral: Peripheral) async {
        let device = EventPeripheral(address: peripheral.address, name: await peripheral.name)
        sink.tellResult(report, device)
    }

    private func perform(
        _ verb: PhoneVerb, on peripheral: Peripheral
    ) async throws(Failed) -> PhoneResult {
        switch verb {
        case .discover(let types):
            return .services(
                try await requesting { () async throws(RequestError) -> [DiscoveredService] in
                    try await discover(types, of: peripheral, isReported: true)
                })
        case .read(let path): return try await read(try await target(path, of: peripheral), of: peripheral)
        case .write(let path, let value, let withResponse):
            let target = try await target(path, of: peripheral)
            let bytes: [UInt8]
            do throws(PhoneFailure) { bytes = try value.bytes(for: target) } catch { throw Failed(error) }
            return try await write(bytes, to: target, of: peripheral, withResponse)
        case .subscribe(let isOn, let path): return try await subscribe(isOn, path, of: peripheral)
        case .mtu:
            let mtu = try await requesting { () async throws(RequestError) -> Int in
                try await peripheral.exchangeMTU()
            }
            await tell(.mtu(mtu), of: peripheral)
            return .mtu(mtu)
        case .rssi:
            let rssi = try await requesting { () async throws(RequestError) -> Int8 in
                try await peripheral.readRSSI()
            }
            await tell(.rssi(rssi), of: peripheral)
            return .rssi(rssi)
        case .pair:
            try await requesting { () async throws(RequestError) -> Void in try await peripheral.pair() }
        case .forget:
            guard await peripheral.forgetBond() else {
                throw Failed(.request(.failed(RadioError(.invalidState, "there is no bond with the device"))))
            }
            await tell(.forgotten, of: peripheral)
        case .parameters(let range): return .parameters(try await change(range, of: peripheral))
        case .disconnect:
            await settle(peripheral)
            await manager.cancelPeripheralConnection(peripheral)
        }
        return .done
    }

    private func requesting<Value: Sendable>(
        _ body: () async throws(RequestError) -> Value
    ) async throws(Failed) -> Value {
        do throws(RequestError) { return try await body() } catch { throw Failed(.request(error)) }
    }

    /// Sends the request for an attribute that `attempt` describes; a failure is thrown together with
    /// `attempt`.
    private func attempting<Value: Sendable>(
        _ attempt: ConnectReport.Attempt, _ body: () async throws(RequestError) -> Value
    ) async throws(Failed) -> Value {
        do throws(RequestError) {
            return try await body()
        } catch {
            throw Failed(.request(error), attempt)
        }
    }

    private func read(
        _ target: AttributePath.Target, of peripheral: Peripheral
    ) async throws(Failed) -> PhoneResult {
        let value = try await attempting(.read(target)) { () async throws(RequestError) -> [UInt8] in
            switch target {
            case .characteristic(let characteristic):
                return try await peripheral.readValue(for: characteristic)
            case .descriptor(let descriptor, _): return try await peripheral.readValue(for: descriptor)
            }
        }
        await tell(.read(target, value), of: peripheral)
        return .read(target, value)
    }

    private func write(
        _ value: [UInt8], to target: AttributePath.Target, of peripheral: Peripheral, _ withResponse: Bool
    ) async throws(Failed) -> PhoneResult {
        let attempt = ConnectReport.Attempt.write(target, value, withResponse: withResponse)
        let type: Peripheral.WriteType = withResponse ? .withResponse : .withoutResponse
        try await attempting(attempt) { () async throws(RequestError) -> Void in
            switch target {
            case .characteristic(let characteristic):
                var rooms = sink.rooms
                while try await !peripheral.writeValue(value, for: characteristic, type: type) {
                    await sink.waitForRoom(after: rooms)
                    rooms = sink.rooms
                }
                sent.withLock {
                    if withResponse {
                        $0.remove(peripheral.identifier)
                    } else {
                        $0.insert(peripheral.identifier)
                    }
                }
            case .descriptor(let descriptor, _):
                guard withResponse else {
                    throw .failed(
                        RadioError(
                            .unsupported, "a descriptor cannot be written without response",
                            remedy: "use \"write\""))
                }
                try await peripheral.writeValue(value, for: descriptor)
            }
        }
        await tell(.written(target, value, withResponse: withResponse), of: peripheral)
        return .written(target, value, withResponse: withResponse)
    }

    private func subscribe(
        _ isOn: Bool, _ path: AttributePath, of peripheral: Peripheral
    ) async throws(Failed) -> PhoneResult {
        let target = try await target(path, of: peripheral)
        guard case .characteristic(let characteristic) = target else {
            throw Failed(.notFound("\(path.text) is a descriptor; only a characteristic sends values"))
        }
        try await attempting(.subscription(isOn, target)) { () async throws(RequestError) -> Void in
            try await peripheral.setNotifyValue(isOn, for: characteristic)
        }
        await tell(.subscription(isOn, target), of: peripheral)
        return .subscription(isOn, target)
    }

    private func change(
        _ range: ConnectionParameterRange, of peripheral: Peripheral
    ) async throws(Failed) -> ConnectionParameterRange {
        guard let peer = await peripheral.peer else { throw Failed(Self.isNotConnected(peripheral)) }
        return try await requesting { () async throws(RequestError) -> ConnectionParameterRange in
            do throws(RadioError) {
                return try await radio.changeParameters(to: range, of: peer)
            } catch {
                throw .failed(error)
            }
        }
    }

    /// Waits until the peripheral has received all values that were written without response.
    ///
    /// Ending the link before would drop them. The function sends another request, which the peripheral
    /// answers only after it has received the values.
    func settle(_ peripheral: Peripheral) async {
        let isWanted = sent.withLock { $0.remove(peripheral.identifier) != nil }
        guard isWanted, await peripheral.isConnected else { return }
        _ = try? await peripheral.discoverServices(["1800"])
    }

    static func isNotConnected(_ peripheral: Peripheral) -> PhoneFailure {
        .request(.failed(RadioError(.disconnected, "\(peripheral.address) is not connected")))
    }

    private func target(
        _ path: AttributePath, of peripheral: Peripheral
    ) async throws(Failed) -> AttributePath.Target {
        guard await peripheral.isConnected else { throw Failed(Self.isNotConnected(peripheral)) }
        do throws(AttributePath.Problem) {
            return try path.target(in: await peripheral.services)
        } catch {
            throw Failed(.notFound(error.message))
        }
    }
}
