import MynahCore
import MynahLifecycle

// Devices that come to the phone and leave it, for managers that registered for them.
extension PhoneCentral {
    /// A manager registers for connection events.
    func register(
        _ manager: CentralManagerState, _ matching: ConnectionEventMatching?, on phone: isolated Phone
    ) {
        manager.register(matching)
        for address in memory.ledger.connected {
            if let link = memory.ledger.link(to: address) { tell(manager, of: link, on: phone) }
        }
    }

    /// A link began.
    func linkBegan(_ link: Peer.ID, on phone: isolated Phone) {
        for manager in memory.managers { tell(manager, of: link, on: phone) }
    }

    /// Services were found on a link, for whichever app.
    func found(_ services: [BluetoothUUID], on link: Peer.ID, on phone: isolated Phone) {
        memory.links[link]?.services.formUnion(services)
        linkBegan(link, on: phone)
    }

    /// A link to a device ended.
    func linkEnded(_ link: Peer.ID, to address: DeviceAddress, on phone: isolated Phone) {
        for manager in memory.managers where manager.toldLinks.remove(link) != nil {
            guard let peripheral = devices.peripheral(at: address, for: manager) else { continue }
            deliver(.connectionEvent(.peerDisconnected, peripheral), to: manager, on: phone)
        }
    }

    /// Tells a manager of a link, once, if it registered for the device.
    private func tell(_ manager: CentralManagerState, of link: Peer.ID, on phone: isolated Phone) {
        guard let registration = manager.registration, !manager.toldLinks.contains(link),
            let address = memory.ledger.address(of: link), manager.sees(address),
            let services = memory.links[link]?.services,
            let peripheral = devices.peripheral(at: address, for: manager),
            registration.matches(peripheral.identifier, services)
        else { return }
        manager.toldLinks.insert(link)
        deliver(.connectionEvent(.peerConnected, peripheral), to: manager, on: phone)
    }
}
