import Mynah
import MynahControl
import MynahCore
import MynahEmulator
import MynahHost
import MynahProfiles
import MynahSupport

/// Makes the phones in the central role that tests add to a run.
struct PhoneMaker: Sendable {
    let radios: RadioMaker
    let played: PlayedRadios
    let events: RunEvents
    /// The run's directory for bonds, or `nil` if nothing is saved.
    let directory: StateDirectory?
    let writer: FileWriter
    let clock: RunClock

    /// The problem that no phone can be added while the run is starting or ending.
    static let isChanging = ControlProblem(409, "the run is starting or ending; try again")

    /// Adds a phone and starts it.
    ///
    /// Throws `isChanging` before all `count` radios of the command line were added, and after the end of the
    /// run.
    func add(_ settings: PhoneSettings, after count: Int) async throws(ControlProblem) -> PlayedPhone {
        guard let new = try make(settings, after: count) else { throw Self.isChanging }
        do throws(RadioError) {
            try await new.start()
        } catch {
            await played.end(new)
            throw ControlProblem(409, error.description)
        }
        return new
    }

    /// Makes a phone that is not started yet; returns `nil` while the run is starting or ending.
    ///
    /// The run has started when all `count` radios of the command line were added.
    private func make(_ settings: PhoneSettings, after count: Int) throws(ControlProblem) -> PlayedPhone? {
        let choice = try Self.choice(settings)
        return try played.appendPhone(after: count) { index, labels, others throws(ControlProblem) in
            let folder = try folder(of: settings, beside: others)
            let name = DeviceLabels.next(settings.name, after: labels)
            do throws(RadioError) {
                let made = try radios.phoneRadio(index, named: name, settings.policy, on: choice, folder)
                return PlayedPhone(
                    name, index, settings, on: made.radio, made.maker,
                    observer: events.observer(of: name, folder?.writer ?? writer), clock: clock)
            } catch {
                throw ControlProblem(409, error.description)
            }
        }
    }

    /// The radio that the settings name, or `nil` if they name none and the phone uses the run's kind of
    /// radio.
    private static func choice(_ settings: PhoneSettings) throws(ControlProblem) -> RadioChoice? {
        guard let text = settings.radio else { return nil }
        let choice: RadioChoice
        do throws(RadioChoice.Problem) {
            choice = try RadioChoice(parsing: text, among: ["auto", "virtual", "netsim"])
        } catch {
            throw ControlProblem(400, "\"radio\": \(error.message)")
        }
        guard choice != .bluez else {
            throw ControlProblem(
                400, "\"radio\": BlueZ plays no phone; choose virtual, netsim or hci:TRANSPORT")
        }
        return choice
    }

    /// The folder for the bonds of a phone, or `nil` if they are kept in memory.
    ///
    /// Throws a problem if one of the phones in `others` uses the folder.
    private func folder(
        of settings: PhoneSettings, beside others: [PlayedPhone]
    ) throws(ControlProblem) -> StateDirectory? {
        guard let name = settings.stateDirectory else { return nil }
        guard let directory else {
            throw ControlProblem(
                409,
                "\"stateDirectory\" is a folder below --state-dir, and the run has none; start it with one")
        }
        if let other = others.first(where: { $0.settings.stateDirectory == name }) {
            throw ControlProblem(409, "the phone \"\(other.name)\" uses the folder \"\(name)\"")
        }
        do throws(RadioError) {
            return try directory.folder(ofPhone: name)
        } catch {
            throw ControlProblem(409, "the folder \"\(name)\" cannot be used")
        }
    }
}

extension PhoneSettings {
    /// The address policy of the phone's radio.
    fileprivate var policy: AddressPolicy {
        switch address {
        case "identity": .automatic
        case "private": .resolvablePrivate()
        default: DeviceAddress(address, kind: .random).map { .fixed($0) } ?? .automatic
        }
    }
}
