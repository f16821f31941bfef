import MynahCore
import MynahLifecycle

/// Reads the GAP device names of the devices that apps are connected to, as the system does by itself.
///
/// After that, the name of an app's peripheral is its GAP device name, even if it advertises another one. It
/// is an assumption that the system reads the name once on each link.
struct PeripheralNames {
    private let radio: (any DeviceNameRadio)?
    private let memory: CentralMemory
    private let devices: KnownDevices
    private let work: PhoneWork

    init(_ radio: (any CentralRadio)?, _ memory: CentralMemory, _ devices: KnownDevices, _ work: PhoneWork) {
        self.radio = radio as? any DeviceNameRadio
        self.memory = memory
        self.devices = devices
        self.work = work
    }

    /// Reads the name of an app's device after a manager has got a link to it.
    ///
    /// If the name was already read for another app, the peripheral gets that name.
    func connected(_ manager: CentralManagerState, to peripheral: Peripheral, by link: Peer.ID) {
        guard manager.app != nil, let radio, let hasAsked = memory.links[link]?.hasAskedName else { return }
        guard !hasAsked else {
            if let known = devices.deviceName(of: peripheral) { peripheral.note(.deviceName(known)) }
            return
        }
        memory.links[link]?.hasAskedName = true
        Task(executorPreference: radio.preferredExecutor) { [work] in
            // A device without a name keeps the one that it advertises.
            guard let name = try? await radio.readDeviceName(of: link), !name.isEmpty else { return }
            await work.tellSoon(.nameRead(name, on: link))
        }
    }

    /// Sets the name that was read from a link's device.
    ///
    /// Returns the apps' managers that use the link, with their peripherals, if the name is new to them.
    func read(_ name: String, on link: Peer.ID) -> [(manager: CentralManagerState, peripheral: Peripheral)] {
        guard let address = memory.ledger.address(of: link) else { return [] }
        devices.read(name, of: address)
        return memory.managers.filter { $0.app != nil && memory.holds(link, $0) }.compactMap { manager in
            guard let peripheral = manager.asked[address] else { return nil }
            let before = peripheral.look { $0.name }
            peripheral.note(.deviceName(name))
            return before == name ? nil : (manager, peripheral)
        }
    }
}
