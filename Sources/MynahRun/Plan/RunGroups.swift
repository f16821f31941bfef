package import MynahEmulator
package import MynahProfiles
import MynahSupport

/// Which profiles of a run share a radio: apps are apps of one phone, and each accessory needs a radio of its
/// own.
package struct RunGroups {
    package private(set) var groups: [[Profile]] = []
    /// The names of the devices of each group, as in events.
    package private(set) var labels: [[String]] = []
    /// The names of all devices, in the order of the command line.
    package let names: DeviceNames

    package init(_ profiles: [Profile]) {
        let unique = DeviceLabels.unique(profiles.map(\.name))
        names = DeviceNames(
            zip(profiles, unique).map { profile, label in
                .init(
                    label: label, file: profile.file, isApp: profile.app != nil,
                    peripherals: profile.centrals.flatMap(\.peripherals).map(\.name))
            })
        for (profile, label) in zip(profiles, unique) {
            if profile.app != nil, let place = groups.firstIndex(where: { $0[0].app != nil }) {
                groups[place].append(profile)
                labels[place].append(label)
            } else {
                groups.append([profile])
                labels.append([label])
            }
        }
    }

    /// The errors if apps cannot be on one phone.
    package var issues: [ProfileIssue] {
        groups.flatMap { group in
            group.indices.dropFirst().flatMap { index in
                group[..<index].flatMap { Self.conflicts(of: group[index], with: $0) }
            }
        }
    }

    /// The error if two apps of a phone have the same name, else `nil`.
    package static func nameIssue(of profile: Profile, with other: Profile) -> ProfileIssue? {
        guard profile.app != nil, other.app != nil, profile.name == other.name else { return nil }
        return profile.issue(
            .error, at: profile.marks["name"],
            "the name \"\(profile.name)\" is taken by \(other.file); "
                + "two apps of a phone need different names"
        )
    }

    private static func conflicts(of profile: Profile, with other: Profile) -> [ProfileIssue] {
        guard let app = profile.app, let before = other.app else { return [] }
        var issues = [nameIssue(of: profile, with: other)].compactMap { $0 }
        func conflict(_ field: String, _ message: String) {
            issues.append(profile.issue(.error, at: app.marks[field] ?? app.marks[""], message))
        }
        let together = "and both are apps of one phone"
        if app.iOS != before.iOS {
            conflict("iOS", "iOS is \(app.iOS) here and \(before.iOS) in \(other.file), \(together)")
        }
        for (field, here, there) in [
            ("foregroundInterval", app.foregroundInterval, before.foregroundInterval),
            ("backgroundInterval", app.backgroundInterval, before.backgroundInterval),
        ] where here != there {
            conflict(
                field,
                "\(field) is \(here.text) here and \(there.text) in \(other.file), \(together)"
            )
        }
        return issues
    }
}
