import Logging
import MynahCore

/// Advertises for the radio, with one advertisement registered in bluetoothd for each advertising set.
///
/// The advertiser carries out the steps of `AdvertisementSets`, in one task at a time. Callers wait until
/// that task ends.
final class Advertiser {
    private let adapter: AdapterClient
    private let logger: Logger
    private var sets = AdvertisementSets()
    private var isRunning = false
    private var waiters: [CheckedContinuation<RadioError?, Never>] = []

    init(_ adapter: AdapterClient, logger: Logger) {
        self.adapter = adapter
        self.logger = logger
    }

    /// The report of the registered sets, or `nil` if there are none.
    var held: AdvertisingReport? { sets.held.isEmpty ? nil : report(on: sets.held) }

    // MARK: Requests

    /// Advertises with these sets instead of the previous ones.
    func advertise(
        _ advertised: [BlueZAdvertising], isolation: isolated any Actor = #isolation
    ) async throws(RadioError) -> AdvertisingReport {
        sets.want(advertised)
        try await settle()
        return report(on: advertised)
    }

    func stop(isolation: isolated any Actor = #isolation) async {
        guard sets.isWanted else { return }
        sets.stop()
        do throws(RadioError) {
            try await settle()
        } catch {
            logger.debug("left as it is", metadata: ["error": "\(error)"])
        }
    }

    /// Handles the return of bluetoothd and the adapter: both can be used.
    func reached() {
        sets.reached()
    }

    /// Registers the requested advertisement again, after bluetoothd and the adapter can be used again.
    func resume(isolation: isolated any Actor = #isolation) async throws(RadioError) {
        sets.reached()
        try await settle()
    }

    // MARK: Events

    /// Handles a new link to a central, for which the kernel stops advertising.
    ///
    /// The advertisement is registered again, so that other centrals can find the device.
    func linkBegan(isolation: isolated any Actor = #isolation) {
        sets.linkBegan(hasExtendedAdvertising: adapter.session.hasExtendedAdvertising)
        start()
    }

    func linkEnded(isolation: isolated any Actor = #isolation) {
        sets.linkEnded()
        start()
    }

    func poweredOff() {
        sets.poweredOff()
    }

    func lost() {
        sets.lost()
    }

    /// Notes that bluetoothd released a set by itself.
    func released(_ number: Int) {
        if sets.released(number), adapter.session.isPresent { reportChange() }
    }

    private func reportChange() {
        adapter.send(.report(.advertisingChanged(held ?? .silent)))
    }

    // MARK: Steps

    private func settle(isolation: isolated any Actor = #isolation) async throws(RadioError) {
        let error = await withCheckedContinuation { waiter in
            waiters.append(waiter)
            start(isolation: isolation)
        }
        if let error { throw error }
    }

    /// Starts the task on the actor that owns the advertiser, unless the task is running.
    private func start(isolation: isolated any Actor = #isolation) {
        guard !isRunning else { return }
        isRunning = true
        Task {
            let error = await takeSteps(isolation: isolation)
            // Nothing runs between the last step and this line. The task answers callers that came before,
            // and a later caller starts a new task.
            isRunning = false
            let ended = waiters
            waiters = []
            for waiter in ended { waiter.resume(returning: error) }
        }
    }

    /// Carries out the steps of all sets until none is left.
    ///
    /// Returns the error of bluetoothd's refusal if the request for a set was withdrawn because of it.
    private func takeSteps(isolation: isolated any Actor) async -> RadioError? {
        var withdrawn: RadioError?
        while true {
            let (number, step) = sets.next(at: RadioClock.now)
            do throws(RadioError) {
                switch step {
                case .rest: return withdrawn
                case .wait(let time): await BoundedWait().wait(atMost: time)
                case .change(_, let new):
                    try adapter.reach().daemon.changeAdvertisement(number, to: new)
                case .unregister:
                    let (daemon, path) = try adapter.reach()
                    try await daemon.unregisterAdvertisement(number, on: path)
                case .register(let new):
                    if let error = await register(number, new) { withdrawn = withdrawn ?? error }
                }
            } catch {
                logger.debug("left as it is", metadata: ["error": "\(error)"])
            }
        }
    }

    private func register(
        _ number: Int, _ advertising: BlueZAdvertising, isolation: isolated any Actor = #isolation
    ) async -> RadioError? {
        do throws(RadioError) {
            let (daemon, path) = try adapter.reach()
            try await daemon.registerAdvertisement(number, advertising, on: path)
            if sets.registered(number) { reportChange() }
        } catch {
            logger.info("advertisement refused", metadata: ["error": "\(error)"])
            switch sets.refused(number) {
            case .givenUp: return error
            case .postponed: reportChange()
            case .overtaken: break
            }
        }
        return nil
    }

    /// Returns the report of sets on the air.
    ///
    /// The report has the adapter's address for connectable sets only. The kernel sends other sets from a
    /// random address, which it does not report.
    private func report(on sets: [BlueZAdvertising]) -> AdvertisingReport {
        .combined(
            sets.map { set in
                var report = set.report
                if report.isConnectable { report.address = adapter.session.adapter?.deviceAddress }
                return report
            })
    }
}
