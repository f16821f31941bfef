import MynahCore
import MynahLifecycle

/// What a phone has read of its central half's files, and written to them.
struct CentralPreservation {
    /// Each file is read once: from then on what is in memory counts.
    var loaded: Set<PreservedName> = []
    var areKnownPeripheralsLoaded = false
    /// The revision of the known peripherals that is in their file.
    var knownRevision = 0
}

// What outlives the process.
extension PhoneCentral {
    // MARK: Known peripherals

    /// Reads the devices that the phone knew, once.
    func loadKnownPeripherals(on phone: isolated Phone) {
        guard !preservation.areKnownPeripheralsLoaded else { return }
        preservation.areKnownPeripheralsLoaded = true
        let (entries, warning) = phone.preserved.loadKnownPeripherals()
        if let warning { phone.warn("knownPeripheralsUnusable", warning) }
        known.load(entries)
    }

    /// Saves the devices that the phone knows, soon, if there is something new.
    ///
    /// Which was used last is saved with it, and with the `isLast` time.
    func saveKnownPeripherals(isLast: Bool = false, on phone: isolated Phone) {
        guard preservation.knownRevision != known.revision || isLast && known.count > 0 else { return }
        preservation.knownRevision = known.revision
        _ = phone.save(known)
    }

    // MARK: Managers

    /// Reads what another process preserved under a name, once.
    func load(_ name: PreservedName, on phone: isolated Phone) -> PreservedCentralState? {
        guard radio != nil, preservation.loaded.insert(name).inserted else { return nil }
        loadKnownPeripherals(on: phone)
        return phone.load(name)
    }

    /// The system works on for a manager of another process: what it had connected or waited for is waited for.
    func restore(
        _ manager: CentralManagerState, _ state: PreservedCentralState, on phone: isolated Phone
    ) {
        if let scan = state.scan {
            manager.startScan(
                .init(services: scan.services, options: scan.options, mode: manager.scanMode(radioState)))
        }
        var waited: [(address: DeviceAddress, options: ConnectOptions)] = []
        for device in state.devices {
            let entry = known.restore(device.entry) { ledger.concerns($0) }
            guard let peripheral = peripheral(entry.identifier, at: entry.address, for: manager, on: phone)
            else { continue }
            if let name = entry.name { peripheral.take(.named(name)) }
            peripheral.take(.restored(device.services))
            manager.ask(for: peripheral, at: entry.address)
            waited.append((entry.address, device.options))
        }
        saveKnownPeripherals(on: phone)
        change(on: phone) { ledger, actions in
            for one in waited { ledger.restore(manager.key, to: one.address, one.options, into: &actions) }
        }
        scanner.update(on: phone)
        startSoon(on: phone)
    }

    /// Saves what would be restored of each manager, soon, if it has changed.
    func preserve(on phone: isolated Phone) {
        for manager in managers { preserve(manager, on: phone) }
    }

    /// Saves what would be restored of a manager, soon, if it has changed; one that did nothing has nothing to restore.
    func preserve(_ manager: CentralManagerState, on phone: isolated Phone) {
        guard let name = manager.preservedName else { return }
        let state = state(of: manager, under: name)
        guard state != manager.saved ?? PreservedCentralState(name: name), phone.save(state) else { return }
        manager.saved = state
    }

    private func state(of manager: CentralManagerState, under name: PreservedName) -> PreservedCentralState {
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

    // MARK: Subscriptions

    /// A link to a device is there again: what its peripheral shows as subscribed to is.
    ///
    /// That is so only after another process, or while Bluetooth was off: other links take what was discovered along. The
    /// attribute handles of then are taken for those of now, as a phone does that caches them (an assumption).
    func subscribeAgain(
        _ manager: CentralManagerState, to peripheral: Peripheral, by link: Peer.ID, on phone: isolated Phone
    ) {
        let (key, pairs) = (manager.key, manager.options.pairsWhenAsked)
        for characteristic in peripheral.preservedServices.flatMap(\.characteristics) {
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
                    let address = central.address(of: peripheral)
                    guard central.ledger.link(to: address, of: key) == link else { return }
                    peripheral.take(.notSubscribed(handle))
                    central.preserve(on: phone)
                    phone.warn(
                        "subscriptionNotRestored",
                        "\(characteristic.uuid) of \(address) is not subscribed to again: \(error)"
                    )
                }
            }
        }
    }
}
