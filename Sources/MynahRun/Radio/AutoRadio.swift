package import MynahCore

/// The radio that `--radio auto` selects.
package enum AutoRadio: Hashable, Sendable {
    /// BlueZ, without a warning.
    case bluez
    /// An Android emulator's radio, with a warning for the user.
    case emulator(RadioWarning)
    /// The virtual radio, with a warning for the user.
    case virtual(RadioWarning)
    /// No radio: the user must fix this error.
    case failed(RadioError)

    /// The result of the search for an Android emulator.
    package enum Emulator: Hashable, Sendable {
        /// The emulator is running, with this name.
        case alive(String)
        /// No emulator is running, for this reason.
        case absent(String)
    }

    /// Selects the radio for a device.
    ///
    /// `trouble` is the reason why BlueZ has no adapter, or `nil` if it has one. `needsBlueZ` means that the
    /// kernel has an adapter or the user has named one. The user must then fix `trouble`, and no other radio
    /// is selected.
    package static func forDevice(
        bluez trouble: RadioError?, needsBlueZ: Bool, emulator: Emulator
    ) -> AutoRadio {
        guard let trouble else { return .bluez }
        guard !needsBlueZ, [.noAdapter, .unreachable, .timedOut, .lost].contains(trouble.code) else {
            return .failed(trouble)
        }
        switch emulator {
        case .alive(let name):
            return .emulator(
                RadioWarning(
                    "netsimRadio",
                    "\(trouble.message): the device plays on the Android emulator's radio (\(name))"))
        case .absent(let reason):
            return .virtual(
                RadioWarning(
                    "virtualRadio",
                    "\(trouble.message), and \(reason): "
                        + "the device plays on the virtual radio, where `mynah scan` sees it"
                ))
        }
    }

    /// Selects the radio for a command that acts as a phone, which BlueZ does not support.
    package static func forPhone(_ command: String, emulator: Emulator) -> AutoRadio {
        switch emulator {
        case .alive(let name):
            .emulator(
                RadioWarning(
                    "netsimRadio",
                    "\(command) never uses BlueZ; it uses the Android emulator's radio (\(name))"))
        case .absent(let reason):
            .virtual(
                RadioWarning(
                    "virtualRadio",
                    "\(command) never uses BlueZ; it uses the virtual radio, because \(reason)"))
        }
    }
}
