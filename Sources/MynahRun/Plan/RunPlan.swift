package import Mynah
package import MynahEmulator
package import MynahHCI
package import MynahProfiles
import MynahSupport

/// The devices of a run, the planned actions, and the conditions for its end.
package struct RunPlan: Sendable {
    /// An error in the user's options for these profiles.
    package struct Problem: Error, Hashable, Sendable {
        package var message: String
    }

    /// A planned action and its resolved target.
    package struct Planned: Sendable {
        var action: PlannedAction
        var target: AppTarget
    }

    /// The initial profiles, in the order of the command line.
    package let profiles: [Profile]
    let groups: RunGroups
    /// The version of Mynah.
    let version: String
    private(set) var planned: [Planned] = []
    private(set) var matches: [EventMatch] = []
    private(set) var scenario: ScenarioChoice?
    /// The duration of the run after all devices are ready, or `nil` for no limit.
    package var timeout: Duration?
    /// The initial state of apps, or `nil` for the state in their profiles.
    package var state: RunState?
    /// The seed for generated values, or `nil` for random values.
    package var seed: UInt64?
    package var stateDirectory: StateDirectory?
    /// Writes a note from which other processes learn why they cannot receive the run's devices.
    ///
    /// The value is `nil` if they can, because the run uses the virtual air that all processes of this user
    /// share.
    package var leaveNote: (@Sendable () -> AirNote?)?
    /// The control API, or `nil` if there is none.
    package var control: ControlPlan?
    /// `true` for a run that serves the control API and needs no device to be ready.
    package var isServer = false

    /// Makes a plan for these profiles; `version` is the version of the program.
    package init(_ profiles: [Profile], version: String) {
        self.profiles = profiles
        self.version = version
        groups = RunGroups(profiles)
    }

    /// Adds planned actions, expected events and a scenario, and resolves the names in them.
    package mutating func add(
        _ actions: [PlannedAction], until matches: [EventMatch], scenario: String?
    ) throws(Problem) {
        self.matches = try matches.map { match throws(Problem) in
            guard let device = match.device, !groups.phones.contains(device) else { return match }
            do throws(DeviceNames.Problem) {
                return match.naming(try groups.names.device(named: device).label)
            } catch {
                throw Problem(message: "--until \(match.text): \(error.message)")
            }
        }
        self.scenario = try scenario.map { text throws(Problem) in
            do throws(ScenarioChoice.Problem) {
                return try ScenarioChoice(text, in: profiles, groups.names)
            } catch {
                throw Problem(message: "--scenario: \(error.message)")
            }
        }
        planned = try actions.map { action throws(Problem) in
            do throws(PlannedAction.Problem) {
                return Planned(action: action, target: try action.target(among: groups.names))
            } catch {
                throw Problem(message: error.message)
            }
        }
    }

    /// Whether a planned action turns Bluetooth off or on.
    var setsPower: Bool { planned.contains(where: \.action.setsPower) }

    /// Whether one of the apps is a central, which BlueZ cannot play.
    var playsCentrals: Bool { profiles.contains { !$0.centrals.isEmpty } }

    /// Whether the run begins with a phone, because one of the initial profiles is an app.
    var hasPhone: Bool { profiles.contains { $0.app != nil } }

    /// The names of the devices in events, in the order of the command line.
    package var names: [String] { groups.names.devices.map(\.label) }

    /// The names of the apps in events, phone by phone, in the order of their start.
    package var apps: [String] {
        zip(groups.groups, groups.labels).flatMap { $0[0].app == nil ? [] : $1 }
    }

    /// Whether events contain the name of their device.
    package var namesDevices: Bool { groups.groups.count > 1 || control != nil }

    /// The JUnit report of a scenario that has not started, or `nil` if there is no scenario.
    package var firstReport: String? { scenario.map { ScenarioRun($0, clock: .real).report(nil) } }
}
