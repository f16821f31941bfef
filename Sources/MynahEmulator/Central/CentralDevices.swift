import Mynah
import MynahCore
import MynahLifecycle
import MynahProfiles
import MynahSupport

/// The devices that an app's central manager has found: their profile entries, addresses and events.
///
/// Belongs to the manager's player, and runs on the phone's executor.
final class CentralDevices {
    let central: Profile.Central
    /// The shared state of the device whose app has the manager.
    private let memory: DeviceMemory
    /// The manager's index among the central managers of the app.
    private let number: Int
    var script: CentralScript
    /// The peripherals that were assigned to a profile entry in this launch, and those that the system
    /// preserved.
    var peripherals: [PeripheralIdentifier: Peripheral] = [:]
    /// The last known address of the device of each profile entry, by the entry's index.
    private var addresses: [Int: DeviceAddress] = [:]

    init(of central: Profile.Central, _ number: Int, _ memory: DeviceMemory) {
        self.central = central
        self.number = number
        self.memory = memory
        script = CentralScript(central)
    }

    // MARK: Entries

    /// Returns the profile entry with the given name, or `nil` if there is none.
    func entry(named name: String) -> Profile.Central.Peripheral? {
        central.peripherals.firstIndex { $0.name == name }.map { central.peripherals[$0] }
    }

    /// Returns the device that was last assigned to the named entry, even in an earlier run.
    ///
    /// Returns `nil` if no device was ever assigned.
    func device(of name: String) -> PeripheralIdentifier? {
        central.peripherals.firstIndex { $0.name == name }.flatMap { script.device(of: $0) }
            ?? memory.appSide.savedDevice(named: name, of: number)
    }

    /// Returns the name of the entry that a device is assigned to, or `nil` if there is none.
    func name(of device: PeripheralIdentifier) -> String? {
        let entry =
            script.entry(of: device)
            ?? central.peripherals.firstIndex {
                memory.appSide.savedDevice(named: $0.name, of: number) == device
            }
        return entry.map { central.peripherals[$0].name }
    }

    // MARK: Peripherals

    /// Saves the identifiers of the devices in the app's data if they changed, or if `isChanged` is `true`.
    func save(isChanged: Bool = false) {
        guard var saved = memory.appSide.saved else { return }
        saved[number].merge(script.saved) { $1 }
        guard isChanged || saved != memory.appSide.saved else { return }
        memory.appSide.saved = saved
        memory.appSide.app?.access.save(saved)
    }

    /// Keeps a peripheral if it is assigned to an entry, and ignores it otherwise.
    ///
    /// Others are released, because a device that changes its address appears as a new peripheral each time.
    func keep(_ peripheral: Peripheral) {
        if script.entry(of: peripheral.identifier) != nil { peripherals[peripheral.identifier] = peripheral }
    }

    func remember(_ peripheral: Peripheral) {
        guard let entry = script.entry(of: peripheral.identifier),
            script.device(of: entry) == peripheral.identifier
        else { return }
        addresses[entry] = peripheral.address
    }

    /// Stores the address of the device that the user picked for an entry.
    func notePick(at address: DeviceAddress, for entry: Int) { addresses[entry] = address }

    /// Deletes the stored device identifier of the named entry.
    func forgetSaved(_ name: String) {
        memory.appSide.saved?[number][name] = nil
        save(isChanged: true)
    }

    /// Stores the peripherals of a restored central manager, and returns those that are connected.
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

    /// A peripheral as events describe it, whether or not it is assigned to an entry.
    func eventPeripheral(_ peripheral: Peripheral) -> EventPeripheral {
        let entry = script.entry(of: peripheral.identifier)
        return EventPeripheral(peripheral, alias: entry.map { central.peripherals[$0].name })
    }

    /// Returns the address of the device that was last assigned to the named entry, or `nil` if none ever
    /// was.
    func address(of name: String) -> DeviceAddress? {
        central.peripherals.firstIndex { $0.name == name }.flatMap { addresses[$0] }
    }

    /// Returns the peripheral at the given address, or `nil` if none was found.
    func peripheral(at address: DeviceAddress) -> Peripheral? {
        peripherals.values.filter { $0.address == address }
            .min { $0.identifier.description < $1.identifier.description }
    }
}
