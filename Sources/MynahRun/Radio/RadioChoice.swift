package import MynahHCI

/// The user's choice of a radio, as a value of `--radio`.
package enum RadioChoice: Equatable, Sendable {
    /// BlueZ if there is an adapter, or else a running Android emulator, or else the virtual radio.
    case auto
    /// bluetoothd, over D-Bus.
    case bluez
    /// Mynah's own host on a virtual controller; all processes of the user share one air.
    case virtual
    /// Mynah's own host on a controller of an Android emulator's radio.
    ///
    /// `instance` is the number of the emulator's instance, or `nil` to search for one.
    case netsim(instance: Int?)
    /// Mynah's own host on the controller at a transport address.
    case hci(HCITransportAddress)

    /// Whether the choice may select BlueZ.
    package var usesAdapters: Bool { self == .auto || self == .bluez }

    /// The error of an option for BlueZ that is used with another radio.
    package static func isForBlueZ(_ option: String) -> String {
        "\(option) is for BlueZ, and --radio selects another radio"
    }
}
