import Mynah
import MynahCore
import MynahLifecycle
import MynahProfiles
import MynahSupport

/// The devices that an app's central manager has found: their entries, their addresses, and their events.
///
/// Belongs to the manager's player, and runs on the phone's executor.
final class CentralDevices {
    let central: Profile.Central
    /// The memory of the device that the app plays.
    private let memory: DeviceMemory
    /// The manager's index among the central managers of the app.
    private let number: Int
    var script: CentralScript
    /// The peripherals of this launch that an entry was given, and those that the system kept.
    var peripherals: [PeripheralIdentifier: Peripheral] = [:]
    /// Where the device of each entry was last.
    private var addresses: [Int: DeviceAddress] = [:]

    init(of central: Profile.Central, _ number: Int, _ memory: DeviceMemory) {
        self.central = central
        self.number = number
        self.memory = memory
        script = CentralScript(central)
    }

    // MARK: Entries

    /// The entry of a name, or `nil` if it has none.
    func entry(named name: String) -> Profile.Central.Peripheral? {
        central.peripherals.firstIndex { $0.name == name }.map { central.peripherals[$0] }
    }

    /// The device that an entry of a name has or had last, also in an earlier run; `nil` if it never had one.
    func device(of name: String) -> PeripheralIdentifier? {
        central.peripherals.firstIndex { $0.name == name }.flatMap { script.device(of: $0) }
            ?? memory.appSide.savedDevice(named: name, of: number)
    }

    /// The name of the entry that a device was given, or `nil` if it has none.
    func name(of device: PeripheralIdentifier) -> String? {
        let entry =
            script.entry(of: device)
            ?? central.peripherals.firstIndex {
                memory.appSide.savedDevice(named: $0.name, of: number) == device
            }
        return entry.map { central.peripherals[$0].name }
    }

    // MARK: Peripherals

    /// The app stores the identifiers of its devices, unless nothing about them is new.
    func save(isChanged: Bool = false) {
        guard var saved = memory.appSide.saved else { return }
        saved[number].merge(script.saved) { $1 }
        guard isChanged || saved != memory.appSide.saved else { return }
        memory.appSide.saved = saved
        memory.appSide.app?.access.save(saved)
    }

    /// Others are let go of: a device that changes its address is another one each time.
    func keep(_ peripheral: Peripheral) {
        if script.entry(of: peripheral.identifier) != nil { peripherals[peripheral.identifier] = peripheral }
    }

    func remember(_ peripheral: Peripheral) {
        guard let entry = script.entry(of: peripheral.identifier),
            script.device(of: entry) == peripheral.identifier
        else { return }
        addresses[entry] = peripheral.address
    }

    /// The user has picked the device at an address for an entry.
    func notePick(at address: DeviceAddress, for entry: Int) { addresses[entry] = address }

    /// The identifier that the app stored for the entry of a name is gone.
    func forgetSaved(_ name: String) {
        memory.appSide.saved?[number][name] = nil
        save(isChanged: true)
    }

    /// The system restores the manager of an earlier launch; returns the devices that are connected.
    func restore(_ state: RestoredCentralState) -> [PeripheralIdentifier] {
        for peripheral in state.peripherals { peripherals[peripheral.identifier] = peripheral }
        func identifiers(_ state: PeripheralState, _ all: [Peripheral]) -> [PeripheralIdentifier] {
            all.filter { $0.look { $0.state } == state }.map(\.identifier)
        }
        let connected = identifiers(.connected, state.peripherals)
        script.recognize(
            state.peripherals.map { peripheral in
                let (name, services) = peripheral.look { ($0.name, $0.services.map(\.uuid)) }
                return (peripheral.identifier, .init(services: Set(services), localName: name, rssi: nil))
            })
        for peripheral in state.peripherals { remember(peripheral) }
        save()
        script.restored(
            isScanning: state.scanServices != nil, connected: connected,
            wanted: identifiers(.connecting, state.peripherals))
        memory.events.report(
            .appRestored,
            .restoration(
                .init(state, restoreIdentifier: central.restoreIdentifier ?? "") {
                    eventPeripheral($0)
                }))
        return connected
    }

    // MARK: Events

    func report(
        _ name: DeviceEvent.Name, _ peripheral: Peripheral, isQueued: Bool = false,
        _ payload: (EventPeripheral) -> EventPayload
    ) {
        guard memory.events.isObserved else { return }
        memory.events.report(
            name, payload(eventPeripheral(peripheral)),
            isQueued: isQueued || memory.appSide.isDeliveringQueued)
    }

    /// A device of an entry, or another one, as events have it.
    func eventPeripheral(_ peripheral: Peripheral) -> EventPeripheral {
        let entry = script.entry(of: peripheral.identifier)
        return EventPeripheral(peripheral, alias: entry.map { central.peripherals[$0].name })
    }

    /// The address of the device that an entry of this name has or had last; `nil` if it never had one.
    func address(of name: String) -> DeviceAddress? {
        central.peripherals.firstIndex { $0.name == name }.flatMap { addresses[$0] }
    }

    /// A peripheral that was found at an address.
    func peripheral(at address: DeviceAddress) -> Peripheral? {
        peripherals.values.filter { $0.address == address }
            .min { $0.identifier.description < $1.identifier.description }
    }
}
