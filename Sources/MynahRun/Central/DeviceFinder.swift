import Mynah
import MynahCore
import MynahSupport

/// Listens for the device that a command names: `connect` and `record` share it.
struct DeviceFinder: Sendable {
    /// The time limit of the search, unless the user sets one.
    static let patience = Duration.seconds(10)
    /// How long the search waits for another device of the same name.
    private static let settling = Duration.seconds(1)
    /// How long the device is listened to once it is found, if `reports` are wanted.
    private static let listening = Duration.seconds(5)
    /// How much longer to listen if too few advertising events were heard to know the advertising interval.
    private static let listeningLonger = Duration.seconds(3)
    /// How many advertising events the advertising interval is calculated from.
    private static let neededAdverts = 3

    let device: String
    let timeout: Duration
    let clock: RunClock
    /// How many more advertising reports of the device to hear once it is found.
    var reports = 0
    /// The reason why a device that plays may not be heard, if none is; `nil` if nothing is known.
    var hint: @Sendable () -> String? = { nil }

    /// Listens until the device is heard; returns `nil` if it is interrupted.
    ///
    /// `listen` sets the receiver of discoveries, or `nil`.
    func find(
        _ manager: CentralManager, _ listen: ((@Sendable (Discovery) -> Void)?) -> Void
    ) async throws(RadioError) -> Peripheral? {
        // The end of the time limit is kept, however many reports come.
        let (steps, continuation) = AsyncStream<DeviceSearch.Step>.makeStream(
            bufferingPolicy: .bufferingNewest(4096))
        listen { continuation.yield(.heard(Sighting($0))) }
        defer { listen(nil) }
        var overdue = clock.timer(timeout) { continuation.yield(.overdue) }
        defer { overdue.cancel() }
        try await manager.scanForPeripherals(options: ScanOptions(allowsDuplicates: reports > 0))
        var search = DeviceSearch(device)
        var found: DeviceAddress?
        var missing = reports
        // The advertisement by which the device was found.
        var adverts = 1
        var isLate = false
        for await step in steps {
            if let found {
                switch step {
                case .heard(let sighting) where sighting.report.address == found:
                    missing -= 1
                    if sighting.report.kind != .scanResponse { adverts += 1 }
                    if isLate, adverts >= Self.neededAdverts { missing = 0 }
                case .overdue where !isLate && adverts < Self.neededAdverts:
                    isLate = true
                    overdue = clock.timer(Self.listeningLonger) { continuation.yield(.overdue) }
                case .overdue: missing = 0
                case .heard, .settled: continue
                }
                guard missing <= 0 else { continue }
                return await self.found(found, manager)
            }
            switch search.advance(step) {
            case .wait: continue
            case .settle: _ = clock.timer(Self.settling) { continuation.yield(.settled) }
            case .found(let address):
                guard reports > 0 else { return await self.found(address, manager) }
                found = address
                overdue.cancel()
                overdue = clock.timer(Self.listening) { continuation.yield(.overdue) }
            case .failed(let error):
                guard search.hasHeardNothing, let hint = hint() else { throw error }
                throw RadioError(error.code, error.message, remedy: hint)
            }
        }
        return nil
    }

    private func found(_ address: DeviceAddress, _ manager: CentralManager) async -> Peripheral {
        await manager.stopScan()
        return await manager.peripheral(at: address)
    }
}

extension RunClock {
    /// Does something after a time, unless it is cancelled before.
    func timer(_ duration: Duration, _ work: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        Task(executorPreference: taskExecutor) {
            guard (try? await sleep(for: duration)) != nil else { return }
            work()
        }
    }
}
