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
    /// The revision that is in the file.
    private var savedRevision = 0
    /// Those that no longer have the bond that the phone has.
    let lostBonds: LostBonds
    /// The attribute tables of those that are bonded.
    let tables: KeptTables

    /// The devices that a radio may reach; `seed` makes their identifiers repeat themselves.
    init(_ radio: (any CentralRadio)?, _ common: PhoneCommon, seed: UInt64? = nil) {
        self.radio = radio
        (files, phone, memory, work) = (common.files, common.memory, common.central, common.work)
        lostBonds = LostBonds(memory, work)
        tables = KeptTables(in: files, phone, memory)
        known = KnownPeripherals(seed: seed ?? .random(in: 0 ... .max))
    }

    // MARK: The file

    /// Reads the devices that the phone knew, once.
    func load() {
        guard !isLoaded else { return }
        isLoaded = true
        known.load(files.loadKnownPeripherals())
        tables.load()
    }

    /// Saves the devices, soon, if there is something new.
    ///
    /// Which was used last is saved with it, and with the `isLast` time.
    func save(isLast: Bool = false) {
        if isLast { tables.save() }
        guard savedRevision != known.revision || isLast && known.count > 0 else { return }
        savedRevision = known.revision
        files.save(known)
    }

    // MARK: Peripherals

    /// The peripheral of a manager at an address; the device is known from now on.
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

    /// The devices of these identifiers that are known, for a manager
    /// (retrievePeripherals(withIdentifiers:)).
    func retrieve(
        _ identifiers: [PeripheralIdentifier], for manager: CentralManagerState
    ) -> [Peripheral] {
        identifiers.filter { manager.app?.accessories.sees($0) ?? true }.compactMap { identifier in
            known.retrieve(identifier).flatMap { peripheral($0, for: manager) }
        }
    }

    /// The peripheral of a manager that another process knew, and the address by which its connections are
    /// kept.
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

    /// Those that are connected or waited for, and accessories of apps, are not forgotten.
    private var isInUse: (DeviceAddress) -> Bool {
        let ledger = memory.ledger
        let accessories = phone.apps.compactMap(\.accessories.kept)
        return { address in ledger.concerns(address) || accessories.contains { $0.contains(address) } }
    }

    // MARK: New information

    /// The address by which a peripheral's connections are kept: its identity address if that is known.
    func address(of peripheral: Peripheral) -> DeviceAddress {
        // One that was forgotten is known again by the address that it was found with.
        known.retrieve(peripheral.identifier)?.address ?? peripheral.address
    }

    /// A device's name became known.
    func name(_ address: DeviceAddress, _ name: String) {
        known.name(address, name)
        save()
    }

    /// A device's GAP device name was read.
    func read(_ deviceName: String, of address: DeviceAddress) {
        known.setDeviceName(deviceName, of: address)
        save()
    }

    /// The GAP device name that was read last, or `nil` if it never was.
    func deviceName(of peripheral: Peripheral) -> String? { known.deviceName(of: peripheral.identifier) }

    /// A device was linked.
    func linked(_ peer: Peer, to address: DeviceAddress) {
        memory.links[peer.id]?.services = tables.began(peer, to: address)
    }

    /// The bond with a device was deleted.
    func forgotten(_ address: DeviceAddress) {
        lostBonds.forgotten(address)
        tables.forget(address)
    }

    /// A device has turned out to have another address.
    func moved(from old: DeviceAddress, to new: DeviceAddress) {
        known.moved(from: old, to: new)
        for app in phone.apps { app.accessories.moved(from: old, to: new) }
        tables.moved(from: old, to: new)
        save()
        // The tables ask the ledger, which is being changed now.
        work.start(.saveTables)
    }
}
