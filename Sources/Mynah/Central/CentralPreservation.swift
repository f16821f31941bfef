import MynahCore
import MynahLifecycle

/// Preserves what a phone's central managers do in files, and restores it in another process.
///
/// Belongs to a phone, and runs on the phone's executor.
final class CentralPreservation {
    /// Each file is read once: from then on what is in memory counts.
    private var loaded: Set<PreservedName> = []

    /// Reads what another process preserved under a name, once.
    func load(_ name: PreservedName, on phone: isolated Phone) -> PreservedCentralState? {
        guard phone.central.radio != nil, loaded.insert(name).inserted else { return nil }
        phone.central.devices.load(on: phone)
        return phone.load(name)
    }

    /// The system works on for a manager of another process: what it had connected or waited for is waited
    /// for.
    func restore(
        _ manager: CentralManagerState, _ state: PreservedCentralState, on phone: isolated Phone
    ) {
        let central = phone.central
        if let scan = state.scan {
            manager.startScan(
                .init(
                    services: scan.services, options: scan.options,
                    mode: manager.scanMode(central.radioState)))
        }
        var waited: [(address: DeviceAddress, options: ConnectOptions)] = []
        for device in state.devices {
            guard let (peripheral, address) = central.devices.restore(device.entry, for: manager, on: phone)
            else { continue }
            peripheral.note(.restored(device.services))
            manager.ask(for: peripheral, at: address)
            waited.append((address, device.options))
        }
        central.devices.save(on: phone)
        central.connections.change(on: phone) { ledger, actions in
            for one in waited { ledger.restore(manager.key, to: one.address, one.options, into: &actions) }
        }
        central.scanner.update(on: phone)
        central.startSoon(on: phone)
    }

    /// The state of a manager that was kept while its process did not run.
    func restored(_ manager: CentralManagerState, on phone: isolated Phone) -> RestoredCentralState {
        let devices = phone.central.connections.ledger.devices(of: manager.key)
        // The end of a link relaunches the app, so it comes last.
        let ended = manager.asked.keys.filter { !devices.contains($0) }.sorted { $0.isBefore($1) }
        return RestoredCentralState(
            scanServices: manager.scan?.request.services, scanOptions: manager.scan?.options,
            peripherals: (devices + ended).compactMap { manager.asked[$0] })
    }

    /// Saves what would be restored of each manager, soon, if it has changed.
    func save(on phone: isolated Phone) {
        for manager in phone.central.managers { save(manager, on: phone) }
    }

    /// Saves what would be restored of a manager, soon, if it has changed; one that did nothing has nothing
    /// to restore.
    func save(_ manager: CentralManagerState, on phone: isolated Phone) {
        guard let name = manager.preservedName else { return }
        let state = state(of: manager, under: name, phone.central.connections.ledger)
        guard state != manager.saved ?? PreservedCentralState(name: name), phone.save(state) else { return }
        manager.saved = state
    }

    private func state(
        of manager: CentralManagerState, under name: PreservedName, _ ledger: LinkLedger
    ) -> PreservedCentralState {
        var state = PreservedCentralState(name: name)
        state.scan = manager.scan.map { .init(services: $0.request.services, options: $0.options) }
        for address in ledger.devices(of: manager.key) {
            guard let peripheral = manager.asked[address],
                var options = ledger.options(of: address, for: manager.key)
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

    /// A device has a new link.
    ///
    /// The peripheral keeps the restored services that the table of a bonded device has. The others are
    /// dropped, and the app discovers them anew.
    ///
    /// Subscribes to the subscribed characteristics of these services; that the system does so, and not the
    /// app, is an assumption.
    func subscribeAgain(
        _ manager: CentralManagerState, to peripheral: Peripheral, by link: Peer.ID, on phone: isolated Phone
    ) {
        let (key, pairs) = (manager.key, manager.options.pairsWhenAsked)
        let table = phone.central.devices.tables.table(of: link, on: phone)
        let kept = peripheral.preservedServices.filter { table?.has($0) == true }
        peripheral.note(.restored(kept))
        for characteristic in kept.flatMap(\.characteristics) {
            guard let delivery = characteristic.delivery,
                let descriptor = characteristic.descriptors?.first(where: {
                    $0.uuid == GATT.clientConfiguration
                })
            else { continue }
            let configuration = SubscriptionWriter.Configuration(
                handle: descriptor.handle, bits: delivery == .indication ? 2 : 1, pairs: pairs)
            PhoneLink(phone).enqueue { phone in
                let handle = characteristic.id
                do throws(RequestError) {
                    try await phone.central.subscriptions.setNotify(
                        true, for: .init(link: link, handle: handle), by: configuration, of: key, on: phone)
                } catch {
                    let central = phone.central
                    let address = central.devices.address(of: peripheral)
                    guard central.connections.ledger.link(to: address, of: key) == link else { return }
                    central.manager(key)?.asked[address]?.note(.subscription(handle, nil))
                    central.preservation.save(on: phone)
                    if case .failed(let trouble) = error, trouble.isLostBond {
                        return central.devices.lostBonds.found(on: link, of: phone)
                    }
                    phone.warn(
                        "subscriptionNotRestored",
                        "\(characteristic.uuid) of \(address) is not subscribed to again: \(error)"
                    )
                }
            }
        }
    }
}
