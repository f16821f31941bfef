package import MynahEmulator
package import MynahProfiles
import MynahSupport

/// The profiles of a run in groups that share a radio.
///
/// The apps of a phone are one group, and each accessory is a group of its own.
package struct RunGroups {
    package private(set) var groups: [[Profile]] = []
    /// The names of each group's devices in events.
    package private(set) var labels: [[String]] = []
    /// The names of all devices, in the order of the command line.
    package let names: DeviceNames

    package init(_ profiles: [Profile]) {
        let unique = DeviceLabels.unique(profiles.map(\.name))
        names = DeviceNames(
            zip(profiles, unique).map { profile, label in
                .init(profile, label: label)
            })
        for (profile, label) in zip(profiles, unique) {
            if let place = groups.firstIndex(where: { Self.areOnOnePhone($0[0], profile) }) {
                groups[place].append(profile)
                labels[place].append(label)
            } else {
                groups.append([profile])
                labels.append([label])
            }
        }
    }

    /// The name in events of a phone that has services itself.
    ///
    /// A number is added if the name is already in `labels`.
    static func label(ofPhone name: String?, with labels: [String]) -> String {
        DeviceLabels.next(name ?? "phone", after: labels)
    }

    /// The names in events of the phones that have services themselves.
    var phones: [String] {
        zip(groups, labels).compactMap { profiles, labels in
            guard profiles.contains(where: { $0.phone?.services.isEmpty == false }) else { return nil }
            return Self.label(ofPhone: profiles[0].phone?.name, with: labels)
        }
    }

    /// Whether two profiles are apps on the same phone.
    package static func areOnOnePhone(_ one: Profile, _ other: Profile) -> Bool {
        one.app != nil && other.app != nil && one.phone?.name == other.phone?.name
    }

    /// The errors of apps that cannot be on the same phone.
    package var issues: [ProfileIssue] {
        groups.flatMap { group in
            group.indices.dropFirst().flatMap { index in
                group[..<index].flatMap { Self.conflicts(of: group[index], with: $0) }
            }
        }
    }

    /// The errors of two apps on one phone with the same name or with different descriptions of the phone.
    package static func conflicts(of profile: Profile, with other: Profile) -> [ProfileIssue] {
        guard areOnOnePhone(profile, other), let app = profile.app, let before = other.app else { return [] }
        var issues: [ProfileIssue] = []
        if profile.name == other.name {
            issues.append(
                profile.issue(
                    .error, at: profile.marks["name"],
                    "the name \"\(profile.name)\" is taken by \(other.file); "
                        + "two apps of a phone need different names"))
        }
        let remedy = "or give one of them another phone, as phone: {name: \(profile.name)}"
        let differences = other.phone.flatMap { profile.phone?.differences(from: $0) } ?? []
        for (key, message) in differences {
            let alike = key == "name" ? "" : ": write it alike, \(remedy)"
            issues.append(
                profile.issue(
                    .error, at: profile.phone?.marks[key] ?? profile.marks["phone"],
                    "\(message) from \(other.file), which has an app of the same phone\(alike)"))
        }
        func compare<Value: Equatable>(
            _ field: String, _ here: Value, _ there: Value, text: (Value) -> String
        ) {
            guard here != there, !differences.contains(where: { $0.key == field }) else { return }
            func value(_ value: Value, _ profile: Profile) -> String {
                profile.phoneMark(of: field) == nil ? "\(text(value)) (the default)" : text(value)
            }
            issues.append(
                profile.issue(
                    .error, at: profile.phoneMark(of: field) ?? profile.marks["app"],
                    """
                    \(field) is \(value(here, profile)) here and \(value(there, other)) in \(other.file), \
                    and both are apps of one phone: write the same in both, \(remedy)
                    """))
        }
        compare("iOS", app.iOS, before.iOS) { "\($0)" }
        compare("foregroundInterval", app.foregroundInterval, before.foregroundInterval) { $0.text }
        compare("backgroundInterval", app.backgroundInterval, before.backgroundInterval) { $0.text }
        return issues
    }
}

extension Profile {
    /// The position in the file of a phone's property, or `nil` if neither `app` nor `phone` sets it.
    fileprivate func phoneMark(of field: String) -> SourceMark? { app?.marks[field] ?? phone?.marks[field] }
}

extension DeviceNames.Device {
    /// Makes the names of a profile's device; `label` is its name in events.
    package init(_ profile: Profile, label: String) {
        self.init(
            label: label, file: profile.file, isApp: profile.app != nil,
            peripherals: profile.centrals.flatMap(\.peripherals).map(\.name))
        phone = profile.phone?.name
    }
}
