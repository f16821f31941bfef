import MynahCore
package import MynahProfiles
import MynahSupport

// Checks before a radio is chosen.
extension RunPlan {
    /// The errors of profiles that cannot be combined, or cannot be played on this radio.
    package func issues(on radio: RadioChoice) -> [ProfileIssue] {
        groups.issues + (radio == .bluez ? profiles.compactMap(\.centralIssueWithBlueZ) : [])
    }

    /// The error if the clock cannot be used for this run, or `nil` if it can.
    ///
    /// `hasEnd` is `true` if an option ends the run, and `isControlled` if clients can use the control API.
    package func misuse(of clock: ClockChoice, _ radio: RadioChoice, hasEnd: Bool, isControlled: Bool)
        -> String?
    {
        guard clock.isVirtual else { return nil }
        if radio != .auto, radio != .virtual {
            return
                "--clock \(clock.rawValue) is for --radio virtual: real controllers and other programs keep "
                + "the machine's time"
        }
        if clock == .manual {
            return isControlled
                ? nil : "--clock manual needs --control: its time moves only with the requests of clients"
        }
        if !hasEnd { return "--clock fast needs an end: add --timeout, --until or --scenario" }
        if isControlled {
            return "--clock fast does not wait for clients: leave out --control, or choose --clock manual"
        }
        for profile in profiles {
            if profile.services.contains(where: { $0.characteristics.contains { !$0.asked.isEmpty } }) {
                return "--clock fast does not wait for answers, and \(profile.file) has ask: choose "
                    + "--clock manual"
            }
            if profile.passkey == nil,
                [.keyboardOnly, .keyboardDisplay].contains(profile.device.ioCapability)
            {
                return "--clock fast does not wait for a typed passkey: add security: {passkey: …} to "
                    + profile.file
            }
        }
        return nil
    }

    /// The error if the radios or the options do not fit these profiles, or `nil` if they do.
    ///
    /// `actions` are the user's planned actions, which were not added to the plan yet.
    package func misuse(
        of radios: RadioPlan, _ actions: [PlannedAction], hasStateDirectory: Bool
    ) -> String? {
        let radio = radios.choice
        let groups = groups.groups
        let usesAdapters = radio.usesAdapters && !playsCentrals
        let needed =
            "these profiles need \(groups.count) radios, one for each accessory and one for each phone"
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
        if radios.adapters.count > groups.count, !isServer {
            let needed = groups.count.counting("radio")
            return "--adapter is given \(radios.adapters.count) times for \(needed)"
        }
        guard !hasPhone else { return state?.problem(with: profiles, hasStateDirectory: hasStateDirectory) }
        let needs = "needs a profile with app:, and no profile here has one"
        if state != nil { return "--state \(needs)" }
        if let action = actions.first(where: \.isOfApp) { return action.lacksApp }
        return hasStateDirectory && radio == .bluez ? "--state-dir \(needs)" : nil
    }
}

extension RadioPlan {
    /// The error if an adapter is named twice, or `nil`.
    package static func problem(withAdapters adapters: [String]) -> String? {
        Set(adapters.map { $0.uppercased() }).count < adapters.count
            ? "--adapter names an adapter twice, but each radio needs its own adapter" : nil
    }
}
