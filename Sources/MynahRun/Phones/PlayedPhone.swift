import Mynah
import MynahControl
import MynahCore
import MynahEmulator
import MynahHost
import MynahProfiles
import MynahSupport

/// A phone in the central role that a test made: it carries out requests of the control API, and reports
/// events.
final class PlayedPhone: ControlledPhone {
    /// The largest number of requests at a time, including those whose time limit has passed.
    private static let requestLimit = 256
    /// The additional time after which a scan or connection request fails if it still waits for other
    /// requests.
    ///
    /// A request that no longer waits ends at its time limit.
    private static let grace = Duration.seconds(1)

    let name: String
    /// The number of the phone's radio in the run.
    let index: Int
    let settings: PhoneSettings
    private let phone: CentralPhone
    /// The maker of the phone's own radio, which ends with the phone; `nil` if the phone uses the run's
    /// radio.
    private let radios: RadioMaker?
    private let clock: RunClock
    private let pairing: PhonePairing
    private let observer: PhoneEvents?
    /// Ensures that only one request scans at a time.
    private let scans = TurnQueue()
    private let requests = Lock(0)

    init(
        _ name: String, _ index: Int, _ settings: PhoneSettings, on radio: HostRadio, _ radios: RadioMaker?,
        observer: (@Sendable (DeviceEvent) -> Void)?, clock: RunClock
    ) {
        self.name = name
        self.index = index
        self.settings = settings
        self.radios = radios
        self.clock = clock
        let pairing = PhonePairing(settings.pairing)
        self.pairing = pairing
        let sink = ConnectSink(
            questions: nil, passkey: nil, answers: .init { pairing.answer(to: $0) }, clock: clock)
        var identity = DeviceIdentity(name: name, ioCapability: settings.io)
        identity.confirmsIndications = settings.confirms
        phone = CentralPhone(
            radio, as: identity, sink, clock: clock, options: .init(entersPasskey: true))
        self.observer = observer.map { PhoneEvents(of: name, clock: clock, pass: $0) }
        sink.tells(self.observer)
    }

    func start() async throws(RadioError) { try await phone.start() }

    /// Ends every link, and stops the radio.
    func stop() async {
        await phone.stop()
        phone.sink.tells(nil)
        radios?.end()
    }

    // MARK: State

    var radioName: String { phone.radio.name }

    func address() async -> DeviceAddress? { await phone.radio.ownAddress }

    func peripherals() async -> [ConnectedPeripheral] {
        var found: [ConnectedPeripheral] = []
        for peripheral in await phone.manager.connectedPeripherals {
            found.append(await ConnectedPeripheral(peripheral))
        }
        return found
    }

    func forgetBonds() async {
        for address in await phone.radio.bondedAddresses {
            _ = await phone.manager.peripheral(at: address).forgetBond()
        }
    }

    // MARK: Requests

    func carryOut(_ request: PhoneRequest) async throws(PhoneFailure) -> PhoneResult {
        let isBusy = requests.withLock { count in
            guard count < Self.requestLimit else { return true }
            count += 1
            return false
        }
        guard !isBusy else {
            throw Self.failure(
                .invalidState, "\(name) has \(Self.requestLimit) requests that are not carried out yet")
        }
        let result = FirstResult<Result<PhoneResult, PhoneFailure>>()
        let work = Task(executorPreference: clock.taskExecutor) { [self] in
            result.give(await perform(request))
            requests.withLock { $0 -= 1 }
        }
        let timer = clock.timer(request.within + (request.hasOwnLimit ? Self.grace : .zero)) {
            result.give(.failure(.overdue(request.within)))
        }
        defer {
            timer.cancel()
            work.cancel()
        }
        return try await withTaskCancellationHandler {
            await result.value
        } onCancel: {
            result.give(.failure(Self.failure(.timedOut, "the request was cancelled")))
        }.get()
    }

    private static func failure(_ code: RadioError.Code, _ message: String) -> PhoneFailure {
        .request(.failed(RadioError(code, message)))
    }

    private func perform(_ request: PhoneRequest) async -> Result<PhoneResult, PhoneFailure> {
        do throws(PhoneFailure) {
            switch request.action {
            case .scan(let search, let count):
                return .success(.heard(try await scan(search, count, until: due(request), request.within)))
            case .connect(let search):
                return .success(.connected(try await connect(search, until: due(request), request.within)))
            case .pair(let wish, let name):
                pairing.use(wish)
                return .success(try await phone.carryOut(.pair, on: try await peripheral(name)))
            case .enter(let passkey):
                guard pairing.enter(passkey) else {
                    throw Self.failure(.invalidState, "no pairing asks for a passkey")
                }
                return .success(.done)
            case .perform(.forget, let name?):
                return .success(try await phone.carryOut(.forget, on: try await known(name)))
            case .perform(.disconnect, let name):
                return .success(try await disconnect(try await peripheral(name)))
            case .perform(let verb, let name):
                return .success(try await phone.carryOut(verb, on: try await peripheral(name)))
            }
        } catch {
            return .failure(error)
        }
    }

    private func due(_ request: PhoneRequest) -> RunClock.Instant { clock.now.advanced(by: request.within) }

    /// The connected peripheral with this address or name; `nil` selects the only connected peripheral.
    private func peripheral(_ wanted: String?) async throws(PhoneFailure) -> Peripheral {
        let connected = await phone.manager.connectedPeripherals
        guard let wanted else {
            guard let first = connected.first else {
                throw Self.failure(.disconnected, "\(name) is not connected")
            }
            guard connected.count == 1 else {
                let list = NameList.text(connected.map { "\($0.address)" })
                throw .invalid("\(name) is connected to \(list); name one with \"peripheral\"")
            }
            return first
        }
        if let peripheral = await Self.first(of: connected, named: wanted) { return peripheral }
        throw Self.failure(
            .disconnected, "\(name) is not connected to \"\(PrintableText.of(wanted))\"")
    }

    private static func first(of all: [Peripheral], named text: String) async -> Peripheral? {
        if let address = DeviceAddress(text, kind: .random),
            let peripheral = all.first(where: { $0.address.value == address.value })
        {
            return peripheral
        }
        for peripheral in all {
            if await peripheral.name == text { return peripheral }
        }
        return nil
    }

    /// The connected peripheral with this name or address, or else the bonded one with this address.
    private func known(_ wanted: String) async throws(PhoneFailure) -> Peripheral {
        let connected = await phone.manager.connectedPeripherals
        if let peripheral = await Self.first(of: connected, named: wanted) { return peripheral }
        let bonded = await phone.radio.bondedAddresses
        guard let address = DeviceAddress(wanted, kind: .random),
            let own = bonded.first(where: { $0.value == address.value })
        else { throw Self.failure(.invalidState, "there is no bond with \"\(PrintableText.of(wanted))\"") }
        return await phone.manager.peripheral(at: own)
    }

    private func disconnect(_ peripheral: Peripheral) async throws(PhoneFailure) -> PhoneResult {
        let end = phone.sink.expectEnd(of: peripheral)
        let result = try await phone.carryOut(.disconnect, on: peripheral)
        await end.value
        return result
    }

    // MARK: Scanning and connecting

    /// Waits until no other request scans, and then calls `body`, which scans.
    ///
    /// `body` gets the time until `due`. If no time is left, the function throws an error with the time
    /// limit, `limit`.
    private func scanning<Value: Sendable>(
        until due: RunClock.Instant, _ limit: Duration, services: [BluetoothUUID],
        _ body: (Duration) async throws(PhoneFailure) -> Value
    ) async throws(PhoneFailure) -> Value {
        await scans.wait()
        defer { scans.end() }
        let rest = clock.now.duration(to: due)
        guard !Task.isCancelled, rest > .zero || limit == .zero else { throw .overdue(limit) }
        phone.sink.tell(.scanning(true, services: services))
        defer { phone.sink.tell(.scanning(false, services: services)) }
        return try await body(max(rest, .zero))
    }

    private func scan(
        _ search: PeripheralSearch, _ count: Int?, until due: RunClock.Instant, _ limit: Duration
    ) async throws(PhoneFailure) -> [HeardPeripheral] {
        try await scanning(until: due, limit, services: search.services) { rest async throws(PhoneFailure) in
            let (steps, continuation) = AsyncStream<Discovery?>.makeStream(
                bufferingPolicy: .bufferingNewest(4096))
            phone.sink.onDiscovery { continuation.yield($0) }
            defer { phone.sink.onDiscovery(nil) }
            let overdue = clock.timer(rest) { continuation.yield(nil) }
            defer { overdue.cancel() }
            var heard: [HeardPeripheral] = []
            do throws(RadioError) {
                try await phone.manager.scanForPeripherals(
                    withServices: search.services.isEmpty ? nil : search.services)
                for await step in steps {
                    guard let discovery = step else { break }
                    let found = HeardPeripheral(discovery)
                    guard
                        search.matches(
                            [found.address, discovery.report.resolvedAddress], name: found.name,
                            services: found.services)
                    else { continue }
                    if let index = heard.firstIndex(where: { $0.address == found.address }) {
                        heard[index] = found
                    } else {
                        heard.append(found)
                    }
                    if let count, heard.count >= count { break }
                }
            } catch {
                throw .request(.failed(error))
            }
            await phone.manager.stopScan()
            return heard
        }
    }

    private func connect(
        _ search: PeripheralSearch, until due: RunClock.Instant, _ limit: Duration
    ) async throws(PhoneFailure) -> ConnectedPeripheral {
        for peripheral in await phone.manager.connectedPeripherals {
            let services = await peripheral.services.map(\.uuid)
            if search.matches([peripheral.address], name: await peripheral.name, services: services) {
                return await ConnectedPeripheral(peripheral)
            }
        }
        let found = try await scanning(until: due, limit, services: search.services) {
            rest async throws(PhoneFailure) in
            do throws(RadioError) {
                let found = try await phone.find(DeviceSearch(search), timeout: rest)
                if found == nil { await phone.manager.stopScan() }
                return found
            } catch {
                await phone.manager.stopScan()
                throw .request(.failed(error))
            }
        }
        guard let found else { throw .overdue(limit) }
        do throws(RequestError) {
            try await phone.open(
                found, timeout: max(clock.now.duration(to: due), .milliseconds(1)), limitsAnswers: false,
                services: [], reportsServices: true)
        } catch {
            await phone.manager.cancelPeripheralConnection(found)
            throw .request(error)
        }
        return await ConnectedPeripheral(found)
    }
}

extension PhoneRequest {
    /// `true` for an action that ends at its time limit by itself, with a result or a more precise error.
    fileprivate var hasOwnLimit: Bool {
        switch action {
        case .scan, .connect: true
        case .perform, .pair, .enter: false
        }
    }
}
