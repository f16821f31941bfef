import MynahCore
import MynahLifecycle
import MynahSupport

/// Keeps a phone's radio in step with the combined scans and pending connections of its central managers.
///
/// Belongs to a phone, and runs on the phone's executor.
final class PhoneScanner {
    private let composer = PhoneScanning()
    /// Beside what the controller can scan.
    private var capabilities = CentralCapabilities()
    /// The obstacles that were warned of.
    private var reported: Set<PhoneScan.Obstacle> = []
    /// The radio's scan, or `nil` if it does not scan.
    private var current: ScanOptions?
    /// Whether the phone's screen is on: while it is off, no overflow area is looked at.
    var isScreenOn = true
    /// Whether to restart the scan, so that the controller's duplicate filter reports devices again.
    private var isStale = false
    /// Changes with each request.
    private var epoch = 0
    /// Brings the radio in step, or `nil` while it is.
    private var task: Task<RadioError?, Never>?
    private var restart: Task<Void, Never>?
    private let clock: RunClock

    init(_ clock: RunClock) {
        self.clock = clock
    }

    /// How the radio is to scan for all managers.
    func compose(on phone: isolated Phone) -> PhoneScan {
        let central = phone.central
        let (peripherals, centrals) = (central.connections.links.count, phone.centrals.all.count)
        var composer = composer
        composer.scansBesideLinks =
            (peripherals == 0 || capabilities.scansBesidePeripherals)
            && (centrals == 0 || capabilities.scansBesideCentrals)
        composer.scansBesideAdvertising = capabilities.scansBesideAdvertising
        var scan = composer.compose(
            central.managers.filter { $0.app != nil }.compactMap { $0.scan?.request },
            wanted: central.connections.wanted(on: phone), hasLinks: peripherals + centrals > 0,
            isAdvertising: phone.advertiser.isAdvertising)
        for manager in central.managers where manager.app == nil {
            guard var own = manager.scan?.options else { continue }
            // The manager drops repeated reports, because it knows what has changed.
            own.allowsDuplicates = true
            own.solicitedServiceUUIDs = []
            scan.options = scan.options?.joined(with: own) ?? own
            scan.filterRestart = nil
        }
        return scan
    }

    /// A manager's part of the scan, or `nil` if it does not scan.
    func status(of manager: CentralManagerState, on phone: isolated Phone) -> ScanStatus? {
        manager.scan.map { ScanStatus($0.request, options: compose(on: phone).options) }
    }

    /// The radio has another controller.
    func changeCapabilities(to new: CentralCapabilities) {
        capabilities = new
        reported = []
    }

    /// Something changed that may change how the radio scans.
    func update(on phone: isolated Phone) {
        phone.meter.update(on: phone)
        guard phone.central.radioState == .poweredOn else { return }
        let scan = compose(on: phone)
        if let obstacle = scan.obstacle, reported.insert(obstacle).inserted {
            phone.central.warn(RadioWarning("scanObstructed", obstacle.message), on: phone)
        }
        guard isStale || scan.options != current else { return }
        epoch += 1
        guard task == nil else { return }
        PhoneLink(phone).enqueue { phone in
            do throws(RadioError) {
                try await phone.central.scanner.settle(on: phone)
            } catch {
                phone.central.warn(
                    RadioWarning("scanRefused", "the radio does not scan: \(error)"), on: phone)
            }
        }
    }

    /// Devices that were heard before are to be reported again.
    func listenAnew(on phone: isolated Phone) {
        guard current?.allowsDuplicates == false else { return }
        isStale = true
        update(on: phone)
    }

    /// The phone is about to advertise, which not every controller does while it scans.
    func makeRoomToAdvertise(on phone: isolated Phone) async {
        if !capabilities.scansBesideAdvertising { try? await settle(on: phone) }
    }

    /// Asks the radio until it scans as it is to; all callers wait for the same end.
    func settle(on phone: isolated Phone) async throws(RadioError) {
        phone.meter.update(on: phone)
        guard phone.central.radioState == .poweredOn else { return }
        epoch += 1
        if let error = await steps(on: phone).value { throw error }
    }

    private func steps(on phone: isolated Phone) -> Task<RadioError?, Never> {
        if let task { return task }
        let new = PhoneLink.task(on: phone) { await $0.central.scanner.takeSteps(on: $0) }
        task = new
        return new
    }

    fileprivate func takeSteps(on phone: isolated Phone) async -> RadioError? {
        defer { task = nil }
        while let radio = phone.central.radio, phone.central.radioState == .poweredOn {
            let scan = compose(on: phone)
            let epoch = epoch
            do throws(RadioError) {
                try await apply(scan.options, radio)
            } catch {
                current = nil
                if epoch == self.epoch { return error }
            }
            guard epoch == self.epoch else { continue }
            set(restartAfter: scan.filterRestart, on: phone)
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

    private func set(restartAfter pause: Duration?, on phone: isolated Phone) {
        restart?.cancel()
        restart = pause.map { pause in
            PhoneLink(phone).enqueue(at: clock.now.advanced(by: pause), on: clock) { phone in
                phone.central.scanner.listenAnew(on: phone)
            }
        }
    }

    /// The phone stopped.
    func stop() {
        restart?.cancel()
        restart = nil
        current = nil
    }
}

extension ScanOptions {
    /// A scan that hears at least what each of the two hears.
    fileprivate func joined(with other: ScanOptions) -> ScanOptions {
        var joined = window / interval >= other.window / other.interval ? self : other
        joined.isActive = isActive || other.isActive
        joined.allowsDuplicates = allowsDuplicates || other.allowsDuplicates
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
