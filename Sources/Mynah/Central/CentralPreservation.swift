import MynahCore
import MynahLifecycle

/// Preserves the state of a phone's central managers in files, and restores it in another process.
///
/// Belongs to a phone, and runs on the phone's executor.
final class CentralPreservation {
    /// A subscription that a restored peripheral had.
    struct Subscription: Sendable {
        var manager: ManagerKey
        var peripheral: Peripheral
        var characteristic: DiscoveredCharacteristic
        var link: Peer.ID
        var configuration: SubscriptionWriter.Configuration
    }

    /// The names whose file was read: each file is read once, and after that the state in memory is used.
    private var loaded: Set<PreservedName> = []
    private let files: PhoneFiles
    private let memory: CentralMemory
    private let devices: KnownDevices
    private let subscriptions: SubscriptionWriter
    private let reports: PhoneReports
    private let work: PhoneWork

    init(_ common: PhoneCommon, _ devices: KnownDevices, _ subscriptions: SubscriptionWriter) {
        (files, memory, reports, work) = (common.files, common.central, common.reports, common.work)
        self.devices = devices
        self.subscriptions = subscriptions
    }

    /// Reads the state that another process preserved under a name; returns `nil` if it was read before.
    func load(_ name: PreservedName) -> PreservedCentralState? {
        guard loaded.insert(name).inserted else { return nil }
        devices.load()
        return files.load(name)
    }

    /// Restores a manager that another process made, and resumes its scan.
    ///
    /// Returns the devices that the manager had connected or waited for, which are connected again.
    func restore(
        _ manager: CentralManagerState, _ state: PreservedCentralState
    ) -> [(address: DeviceAddress, options: ConnectOptions)] {
        if let scan = state.scan {
            manager.startScan(
                .init(
                    services: scan.services, options: scan.options, mode: manager.scanMode(memory.radioState))
            )
        }
        var waited: [(address: DeviceAddress, options: ConnectOptions)] = []
        for device in state.devices {
            guard let (peripheral, address) = devices.restore(device.entry, for: manager) else { continue }
            peripheral.note(.restored(device.services))
            manager.ask(for: peripheral, at: address)
            waited.append((address, device.options))
        }
        devices.save()
        return waited
    }

    /// The restored state to report to a manager when its app runs again.
    func restored(_ manager: CentralManagerState) -> RestoredCentralState {
        let devices = memory.ledger.devices(of: manager.key)
        // The peripheral whose link ended, which relaunched the app, comes last.
        let ended = manager.asked.keys.filter { !devices.contains($0) }.sorted { $0.isBefore($1) }
        return RestoredCentralState(
            scanServices: manager.scan?.request.services, scanOptions: manager.scan?.options,
            peripherals: (devices + ended).compactMap { manager.asked[$0] })
    }

    /// Deletes the preserved state of a manager.
    func remove(_ manager: CentralManagerState) {
        if let name = manager.preservedName { files.remove(name) }
    }

    /// Saves the preserved state of each manager, if it has changed.
    func save() {
        for manager in memory.managers { save(manager) }
    }

    /// Saves the preserved state of a manager, if it has changed.
    ///
    /// An empty state is saved only if it replaces a saved one.
    func save(_ manager: CentralManagerState) {
        guard let name = manager.preservedName else { return }
        let state = state(of: manager, under: name)
        guard state != manager.saved ?? PreservedCentralState(name: name), files.save(state) else { return }
        manager.saved = state
    }

    private func state(of manager: CentralManagerState, under name: PreservedName) -> PreservedCentralState {
        var state = PreservedCentralState(name: name)
        state.scan = manager.scan.map { .init(services: $0.request.services, options: $0.options) }
        for address in memory.ledger.devices(of: manager.key) {
            guard let peripheral = manager.asked[address],
                var options = memory.ledger.options(of: address, for: manager.key)
            else { continue }
            options.startDelay = .zero
            // The name is in the list of known peripherals.
            state.devices.append(
                .init(
                    entry: .init(identifier: peripheral.identifier, address: address), options: options,
                    services: peripheral.preservedServices))
        }
        return state
    }

    /// Restores the services and subscriptions of a device that has a new link.
    ///
    /// If the device is bonded, the peripheral keeps those restored services that are in the device's
    /// attribute table (`KeptTables`). All others are dropped, and the app discovers them again.
    ///
    /// The phone subscribes again to the characteristics of these services that were subscribed. It is an
    /// assumption that the system does so, and not the app.
    func subscribeAgain(_ manager: CentralManagerState, to peripheral: Peripheral, by link: Peer.ID) {
        let table = devices.tables.table(of: link)
        let kept = peripheral.preservedServices.filter { table?.has($0) == true }
        peripheral.note(.restored(kept))
        for characteristic in kept.flatMap(\.characteristics) {
            guard let delivery = characteristic.delivery,
                let descriptor = characteristic.descriptors?.first(where: {
                    $0.uuid == GATT.clientConfiguration
                })
            else { continue }
            let configuration = SubscriptionWriter.Configuration(
                handle: descriptor.handle, bits: delivery == .indication ? 2 : 1,
                pairs: manager.options.pairsWhenAsked)
            work.start(
                .subscribeAgain(
                    Subscription(
                        manager: manager.key, peripheral: peripheral, characteristic: characteristic,
                        link: link, configuration: configuration)))
        }
    }

    /// Subscribes again to a characteristic of a restored peripheral.
    func subscribe(_ subscription: Subscription) async {
        let (key, link) = (subscription.manager, subscription.link)
        let handle = subscription.characteristic.id
        do throws(RequestError) {
            try await subscriptions.setNotify(
                true, for: .init(link: link, handle: handle), by: subscription.configuration, of: key)
        } catch {
            let address = devices.address(of: subscription.peripheral)
            guard memory.ledger.link(to: address, of: key) == link else { return }
            memory.manager(key)?.asked[address]?.note(.subscription(handle, nil))
            save()
            if case .failed(let trouble) = error, trouble.isLostBond {
                return devices.lostBonds.found(on: link)
            }
            reports.warn(
                "subscriptionNotRestored",
                "\(subscription.characteristic.uuid) of \(address) is not subscribed to again: \(error)")
        }
    }
}
