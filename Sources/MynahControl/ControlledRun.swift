package import MynahEmulator
package import MynahSupport

/// A device that the API controls.
package struct ControlledDevice: Sendable {
    /// The names that requests may use for it.
    package let names: DeviceNames.Device
    /// The emulator that plays it, and the other apps of its phone.
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
    /// A file.
    case file(String)
}

/// A run whose devices the API controls, adds and removes.
package protocol ControlledRun: Sendable {
    /// The radios that it may use, as `ready` names them.
    var radios: [String] { get }
    /// The devices, in the order in which they were added.
    var devices: [ControlledDevice] { get }
    /// The numbers of the requests that tests answer; `nil` if no test can.
    var requestNumbers: RequestNumbers? { get }

    /// Adds a device, plays it, and returns its name in events.
    func add(_ profile: ProfileSource, seed: UInt64?) async throws(ControlProblem) -> String

    /// Removes a device from the air.
    func remove(_ device: ControlledDevice) async throws(ControlProblem)

    /// Begins the run anew, at the first instant of its time and with another seed or its own.
    func beginAnew(seed: UInt64?) async throws(ControlProblem)

    /// The time of the run is another one, without any event: its outputs and the readers of its journal
    /// learn it.
    func clockMoved()

    /// Returns when the events that have happened are in the journal, also if they wait for files.
    func awaitEvents() async
}
