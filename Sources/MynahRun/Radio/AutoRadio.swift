package import MynahCore

/// The radio that `--radio auto` selects from those that were found.
package enum AutoRadio: Hashable, Sendable {
    /// BlueZ, whose name `ready` reports.
    case bluez
    /// An Android emulator's radio, with what the user should know.
    case emulator(RadioWarning)
    /// The virtual radio, with what the user should know.
    case virtual(RadioWarning)
    /// No radio: this has to be fixed.
    case failed(RadioError)

    /// The result of the search for an Android emulator.
    package enum Emulator: Hashable, Sendable {
        /// The emulator is running, with this name.
        case alive(String)
        /// No emulator is running, for this reason.
        case absent(String)
    }

    /// The radio that plays a device.
    ///
    /// `trouble` is why BlueZ has no adapter for it, `nil` if it has one. A user whose kernel has an adapter,
    /// or who named one, needs that one fixed, not replaced: `needsBlueZ`.
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

    /// The radio of a command that is a phone, which BlueZ does not serve.
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
