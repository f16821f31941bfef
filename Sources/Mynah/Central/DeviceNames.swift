import MynahCore
import MynahLifecycle

/// Reads the GAP device names of the devices that apps are connected to, as the system does by itself.
///
/// An app's peripheral has this name from then on, also if it advertises another. That the system reads it
/// once on each link is an assumption.
enum DeviceNames {
    /// A manager holds a link: an app's device is asked.
    ///
    /// If it was asked for another app, it has the name that it answered.
    static func connected(
        _ manager: CentralManagerState, to peripheral: Peripheral, by link: Peer.ID, on phone: isolated Phone
    ) {
        let connections = phone.central.connections
        guard manager.app != nil, let radio = phone.central.radio as? any DeviceNameRadio,
            let hasAsked = connections.links[link]?.hasAskedName
        else { return }
        guard !hasAsked else {
            let known = phone.central.devices.deviceName(of: peripheral)
            if let known { peripheral.note(.deviceName(known)) }
            return
        }
        connections.links[link]?.hasAskedName = true
        let way = PhoneLink(phone)
        Task(executorPreference: phone.preferredExecutor) {
            // A device without a name keeps the one that it advertises.
            guard let name = try? await radio.readDeviceName(of: link), !name.isEmpty else { return }
            await way.perform { read(name, on: link, on: $0) }
        }
    }

    private static func read(_ name: String, on link: Peer.ID, on phone: isolated Phone) {
        let central = phone.central
        guard let address = central.connections.ledger.address(of: link) else { return }
        central.devices.read(name, of: address, on: phone)
        for manager in central.managers where manager.app != nil && central.connections.holds(link, manager) {
            guard let peripheral = manager.asked[address] else { continue }
            let before = peripheral.look { $0.name }
            peripheral.note(.deviceName(name))
            if before != name { central.deliver(.nameUpdated(peripheral), to: manager, on: phone) }
        }
    }
}
