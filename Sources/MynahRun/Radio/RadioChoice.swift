package import MynahHCI

/// The user's choice of a radio, as an option of `--radio`.
package enum RadioChoice: Equatable, Sendable {
    /// An adapter if there is one, or else a running Android emulator, or else the virtual radio.
    case auto
    /// bluetoothd, over D-Bus.
    case bluez
    /// Mynah's own host on a virtual controller; all processes of the user share one air.
    case virtual
    /// Mynah's own host on a controller of an Android emulator's radio; with `nil`, of the instance that is
    /// found.
    case netsim(instance: Int?)
    /// Mynah's own host on the controller at a transport address.
    case hci(HCITransportAddress)

    /// Whether the choice may lead to BlueZ's adapters.
    package var usesAdapters: Bool { self == .auto || self == .bluez }

    /// The error of using an option for BlueZ with another radio.
    package static func isForBlueZ(_ option: String) -> String {
        "\(option) is for BlueZ, and --radio selects another radio"
    }
}
