package import MynahEmulator
package import MynahProfiles
import MynahSupport

/// The scenario that the user has chosen for a run.
package struct ScenarioChoice: Hashable, Sendable {
    /// The reason why the user's text is refused, as a sentence without its full stop.
    package struct Problem: Error, Hashable, Sendable {
        package var message: String
    }

    /// The name in events of the scenario's device.
    package let device: String
    /// The name of the scenario in its device's profile.
    package let name: String

    /// Finds a scenario by its name, or by `DEVICE:NAME` if several devices have a scenario with that name.
    ///
    /// `profiles` and `names` are in the same order.
    package init(_ text: String, in profiles: [Profile], _ names: DeviceNames) throws(Problem) {
        let found = zip(names.devices, profiles).filter { Self.names($1).contains(text) }
        if let only = found.first, found.count == 1 {
            (device, name) = (only.0.label, text)
            return
        }
        guard found.isEmpty else {
            let list = NameList.text(found.map { "\"\($0.0.label):\(text)\"" }, separator: " and ")
            throw Problem(message: "\(found.count) devices have a scenario \"\(text)\": name one of \(list)")
        }
        for colon in text.indices where text[colon] == ":" {
            let (prefix, rest) = (String(text[..<colon]), String(text[text.index(after: colon)...]))
            guard profiles.contains(where: { Self.names($0).contains(rest) }) else { continue }
            let named: DeviceNames.Device
            do throws(DeviceNames.Problem) {
                named = try names.device(named: prefix)
            } catch {
                throw Problem(message: error.message)
            }
            guard let index = names.devices.firstIndex(of: named), Self.names(profiles[index]).contains(rest)
            else { continue }
            (device, name) = (named.label, rest)
            return
        }
        var known: [String] = []
        for name in profiles.flatMap(Self.names) where !known.contains(name) { known.append(name) }
        throw Self.unknown(text, among: known)
    }

    private static func unknown(_ text: String, among known: [String]) -> Problem {
        let list = NameList.text(known.map { "\"\($0)\"" })
        let near = NearestName.of(text, among: known).map { "; did you mean \"\($0)\"?" } ?? ""
        let all = known.isEmpty ? "the profiles have no scenarios" : "the scenarios are \(list)"
        return Problem(
            message: "there is no scenario \"\(text)\"\(near.isEmpty ? "; " + all : near + " (\(all))")")
    }

    /// The names of a profile's scenarios.
    package static func names(_ profile: Profile) -> [String] { profile.scenarios.map(\.name) }
}
