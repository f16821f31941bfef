package import MynahCore
import MynahLifecycle

/// The devices that no longer have the bond that the phone has, as it found when it encrypted a link.
///
/// iOS ends such a link, and fails each later connection with CBError 14 (peerRemovedPairingInformation)
/// until the user forgets the device in Settings: several projects report both. The phone encrypts a link
/// when a request needs it, so the first link is ended then; that an iPhone finds out earlier, when it
/// connects, is possible.
///
/// Belongs to a phone, and runs on the phone's executor.
final class LostBonds {
    private var devices: Set<DeviceAddress> = []
    /// The links that are ended for it, with their devices.
    private var ending: [Peer.ID: DeviceAddress] = [:]
    private let memory: CentralMemory
    private let work: PhoneWork

    init(_ memory: CentralMemory, _ work: PhoneWork) {
        self.memory = memory
        self.work = work
    }

    /// The key of a link's device was refused: the link ends.
    func found(on link: Peer.ID) {
        guard ending[link] == nil, let address = memory.ledger.address(of: link) else { return }
        devices.insert(address)
        ending[link] = address
        work.start(.disconnect(link))
    }

    /// Returns why a link has ended that was ended for a lost bond, once; `nil` for any other.
    func takeEnd(of link: Peer.ID) -> RadioError? { ending.removeValue(forKey: link).map(Self.error) }

    /// Why the managers that wait for a device are refused when it is linked, or `nil` if they are not.
    func refusal(of address: DeviceAddress) -> RadioError? {
        devices.contains(address) ? Self.error(address) : nil
    }

    /// The bond with a device was deleted.
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
    /// The user forgets a device in Settings: its bond is deleted, and its link ends.
    ///
    /// Returns `false`, and leaves the link, if the phone has no bond with it: Settings lists bonded devices.
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

    /// Deletes the bond with a peripheral, and leaves their link.
    ///
    /// Returns the addresses that are known of it, and whether there was a bond.
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
    /// Whether the other side has lost its bond (PIN or Key Missing).
    package var isLostBond: Bool { reason == 0x06 }
}
