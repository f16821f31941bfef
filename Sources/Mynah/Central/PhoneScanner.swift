import MynahCore
import MynahLifecycle
import MynahSupport

/// Changes the radio's scan when the scans or the pending connections of the central managers change.
///
/// Belongs to a phone, and runs on the phone's executor.
final class PhoneScanner {
    /// The controller's ability to scan while it has links and while it advertises.
    private var capabilities = CentralCapabilities()
    /// The obstacles that were reported as warnings.
    private var reported: Set<PhoneScan.Obstacle> = []
    /// The radio's scan, or `nil` if it does not scan.
    private var current: ScanOptions?
    /// Whether the phone's screen is on: while it is off, scans ignore the overflow area.
    var isScreenOn = true
    /// Whether to restart the scan, so that the controller's duplicate filter reports devices again.
    private var isStale = false
    /// A number that increases with each request to the radio.
    private var epoch = 0
    /// The task that changes the radio's scan, or `nil` if there is nothing to change.
    private var task: Task<RadioError?, Never>?
    private var restart: Task<Void, Never>?
    private let radio: (any CentralRadio)?
    private let clock: RunClock
    private let centrals: CentralTable
    private let memory: CentralMemory
    private let programs: CentralPrograms
    private let meter: PhoneMeter
    private let work: PhoneWork
    /// Whether the phone advertises, or is about to.
    var isAdvertising = false

    init(_ radio: (any CentralRadio)?, _ common: PhoneCommon, _ programs: CentralPrograms, _ clock: RunClock)
    {
        self.radio = radio
        self.clock = clock
        (centrals, memory) = (common.memory.centrals, common.central)
        (meter, work) = (common.meter, common.work)
        self.programs = programs
    }

    /// The combined scan of all managers.
    func compose() -> PhoneScan {
        let (peripherals, centrals) = (memory.links.count, centrals.all.count)
        var composer = PhoneScanning()
        composer.scansBesideLinks =
            (peripherals == 0 || capabilities.scansBesidePeripherals)
            && (centrals == 0 || capabilities.scansBesideCentrals)
        composer.scansBesideAdvertising = capabilities.scansBesideAdvertising
        var scan = composer.compose(
            memory.managers.filter { $0.app != nil }.compactMap { $0.scan?.request },
            wanted: memory.wanted, hasLinks: peripherals + centrals > 0, isAdvertising: isAdvertising)
        for manager in memory.managers where manager.app == nil {
            guard var own = manager.scan?.options else { continue }
            // The manager drops repeated reports, because it knows what has changed.
            own.allowsDuplicates = true
            own.solicitedServiceUUIDs = []
            scan.options = scan.options?.joined(with: own) ?? own
            scan.filterRestart = nil
        }
        return scan
    }

    /// A manager's part of the combined scan, or `nil` if the manager does not scan.
    func status(of manager: CentralManagerState) -> ScanStatus? {
        manager.scan.map { ScanStatus($0.request, options: compose().options) }
    }

    /// Sets the capabilities of a new controller.
    func changeCapabilities(to new: CentralCapabilities) {
        capabilities = new
        reported = []
    }

    /// Updates the radio's scan after a change that may affect it.
    func update() {
        meter.update()
        guard memory.radioState == .poweredOn else { return }
        let scan = compose()
        if let obstacle = scan.obstacle, reported.insert(obstacle).inserted {
            programs.warn(RadioWarning("scanObstructed", obstacle.message))
        }
        guard isStale || scan.options != current else { return }
        epoch += 1
        guard task == nil else { return }
        work.start(.scan)
    }

    /// Restarts the scan, so that devices that were already reported are reported again.
    func listenAnew() {
        guard current?.allowsDuplicates == false else { return }
        isStale = true
        update()
    }

    /// Stops the scan before the phone advertises, if the controller cannot advertise while it scans.
    func makeRoomToAdvertise() async {
        if !capabilities.scansBesideAdvertising { try? await settle() }
    }

    /// Changes the radio's scan to the combined scan of all managers, and returns when that is done.
    ///
    /// Concurrent callers share the result.
    func settle() async throws(RadioError) {
        meter.update()
        guard memory.radioState == .poweredOn else { return }
        epoch += 1
        if task == nil { task = work.start(.scanning) }
        if let error = await task?.value { throw error }
    }

    /// Changes the radio's scan until it is the combined scan of all managers; returns the last error, if
    /// any.
    func requestSteps() async -> RadioError? {
        defer { task = nil }
        while let radio, memory.radioState == .poweredOn {
            let scan = compose()
            let epoch = epoch
            do throws(RadioError) {
                try await apply(scan.options, radio)
            } catch {
                current = nil
                if epoch == self.epoch { return error }
            }
            guard epoch == self.epoch else { continue }
            set(restartAfter: scan.filterRestart)
            return nil
        }
        return nil
    }

    private func apply(_ wanted: ScanOptions?, _ radio: any CentralRadio) async throws(RadioError) {
        guard wanted != current || isStale else { return }
        isStale = false
        if let wanted {
            current = wanted
            try await radio.scan(wanted)
        } else if current != nil {
            current = nil
            await radio.stopScan()
        }
    }

    private func set(restartAfter pause: Duration?) {
        restart?.cancel()
        restart = pause.map { work.tell(.listenAnew, at: clock.now.advanced(by: $0), on: clock) }
    }

    /// Cancels the restart of the scan, because the phone has stopped.
    func stop() {
        restart?.cancel()
        restart = nil
        current = nil
    }
}

extension ScanOptions {
    /// Combines two scans: the result receives at least the packets that either of them receives.
    fileprivate func joined(with other: ScanOptions) -> ScanOptions {
        var joined = window / interval >= other.window / other.interval ? self : other
        joined.isActive = isActive || other.isActive
        joined.allowsDuplicates = allowsDuplicates || other.allowsDuplicates
        let isOther = synchronization.rawValue < other.synchronization.rawValue
        joined.synchronization = isOther ? other.synchronization : synchronization
        return joined
    }
}

extension PhoneScan.Obstacle {
    fileprivate var message: String {
        switch self {
        case .link:
            """
            the controller cannot scan while it has a link: nothing is scanned for and no device is \
            connected until its links end
            """
        case .advertising:
            """
            the controller cannot scan while it advertises: nothing is scanned for and no device is \
            connected until advertising stops
            """
        }
    }
}
