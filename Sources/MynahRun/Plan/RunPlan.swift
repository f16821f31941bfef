package import Mynah
package import MynahEmulator
package import MynahHCI
package import MynahProfiles
import MynahSupport

/// The devices that a run plays, and the conditions of its end.
package struct RunPlan: Sendable {
    /// Something that the user asks for and that these profiles do not have.
    package struct Problem: Error, Hashable, Sendable {
        package var message: String
    }

    /// An action, and the apps that it is for.
    package struct Planned: Sendable {
        var action: PlannedAction
        var target: AppTarget
    }

    /// The profiles that it begins with, in the order of the command line.
    package let profiles: [Profile]
    let groups: RunGroups
    /// The program's.
    let version: String
    private(set) var planned: [Planned] = []
    private(set) var matches: [EventMatch] = []
    private(set) var scenario: ScenarioChoice?
    /// How long it plays from the moment that every device is ready.
    package var timeout: Duration?
    /// The state that apps start in; `nil` if the profile's.
    package var state: RunState?
    /// The seed for generated values, or `nil` if they are random.
    package var seed: UInt64?
    package var stateDirectory: StateDirectory?
    /// Leaves a note for phones that look for the run on the shared air; `nil` if the run is there.
    package var leaveNote: (@Sendable () -> AirNote?)?
    /// The control API; `nil` if none is served.
    package var control: ControlPlan?
    /// `true` if the run serves the control API, and is ready without a device.
    package var isServer = false

    /// A run of these profiles, until it is interrupted; `version` is the program's.
    package init(_ profiles: [Profile], version: String) {
        self.profiles = profiles
        self.version = version
        groups = RunGroups(profiles)
    }

    /// Adds what is to be done and what is waited for; the names of devices are those of the profiles.
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

    /// `true` if a planned action turns Bluetooth off or on.
    var setsPower: Bool { planned.contains(where: \.action.setsPower) }

    /// Whether an app of it is a central, which BlueZ does not play.
    var playsCentrals: Bool { profiles.contains { !$0.centrals.isEmpty } }

    /// Whether a phone is in it from the start.
    var hasPhone: Bool { profiles.contains { $0.app != nil } }

    /// The names of its devices in events, in the order of the command line.
    package var names: [String] { groups.names.devices.map(\.label) }

    /// The names of its apps in events, phone by phone, as they start.
    package var apps: [String] {
        zip(groups.groups, groups.labels).flatMap { $0[0].app == nil ? [] : $1 }
    }

    /// Whether events say whose they are.
    package var namesDevices: Bool { groups.groups.count > 1 || control != nil }

    /// The report about the scenario before it begins, in JUnit's XML, or `nil` if there is none.
    package var firstReport: String? { scenario.map { ScenarioRun($0, clock: .real).report(nil) } }
}
