import MynahCore
import MynahLifecycle

/// Keeps a phone's radio in step with what its central managers scan for together.
///
/// It belongs to its phone, and runs on its executor.
final class PhoneScanner {
    private let composer = PhoneScanning()
    /// What the radio was asked for, or `nil` if it does not scan.
    private var current: ScanOptions?
    /// Whether the scan is to begin anew, so that the controller's filter lets devices through again.
    private var isStale = false
    /// Changes with each request.
    private var epoch = 0
    /// Brings the radio in step, or `nil` while it is.
    private var task: Task<RadioError?, Never>?
    private var restart: Task<Void, Never>?
    private let clock = AppClock(ContinuousClock())

    /// How the radio is to scan for all managers, and how often the scan begins anew.
    private func composed(on phone: isolated Phone) -> (options: ScanOptions?, restart: Duration?) {
        let scans = phone.central.managers.filter { $0.app != nil }.compactMap(\.scan)
        let composed = composer.compose(scans.map(\.request))
        var options = composed.options
        for manager in phone.central.managers where manager.app == nil {
            guard var own = manager.scan?.options else { continue }
            // What was heard before is left out by the manager, which knows what has changed.
            own.allowsDuplicates = true
            own.solicitedServiceUUIDs = []
            options = options?.joined(with: own) ?? own
        }
        return (options, options?.allowsDuplicates == false ? composed.filterRestart : nil)
    }

    /// What a manager has of the scan, or `nil` if it does not scan.
    func status(of manager: CentralManagerState, on phone: isolated Phone) -> ScanStatus? {
        manager.scan.map { ScanStatus($0.request, options: composed(on: phone).options) }
    }

    /// Something changed that may change how the radio scans.
    func update(on phone: isolated Phone) {
        guard phone.central.radioState == .poweredOn, isStale || composed(on: phone).options != current else {
            return
        }
        epoch += 1
        guard task == nil else { return }
        PhoneLink(phone).enqueue { phone in
            do throws(RadioError) {
                try await phone.central.scanner.settle(on: phone)
            } catch {
                phone.warn("scanRefused", "the radio does not scan: \(error)")
            }
        }
    }

    /// Asks the radio until it scans as it is to; all callers wait for the same end.
    func settle(on phone: isolated Phone) async throws(RadioError) {
        guard phone.central.radioState == .poweredOn else { return }
        epoch += 1
        let task = self.task ?? Task { await takeSteps(on: phone) }
        self.task = task
        if let error = await task.value { throw error }
    }

    private func takeSteps(on phone: isolated Phone) async -> RadioError? {
        defer { task = nil }
        while let radio = phone.central.radio, phone.central.radioState == .poweredOn {
            let (wanted, pause) = composed(on: phone)
            let epoch = epoch
            do throws(RadioError) {
                try await take(wanted, radio)
            } catch {
                current = nil
                if epoch == self.epoch { return error }
            }
            guard epoch == self.epoch else { continue }
            set(restartAfter: pause, on: phone)
            return nil
        }
        return nil
    }

    private func take(_ wanted: ScanOptions?, _ radio: any CentralRadio) async throws(RadioError) {
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
                phone.central.scanner.isStale = true
                phone.central.scanner.update(on: phone)
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
