package import MynahEmulator
package import MynahSupport

/// A device that the API controls.
package struct ControlledDevice: Sendable {
    /// The names that requests may use for the device.
    package let names: DeviceNames.Device
    /// The emulator that plays the device, and the other apps on its phone.
    package let emulator: Emulator

    package init(names: DeviceNames.Device, emulator: Emulator) {
        self.names = names
        self.emulator = emulator
    }

    /// The device's name in events.
    var label: String { names.label }
}

/// The source of an added device's profile.
package enum ProfileSource: Sendable {
    /// The profile itself.
    case object(JSON)
    /// The path of the profile's file.
    case file(String)
}

/// A run whose devices the API controls, adds and removes.
package protocol ControlledRun: Sendable {
    /// The available radios, as in the event `ready`.
    var radios: [String] { get }
    /// The devices, in the order in which they were added.
    var devices: [ControlledDevice] { get }
    /// The source of numbers for requests that tests answer, or `nil` if no test can answer.
    var requestNumbers: RequestNumbers? { get }

    /// Adds a device to the run, and returns the device's name in events.
    func add(_ profile: ProfileSource, seed: UInt64?) async throws(ControlProblem) -> String

    /// Removes a device from the run.
    func remove(_ device: ControlledDevice) async throws(ControlProblem)

    /// Restarts the run at the beginning of its time; without a seed, the run's own seed is used.
    func beginAnew(seed: UInt64?) async throws(ControlProblem)

    /// Notifies outputs and readers of the journal that the time has changed without an event.
    func clockMoved()

    /// Waits until all events so far are in the journal.
    ///
    /// Some events are delayed until files are written.
    func awaitEvents() async
}
