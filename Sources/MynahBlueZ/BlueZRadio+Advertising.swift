import Logging
public import MynahCore
import MynahDBus

// Advertising.
extension BlueZRadio {
    private var advertisementPath: ObjectPath { "/org/mynah/advertisement" }

    /// Registers the advertisement, or changes the registered one in a single signal.
    @discardableResult
    public func advertise(_ advertisement: Advertisement) async throws(RadioError) -> AdvertisingReport {
        guard life.state == .running else {
            throw RadioError(.invalidState, "a device can be advertised while the radio runs")
        }
        let new: BlueZAdvertising
        do throws(AdvertisementError) {
            new = try BlueZAdvertising(
                advertisement, keepsInterval: capabilities.keepsInterval,
                placesScanResponse: capabilities.placesScanResponse)
        } catch {
            throw RadioError(.advertisementRefused, "the advertisement does not fit: \(error)")
        }
        if advertisement.interval != nil, !capabilities.keepsInterval {
            warnOnce(
                "intervalIgnored",
                "bluetoothd ignores the advertising interval; it keeps it from 5.77 on, or when started with --experimental"
            )
        }
        tellLimits(of: new)
        advertising.want(new)
        try await settleAdvertisement()
        return addressed(new.report)
    }

    /// A report with the adapter's address.
    func addressed(_ report: AdvertisingReport) -> AdvertisingReport {
        var report = report
        report.address = adapter.flatMap { DeviceAddress($0.address, kind: .public) }
        return report
    }

    /// Exact bytes were asked for: each way in which bluetoothd sends others is told, once.
    private func tellLimits(of new: BlueZAdvertising) {
        guard new.isExact else { return }
        for limit in new.report.omitted where capabilities.keepsInterval || limit.item != "interval" {
            warnOnce(
                "notExact", about: limit.item + limit.reason, "on the air, \(limit.item): \(limit.reason)")
        }
    }

    /// Takes the advertisement back.
    public func stopAdvertising() async {
        guard advertising.wanted != nil else { return }
        advertising.want(nil)
        await attempt { () throws(RadioError) in try await settleAdvertisement() }
    }

    /// Brings bluetoothd in step with what is wanted; whoever asks meanwhile waits for the same end.
    func settleAdvertisement() async throws(RadioError) {
        let error = await withCheckedContinuation { continuation in
            advertisementWaiters.append(continuation)
            guard advertisementWaiters.count == 1 else { return }
            Task {
                let error = await takeAdvertisementSteps()
                let waiters = advertisementWaiters
                advertisementWaiters = []
                for waiter in waiters { waiter.resume(returning: error) }
            }
        }
        if let error { throw error }
    }

    /// As `settleAdvertisement`, for whoever has nobody to tell.
    func settleAdvertisementSoon() {
        Task { await attempt { () throws(RadioError) in try await settleAdvertisement() } }
    }

    private func takeAdvertisementSteps() async -> RadioError? {
        while true {
            switch advertising.next(at: now) {
            case .rest: return nil
            case .wait(let duration): await pause(for: duration)
            case .change(let old, let new): change(from: old, to: new)
            case .unregister: await unregisterAdvertisement()
            case .register:
                do throws(RadioError) {
                    try await registerAdvertisement()
                    if advertising.registered(), let report = advertising.shown?.report {
                        tell(.advertisingChanged(addressed(report)))
                    }
                } catch {
                    logger.info("advertisement refused", metadata: ["error": "\(error)"])
                    switch advertising.refused() {
                    case .givenUp: return error
                    case .postponed: tell(.advertisingChanged(.silent))
                    case .overtaken: break
                    }
                }
            }
        }
    }

    private func registerAdvertisement() async throws(RadioError) {
        do throws(DBusError) {
            do throws(DBusError) {
                try await exportAndRegister()
            } catch {
                // What bluetoothd has already is of an earlier attempt, whose answer came too late or not at all.
                guard error.name == "org.bluez.Error.AlreadyExists" else { throw error }
                await unregisterAdvertisement()
                try await exportAndRegister()
            }
        } catch {
            throw BlueZErrors.advertisementError(error)
        }
    }

    private func exportAndRegister() async throws(DBusError) {
        guard let connection, let adapter else { throw DBusError(.disconnected) }
        let path = advertisementPath
        connection.unexport(path)
        try connection.export(AdvertisementObject(radio: self), at: path)
        _ = try await connection.call(
            BlueZ.service, adapter.path, BlueZ.advertisingManager, "RegisterAdvertisement",
            timeout: .seconds(10)
        ) { body in
            body.append(path)
            body.appendOptions()
        }
    }

    private func unregisterAdvertisement() async {
        guard let adapter, let connection, !connection.isClosed else { return }
        let path = advertisementPath
        await attempt { () throws(RadioError) in
            _ = try await call(
                adapter.path, BlueZ.advertisingManager, "UnregisterAdvertisement", timeout: .seconds(3),
                "stopping to advertise"
            ) { $0.append(path) }
        }
        if !connection.isClosed { connection.unexport(path) }
    }

    /// All changes in one signal: bluetoothd reads them all before it composes, so no half-way bytes go out.
    private func change(from old: BlueZAdvertising, to new: BlueZAdvertising) {
        guard let connection else { return }
        let (before, after) = (old.properties, new.properties)
        let changed = after.filter { before[$0.key] != $0.value }.sorted { $0.key < $1.key }
        let removed = before.keys.filter { after[$0] == nil }.sorted()
        guard !changed.isEmpty || !removed.isEmpty else { return }
        do throws(DBusError) {
            try connection.emitPropertiesChanged(
                advertisementPath, BlueZ.advertisement, changed.map { ($0.key, $0.value) },
                invalidated: removed)
        } catch {
            logger.warning("advertisement not changed", metadata: ["error": "\(error)"])
        }
    }

    /// The kernel stops an advertisement when a central connects; registered anew it goes on, so that a second phone
    /// finds the device.
    ///
    /// Telling bluetoothd a property again would do too, but nobody could tell when it is done, and it must be before the
    /// next unregistration.
    func rearm() {
        advertising.stoppedOnAir()
        settleAdvertisementSoon()
    }

    func advertisementProperty(_ name: String) -> DBusValue? {
        advertising.shown?.properties[name]
    }

    /// bluetoothd let it go by itself.
    func advertisementReleased() {
        guard advertising.held != .nothing else { return }
        advertising.released()
        if life.state == .running { tell(.advertisingChanged(.silent)) }
    }
}
