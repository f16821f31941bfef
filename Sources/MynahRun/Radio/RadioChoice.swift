package import MynahHCI

/// The radio that a user asks for, as `--radio` takes it.
package enum RadioChoice: Equatable, Sendable {
    /// An adapter, else a live Android emulator, else the virtual radio.
    case auto
    /// bluetoothd, over D-Bus.
    case bluez
    /// Our own host on a virtual controller; all processes of this user are on one air.
    case virtual
    /// Our own host on a controller of an Android emulator's radio; `nil`: the instance that is found.
    case netsim(instance: Int?)
    /// Our own host on the controller that this transport reaches.
    case hci(HCITransportAddress)

    /// Whether BlueZ's adapters may play it.
    package var usesAdapters: Bool { self == .auto || self == .bluez }

    /// The misuse of an option of BlueZ with another radio.
    package static func isForBlueZ(_ option: String) -> String {
        "\(option) is for BlueZ, and --radio selects another radio"
    }
}
