import MynahCore
import MynahLifecycle

/// The devices that a phone knows, with their identifiers and names, in memory and in their file.
///
/// Belongs to a phone, and runs on the phone's executor.
final class KnownDevices {
    private let radio: (any CentralRadio)?
    private let files: PhoneFiles
    private let phone: PhoneMemory
    private let memory: CentralMemory
    private let work: PhoneWork
    private var known: KnownPeripherals
    private var isLoaded = false
    /// The revision of `known` that was saved last.
    private var savedRevision = 0
    /// The devices that have lost their bond with the phone.
    let lostBonds: LostBonds
    /// The attribute tables of the bonded devices.
    let tables: KeptTables

    /// Makes the list for a radio; with a `seed` the identifiers of devices are reproducible.
    init(_ radio: (any CentralRadio)?, _ common: PhoneCommon, seed: UInt64? = nil) {
        self.radio = radio
        (files, phone, memory, work) = (common.files, common.memory, common.central, common.work)
        lostBonds = LostBonds(memory, work)
        tables = KeptTables(in: files, phone, memory)
        known = KnownPeripherals(seed: seed ?? .random(in: 0 ... .max))
    }

    // MARK: The file

    /// Reads the devices that the phone knew in earlier runs, unless they were read before.
    func load() {
        guard !isLoaded else { return }
        isLoaded = true
        known.load(files.loadKnownPeripherals())
        tables.load()
    }

    /// Saves the devices, if they have changed.
    ///
    /// A change of their order alone, by last use, is saved only with `isLast`.
    func save(isLast: Bool = false) {
        if isLast { tables.save() }
        guard savedRevision != known.revision || isLast && known.count > 0 else { return }
        savedRevision = known.revision
        files.save(known)
    }

    // MARK: Peripherals

    /// Returns a manager's peripheral for the device at an address, and adds the device to the known ones.
    func peripheral(at address: DeviceAddress, for manager: CentralManagerState) -> Peripheral? {
        let identifier = known.identifier(of: address, isInUse: isInUse)
        save()
        return peripheral(identifier, at: address, for: manager)
    }

    private func peripheral(
        _ identifier: PeripheralIdentifier, at address: DeviceAddress, for manager: CentralManagerState
    ) -> Peripheral? {
        guard let radio else { return nil }
        return manager.peripheral(identifier) {
            let peripheral = Peripheral(
                identifier: identifier, address: address, radio: radio,
                access: PeripheralAccess(work.link, of: CentralReference(manager)),
                pairsWhenAsked: manager.options.pairsWhenAsked)
            if manager.app != nil, let name = known.deviceName(of: identifier) {
                peripheral.note(.deviceName(name))
            }
            return peripheral
        }
    }

    /// Returns a manager's peripherals for those identifiers that are known
    /// (retrievePeripherals(withIdentifiers:)).
    func retrieve(
        _ identifiers: [PeripheralIdentifier], for manager: CentralManagerState
    ) -> [Peripheral] {
        identifiers.filter { manager.app?.accessories.sees($0) ?? true }.compactMap { identifier in
            known.retrieve(identifier).flatMap { peripheral($0, for: manager) }
        }
    }

    /// Returns the restored peripheral of a manager, and its address in the link ledger.
    func restore(
        _ entry: KnownPeripherals.Entry, for manager: CentralManagerState
    ) -> (peripheral: Peripheral, address: DeviceAddress)? {
        let entry = known.restore(entry, isInUse: isInUse)
        return peripheral(entry, for: manager).map { ($0, entry.address) }
    }

    private func peripheral(
        _ entry: KnownPeripherals.Entry, for manager: CentralManagerState
    ) -> Peripheral? {
        let peripheral = peripheral(entry.identifier, at: entry.address, for: manager)
        if let name = entry.name { peripheral?.note(.named(name)) }
        return peripheral
    }

    /// Returns whether a device must not be forgotten: it is connected, waited for, or an accessory of an
    /// app.
    private var isInUse: (DeviceAddress) -> Bool {
        let ledger = memory.ledger
        let accessories = phone.apps.compactMap(\.accessories.kept)
        return { address in ledger.concerns(address) || accessories.contains { $0.contains(address) } }
    }

    // MARK: New information

    /// The address of a peripheral in the link ledger: its identity address if that is known.
    func address(of peripheral: Peripheral) -> DeviceAddress {
        // A peripheral that was forgotten is identified by the address with which it was found.
        known.retrieve(peripheral.identifier)?.address ?? peripheral.address
    }

    /// Records a device's name.
    func name(_ address: DeviceAddress, _ name: String) {
        known.name(address, name)
        save()
    }

    /// Records the GAP device name that was read from a device.
    func read(_ deviceName: String, of address: DeviceAddress) {
        known.setDeviceName(deviceName, of: address)
        save()
    }

    /// The GAP device name that was last read from a device, or `nil` if it never was.
    func deviceName(of peripheral: Peripheral) -> String? { known.deviceName(of: peripheral.identifier) }

    /// Sets the services of a new link from the device's kept attribute table.
    func linked(_ peer: Peer, to address: DeviceAddress) {
        memory.links[peer.id]?.services = tables.began(peer, to: address)
    }

    /// Drops a device's attribute table and lost bond, because the bond with the device was deleted.
    func forgotten(_ address: DeviceAddress) {
        lostBonds.forgotten(address)
        tables.forget(address)
    }

    /// Replaces a device's address after the radio reported another one for the same device.
    func moved(from old: DeviceAddress, to new: DeviceAddress) {
        known.moved(from: old, to: new)
        for app in phone.apps { app.accessories.moved(from: old, to: new) }
        tables.moved(from: old, to: new)
        save()
        // The tables use the ledger, which is being changed now.
        work.start(.saveTables)
    }
}
