import Mynah
public import MynahCore

extension Emulator {
    /// Calls `move` after a time from now on with the address on the air of a peripheral that the profile of
    /// an app names.
    ///
    /// If no device was found for it by then, that is a warning.
    public func find(
        _ peripheral: String, of label: String, after delay: Duration,
        _ move: @escaping @Sendable (DeviceAddress) -> Void
    ) {
        plan(after: delay) { emulator in
            guard let player = emulator.players.first(where: { $0.device.label == label }) else { return }
            guard let address = player.centrals.lazy.compactMap({ $0.address(of: peripheral) }).first else {
                return player.events.warn(
                    "peripheralUnknown",
                    "\(label) has not found \(peripheral) yet; its range is unchanged")
            }
            // A bonded device is known by its identity address, and may use another on the air.
            move(await emulator.phone.addressOnAir(of: address))
        }
    }
}
