import Logging
import MynahCore

/// Advertises for the radio, with one advertisement registered in bluetoothd.
///
/// The advertiser carries out the steps of an `AdvertisementMachine`, in one task at a time. Callers wait
/// until that task ends.
final class Advertiser {
    private let adapter: AdapterClient
    private let logger: Logger
    private var machine = AdvertisementMachine()
    private var isRunning = false
    private var waiters: [CheckedContinuation<RadioError?, Never>] = []

    init(_ adapter: AdapterClient, logger: Logger) {
        self.adapter = adapter
        self.logger = logger
    }

    /// The report of the registered advertisement, or `nil` if there is none.
    var held: AdvertisingReport? { machine.held.map { report(on: $0) } }

    // MARK: Requests

    /// Advertises an advertisement, which replaces the previous one.
    func advertise(
        _ advertising: BlueZAdvertising, isolation: isolated any Actor = #isolation
    ) async throws(RadioError) -> AdvertisingReport {
        machine.want(advertising)
        try await settle()
        return report(on: advertising)
    }

    func stop(isolation: isolated any Actor = #isolation) async {
        guard machine.wanted != nil else { return }
        machine.stop()
        do throws(RadioError) {
            try await settle()
        } catch {
            logger.debug("left as it is", metadata: ["error": "\(error)"])
        }
    }

    /// Handles that bluetoothd and the adapter can be used.
    func reached() {
        machine.reached()
    }

    /// Advertises the requested advertisement when bluetoothd and the adapter can be used again.
    func resume(isolation: isolated any Actor = #isolation) async throws(RadioError) {
        machine.reached()
        try await settle()
    }

    // MARK: Events

    /// Handles a new link to a central, at which the kernel stops advertising.
    ///
    /// The advertisement is registered again, so that other centrals can find the device.
    func linkBegan(isolation: isolated any Actor = #isolation) {
        machine.linkBegan()
        start()
    }

    func linkEnded(isolation: isolated any Actor = #isolation) {
        machine.linkEnded()
        start()
    }

    func poweredOff() {
        machine.poweredOff()
    }

    func lost() {
        machine.lost()
    }

    /// Handles that bluetoothd released the advertisement by itself.
    func released() {
        if machine.released(), adapter.session.isPresent {
            adapter.send(.report(.advertisingChanged(.silent)))
        }
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

    /// Carries out the machine's steps, and returns the error if the request is withdrawn.
    private func takeSteps(isolation: isolated any Actor) async -> RadioError? {
        while true {
            let step = machine.next(at: RadioClock.now)
            do throws(RadioError) {
                switch step {
                case .rest: return nil
                case .wait(let time): await BoundedWait().wait(atMost: time)
                case .change(_, let new): try adapter.reach().daemon.changeAdvertisement(to: new)
                case .unregister:
                    let (daemon, path) = try adapter.reach()
                    try await daemon.unregisterAdvertisement(on: path)
                case .register(let new):
                    if let error = await register(new) { return error }
                }
            } catch {
                logger.debug("left as it is", metadata: ["error": "\(error)"])
            }
        }
    }

    private func register(
        _ advertising: BlueZAdvertising, isolation: isolated any Actor = #isolation
    ) async -> RadioError? {
        do throws(RadioError) {
            let (daemon, path) = try adapter.reach()
            try await daemon.registerAdvertisement(advertising, on: path)
            if let returned = machine.registered() {
                adapter.send(.report(.advertisingChanged(report(on: returned))))
            }
        } catch {
            logger.info("advertisement refused", metadata: ["error": "\(error)"])
            switch machine.refused() {
            case .givenUp: return error
            case .postponed: adapter.send(.report(.advertisingChanged(.silent)))
            case .overtaken: break
            }
        }
        return nil
    }

    /// Returns the report of an advertisement, with the adapter's address.
    private func report(on advertising: BlueZAdvertising) -> AdvertisingReport {
        var report = advertising.report
        report.address = adapter.session.adapter?.deviceAddress
        return report
    }
}
