import Mynah
import MynahCore
import MynahLifecycle
import MynahProfiles

/// The acts of a user on a phone that change what follows later.
struct PhoneCondition {
    /// The ways in which Bluetooth was turned off since it was on, in order.
    var powerChanges: [PhoneChange] = []
    /// Whether the phone restarted and has not been unlocked since.
    var awaitsUnlock = false

    /// Bluetooth was turned off, or is off and was turned off in another way too.
    mutating func turnedOff(by change: PhoneChange) {
        if !powerChanges.contains(change) { powerChanges.append(change) }
    }
}

// The phone in its user's hand: its Bluetooth switches, its lock and its screen.
extension Emulator {
    /// Turns Bluetooth off or on; on a phone with apps, Control Center's button turns it off.
    ///
    /// When it is on again, the system relaunches apps by the way in which it was turned off.
    func setPower(_ isOn: Bool, by change: PhoneChange = .controlCenterOff) async throws(RadioError) {
        if isOn {
            for change in condition.powerChanges { forbidRelaunch(after: change) }
        }
        try await phone.setPower(isOn)
        if isOn { condition.powerChanges = [] } else { condition.turnedOff(by: change) }
    }

    /// Does something to the phone, and reports it.
    ///
    /// Throws what the radio throws if Bluetooth cannot be turned off.
    func carryOut(_ change: PhoneChange) async throws(RadioError) {
        // A radio that cannot be turned off says so before anything has changed.
        if change.setsPower, await phone.radioState == .poweredOn { try await phone.setPower(true) }
        switch change {
        case .settingsOff, .controlCenterOff, .airplaneMode:
            report(change)
            try await setPower(false, by: change)
        case .restart:
            report(change)
            try await restart()
        case .unlock: if condition.awaitsUnlock { await pickUp() } else { unlock() }
        case .screenOff, .screenOn: await setScreen(isOn: change == .screenOn)
        }
    }

    /// The user turns to the phone, and so turns the screen on and unlocks it.
    func pickUp() async {
        await setScreen(isOn: true)
        if condition.awaitsUnlock { unlock() }
    }

    private func unlock() {
        guard condition.awaitsUnlock else {
            return events.warn("notLocked", "the phone has not restarted, so there is nothing to unlock")
        }
        report(.unlock)
        setAwaitsUnlock(false)
    }

    private func setAwaitsUnlock(_ awaits: Bool) {
        condition.awaitsUnlock = awaits
        for player in players {
            player.appSide.app?.access.setAwaitsUnlock(awaits)
            for central in player.centrals { central.appChanged() }
        }
    }

    private func restart() async throws(RadioError) {
        for player in players { player.appSide.app?.access.restart() }
        forbidRelaunch(after: .restart)
        setAwaitsUnlock(true)
        guard await phone.radioState == .poweredOn else { return }
        try await phone.setPower(false)
        try await phone.setPower(true)
    }

    private func setScreen(isOn: Bool) async {
        guard await PhoneControl.isScreenOn(of: phone) != isOn else { return }
        report(isOn ? .screenOn : .screenOff)
        await PhoneControl.setScreen(isOn: isOn, of: phone)
        guard !isOn else { return }
        for player in players where player.appSide.app?.access.state == .foreground {
            await player.carryOut(.enterBackground)
        }
    }

    /// Terminated apps are not relaunched any more if the rules of their version of iOS say so.
    private func forbidRelaunch(after change: PhoneChange) {
        guard let cause = change.relaunchCause else { return }
        for player in players {
            guard let app = player.device.app,
                !app.iOS.relaunch(after: cause)
                    .allowsRelaunch(withAccessorySetup: app.description.usesAccessorySetup),
                player.appSide.app?.access.forbidRelaunch() == true
            else { continue }
            // The system no longer works for it, as if its user had quit it.
            for central in player.centrals { central.ended(byUser: true) }
            player.events.report(.appNotRelaunched, .app(.init(reason: change.rawValue)))
        }
    }

    private func report(_ change: PhoneChange) {
        events.report(.phoneChanged, .app(.init(reason: change.rawValue)))
    }
}
