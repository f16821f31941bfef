package import MynahCore
import MynahLifecycle

/// The devices that have deleted their bond with the phone, while the phone still has it.
///
/// The phone finds this out when it encrypts a link.
///
/// iOS ends such a link, and fails each later connection with CBError 14 (peerRemovedPairingInformation)
/// until the user forgets the device in Settings: several projects report both. This phone encrypts a link
/// when a request needs it, and ends the link then. An iPhone may find out earlier, when it connects.
///
/// Belongs to a phone, and runs on the phone's executor.
final class LostBonds {
    private var devices: Set<DeviceAddress> = []
    /// The links that are being ended because of a lost bond, with their devices.
    private var ending: [Peer.ID: DeviceAddress] = [:]
    private let memory: CentralMemory
    private let work: PhoneWork

    init(_ memory: CentralMemory, _ work: PhoneWork) {
        self.memory = memory
        self.work = work
    }

    /// Ends a link whose device refused the phone's key.
    func found(on link: Peer.ID) {
        guard ending[link] == nil, let address = memory.ledger.address(of: link) else { return }
        devices.insert(address)
        ending[link] = address
        work.start(.disconnect(link))
    }

    /// Removes and returns the error of a link that was ended because of a lost bond, or returns `nil` for
    /// any other link.
    func takeEnd(of link: Peer.ID) -> RadioError? { ending.removeValue(forKey: link).map(Self.error) }

    /// The error for managers that wait for a device whose bond is lost, or `nil` if it is not.
    func refusal(of address: DeviceAddress) -> RadioError? {
        devices.contains(address) ? Self.error(address) : nil
    }

    /// Forgets a device, because the bond with it was deleted.
    func forgotten(_ address: DeviceAddress) {
        devices.remove(address)
    }

    private static func error(_ address: DeviceAddress) -> RadioError {
        RadioError(
            .pairingFailed, "\(address) no longer has the bond",
            remedy: "forget the device on the phone too, and pair again", reason: 0x06)
    }
}

extension PhoneControl {
    /// Forgets a device as the user does in Settings: deletes its bond, and ends its link.
    ///
    /// Returns `false`, and leaves the link, if the phone has no bond with the device: Settings lists bonded
    /// devices only.
    package static func forgetPeripheral(
        at address: DeviceAddress, on phone: isolated Phone
    ) async -> Bool {
        let (addresses, wasBonded) = await forgetBond(ofPeripheralAt: address, on: phone)
        for known in addresses where wasBonded {
            guard let link = phone.central.memory.ledger.link(to: known) else { continue }
            await phone.central.radio?.disconnect(link)
        }
        return wasBonded
    }

    /// Deletes the bond with a peripheral, without ending the link.
    ///
    /// Returns the known addresses of the peripheral, and whether there was a bond.
    package static func forgetBond(
        ofPeripheralAt address: DeviceAddress, on phone: isolated Phone
    ) async -> (addresses: [DeviceAddress], wasBonded: Bool) {
        guard let radio = phone.central.radio else { return ([], false) }
        let identity = await radio.identity(of: address)
        let wasBonded = await radio.forgetBond(with: identity)
        let addresses = address == identity ? [address] : [address, identity]
        for known in addresses { phone.central.devices.forgotten(known) }
        return (addresses, wasBonded)
    }
}

extension RadioError {
    /// Whether the peer has lost its bond (PIN or Key Missing).
    package var isLostBond: Bool { reason == 0x06 }
}
