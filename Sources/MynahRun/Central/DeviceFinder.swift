import Mynah
import MynahCore
import MynahSupport

/// Scans for the device of `connect` or `record`.
struct DeviceFinder: Sendable {
    /// The default time limit of the search.
    static let patience = Duration.seconds(10)
    /// The time in which another device with the same name may still be received.
    private static let settling = Duration.seconds(1)
    /// The time for collecting the device's advertising reports, if `reports` is not 0.
    private static let listening = Duration.seconds(5)
    /// The additional time if too few reports were received to calculate the advertising interval.
    private static let listeningLonger = Duration.seconds(3)
    /// The number of advertising events that are needed to calculate the advertising interval.
    private static let neededAdverts = 3

    /// The device to find.
    let search: DeviceSearch
    let timeout: Duration
    let clock: RunClock
    /// The number of advertising reports to collect after the device was found.
    var reports = 0
    /// A function that returns a possible reason why no device was received, or `nil` if none is known.
    var hint: @Sendable () -> String? = { nil }

    /// Scans until the device is found; returns `nil` if the scan is interrupted.
    ///
    /// `listen` sets the function that receives discoveries, or removes it if the argument is `nil`.
    func find(
        _ manager: CentralManager, _ listen: ((@Sendable (Discovery) -> Void)?) -> Void
    ) async throws(RadioError) -> Peripheral? {
        // The newest steps are kept, so that the end of the time limit is never lost.
        let (steps, continuation) = AsyncStream<DeviceSearch.Step>.makeStream(
            bufferingPolicy: .bufferingNewest(4096))
        listen { continuation.yield(.heard(Sighting($0))) }
        defer { listen(nil) }
        var overdue = clock.timer(timeout) { continuation.yield(.overdue) }
        defer { overdue.cancel() }
        var options = ScanOptions(allowsDuplicates: reports > 0)
        if reports > 0 { options.synchronization = .ifSupported }
        try await manager.scanForPeripherals(options: options)
        var search = search
        var found: DeviceAddress?
        var missing = reports
        var trains = AwaitedTrains(reports: reports)
        // The report with which the device was found counts too.
        var adverts = 1
        var isLate = false
        for await step in steps {
            if let found {
                switch step {
                case .heard(let sighting) where sighting.report.address == found:
                    trains.add(sighting.report)
                    guard !sighting.report.isPeriodic else { break }
                    missing -= 1
                    if sighting.report.kind != .scanResponse { adverts += 1 }
                    if isLate, adverts >= Self.neededAdverts { missing = 0 }
                case .overdue where !isLate && adverts < Self.neededAdverts:
                    isLate = true
                    overdue = clock.timer(Self.listeningLonger) { continuation.yield(.overdue) }
                case .overdue: return await self.found(found, manager)
                case .heard, .settled: continue
                }
                guard missing <= 0, isLate || trains.areHeard else { continue }
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

/// The periodic advertising trains of a device whose data is still to be received.
private struct AwaitedTrains {
    /// The number of reports to collect of each train.
    let reports: Int
    /// The number of missing reports, by the identifier of the advertising set.
    private var missing: [UInt8: Int] = [:]

    init(reports: Int) { self.reports = reports }

    /// Whether enough reports of all trains were received.
    var areHeard: Bool { missing.values.allSatisfy { $0 <= 0 } }

    mutating func add(_ report: ScanReport) {
        guard let set = report.set, report.isPeriodic || report.periodicInterval != nil else { return }
        missing[set, default: reports] -= report.isPeriodic ? 1 : 0
    }
}

extension RunClock {
    /// Calls `work` after a delay, unless the task is cancelled first.
    func timer(_ duration: Duration, _ work: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        Task(executorPreference: taskExecutor) {
            guard (try? await sleep(for: duration)) != nil else { return }
            work()
        }
    }
}
