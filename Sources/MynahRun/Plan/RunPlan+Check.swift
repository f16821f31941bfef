import MynahCore
package import MynahProfiles

// Mistakes that are known before a radio is looked for.
extension RunPlan {
    /// The errors of profiles that cannot be played together, or on this radio.
    package func issues(on radio: RadioChoice) -> [ProfileIssue] {
        groups.issues + (radio == .bluez ? profiles.compactMap(\.centralIssueWithBlueZ) : [])
    }

    /// The error if the radios or the options do not fit these profiles, else `nil`.
    ///
    /// `actions` are those that will be added.
    package func misuse(
        of radios: RadioPlan, _ actions: [PlannedAction], hasStateDirectory: Bool
    ) -> String? {
        let radio = radios.choice
        let groups = groups.groups
        let usesAdapters = radio.usesAdapters && !playsCentrals
        let needed =
            "these profiles need \(groups.count) radios, one for each accessory and one for all apps"
        if case .hci = radio, groups.count > 1 {
            return "\(needed), and --radio hci: is one radio"
        }
        if !usesAdapters, !radios.adapters.isEmpty {
            return RadioChoice.isForBlueZ("--adapter")
        }
        if !usesAdapters, let option = radios.optionsForBlueZ.first {
            return RadioChoice.isForBlueZ(option)
        }
        if usesAdapters, radios.address != nil {
            return
                "--address is for --radio virtual, netsim and hci:; bluetoothd chooses an adapter's address"
        }
        if usesAdapters, groups.count > 1, radios.adapters.count != groups.count {
            return "\(needed): repeat --adapter \(groups.count) times, in their order, "
                + "or choose --radio virtual or netsim"
        }
        if radio == .bluez, radios.capture != nil { return RadioMaker.noCaptureOfBlueZ.description }
        if radio == .bluez, actions.contains(where: \.setsPower) {
            return RadioMaker.noPowerOfBlueZ.description
        }
        if radios.adapters.count > groups.count {
            let needed = "\(groups.count) radio\(groups.count == 1 ? "" : "s")"
            return "--adapter is given \(radios.adapters.count) times for \(needed)"
        }
        guard !hasPhone else { return state?.problem(with: profiles, hasStateDirectory: hasStateDirectory) }
        let options = [
            ("--state", state != nil), ("--at", actions.contains { $0.isOfApp }),
            ("--state-dir", hasStateDirectory && radio == .bluez),
        ]
        return options.first { $0.1 }.map {
            "\($0.0) needs a profile with app:, and no profile here has one"
        }
    }
}
