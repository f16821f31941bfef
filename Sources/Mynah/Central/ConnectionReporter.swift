import MynahCore
import MynahLifecycle

/// Reports connections and disconnections of devices: to the managers that registered for them, and to the
/// `PhoneSink`.
///
/// Belongs to a phone, and runs on the phone's executor.
struct ConnectionReporter {
    private let memory: CentralMemory
    private let devices: KnownDevices
    private let phone: PhoneMemory
    private let reports: PhoneReports

    init(_ common: PhoneCommon, _ devices: KnownDevices) {
        (memory, phone, reports) = (common.central, common.memory, common.reports)
        self.devices = devices
    }

    /// Registers a manager for connection events.
    func register(_ manager: CentralManagerState, _ matching: ConnectionEventMatching?) {
        manager.register(matching)
        for address in memory.ledger.connected {
            if let link = memory.ledger.link(to: address) { tell(manager, of: link) }
        }
    }

    /// Reports a new link to the managers that registered for its device.
    func linkBegan(_ link: Peer.ID) {
        for manager in memory.managers { tell(manager, of: link) }
    }

    /// Records services that an app discovered on a link, and reports the link to the managers that
    /// registered for them.
    func found(_ services: [BluetoothUUID], on link: Peer.ID) {
        memory.links[link]?.services.formUnion(services)
        linkBegan(link)
    }

    /// Reports that an app ended its connection to a device while `apps` still use the link.
    func linkKept(_ address: DeviceAddress, by apps: [UInt64]) {
        reports.report(.linkKept(address, by: apps.compactMap { phone.app($0)?.description.name }))
    }

    /// Reports that a link to a device ended on the air.
    func linkEndedOnAir(_ link: Peer.ID, to address: DeviceAddress) {
        reports.report(.linkEnded(address))
        linkEnded(link, to: address)
    }

    /// Reports the end of a link to a device to the registered managers.
    func linkEnded(_ link: Peer.ID, to address: DeviceAddress) {
        for manager in memory.managers where manager.toldLinks.remove(link) != nil {
            guard let peripheral = devices.peripheral(at: address, for: manager) else { continue }
            phone.pass(.connectionEvent(.peerDisconnected, peripheral), to: manager)
        }
    }

    /// Reports a link to a manager, once, if the manager registered for the device.
    private func tell(_ manager: CentralManagerState, of link: Peer.ID) {
        guard let registration = manager.registration, !manager.toldLinks.contains(link),
            let address = memory.ledger.address(of: link), manager.sees(address),
            let services = memory.links[link]?.services,
            let peripheral = devices.peripheral(at: address, for: manager),
            registration.matches(peripheral.identifier, services)
        else { return }
        manager.toldLinks.insert(link)
        phone.pass(.connectionEvent(.peerConnected, peripheral), to: manager)
    }
}
