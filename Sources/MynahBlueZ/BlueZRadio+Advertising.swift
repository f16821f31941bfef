import Logging
public import MynahCore
import MynahDBus

/// What bluetoothd holds of our advertisement.
enum AdvertisementState: Hashable {
    case absent
    case registered
    /// Registered, but the kernel has dropped it: after a power cycle.
    case dead
}

// Advertising.
extension BlueZRadio {
    private var advertisementPath: ObjectPath { "/org/mynah/advertisement" }

    /// Registers the advertisement, or changes the registered one in a single signal.
    public func advertise(_ advertisement: Advertisement) async throws(RadioError) -> AdvertisingReport {
        guard life.state == .running else {
            throw RadioError(.invalidState, "a device can be advertised while the radio runs")
        }
        let new: BlueZAdvertising
        do throws(AdvertisementError) {
            new = try BlueZAdvertising(advertisement, keepsInterval: capabilities.keepsInterval)
        } catch {
            throw RadioError(.advertisementRefused, "the advertisement does not fit: \(error)")
        }
        if advertisement.interval != nil, !capabilities.keepsInterval {
            warnOnce(
                "intervalIgnored",
                "bluetoothd ignores the advertising interval; it keeps it from 5.77 on, or when started with --experimental"
            )
        }
        let old = advertising
        advertising = new
        if advertisementState == .registered, let old {
            change(from: old, to: new)
        } else {
            do throws(RadioError) {
                try await registerAdvertisement(new)
            } catch {
                advertising = nil
                throw error
            }
        }
        return new.report
    }

    /// Takes the advertisement back.
    public func stopAdvertising() async {
        guard advertising != nil else { return }
        advertising = nil
        let state = advertisementState
        advertisementState = .absent
        if state != .absent { await unregisterAdvertisement() }
        connection.map { if !$0.isClosed { $0.unexport(advertisementPath) } }
    }

    func registerAdvertisement(_ advertising: BlueZAdvertising) async throws(RadioError) {
        guard let connection, let adapter else {
            throw RadioError(.lost, "the connection to the bus is closed")
        }
        if advertisementState != .absent {
            advertisementState = .absent
            await unregisterAdvertisement()
        }
        let path = advertisementPath
        connection.unexport(path)
        do throws(DBusError) {
            try connection.export(AdvertisementObject(radio: self), at: path)
            _ = try await connection.call(
                BlueZ.service, adapter.path, BlueZ.advertisingManager, "RegisterAdvertisement",
                timeout: .seconds(10)
            ) { body in
                body.append(path)
                body.appendOptions()
            }
        } catch {
            throw BlueZErrors.advertisementError(error)
        }
        advertisementState = .registered
    }

    private func unregisterAdvertisement() async {
        guard let adapter, hasOwner, connection?.isClosed == false else { return }
        let path = advertisementPath
        await attempt { () throws(RadioError) in
            _ = try await call(
                adapter.path, BlueZ.advertisingManager, "UnregisterAdvertisement", timeout: .seconds(5),
                "stopping to advertise"
            ) { $0.append(path) }
        }
    }

    private func change(from old: BlueZAdvertising, to new: BlueZAdvertising) {
        let (before, after) = (old.properties, new.properties)
        let changed = after.filter { before[$0.key] != $0.value }.sorted { $0.key < $1.key }
        let removed = before.keys.filter { after[$0] == nil }.sorted()
        guard !changed.isEmpty || !removed.isEmpty else { return }
        signal(changed.map { ($0.key, $0.value) }, invalidated: removed)
    }

    /// All changes in one signal: bluetoothd reads them all before it composes, so no half-way bytes go out.
    private func signal(_ changed: [(String, DBusValue)], invalidated: [String] = []) {
        guard let connection else { return }
        do throws(DBusError) {
            try connection.emitPropertiesChanged(
                advertisementPath, BlueZ.advertisement, changed, invalidated: invalidated)
        } catch {
            logger.warning("advertisement not changed", metadata: ["error": "\(error)"])
        }
    }

    /// The kernel stops an advertisement when a central connects; telling bluetoothd a property anew starts it again, so
    /// that a second phone finds the device.
    func rearm() {
        guard advertisementState == .registered, let advertising else { return }
        if let name = advertising.rearmingProperty, let value = advertising.properties[name] {
            signal([(name, value)])
            return
        }
        Task {
            await attempt { () throws(RadioError) in
                guard life.state == .running, let current = self.advertising else { return }
                try await registerAdvertisement(current)
            }
        }
    }

    func advertisementProperty(_ name: String) -> DBusValue? {
        advertising?.properties[name]
    }

    /// bluetoothd let it go by itself.
    func advertisementReleased() {
        guard advertisementState != .absent else { return }
        advertisementState = .absent
        if life.state == .running { tell(.advertisingChanged(.silent)) }
    }
}
