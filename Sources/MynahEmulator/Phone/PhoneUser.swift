import Mynah
import MynahCore
import MynahLifecycle
import MynahProfiles

/// The user of the phone, who turns Bluetooth off and on, locks the phone, and turns its screen off.
///
/// Belongs to its emulator, and runs on the phone's executor.
final class PhoneUser {
    private let devices: PlayedDevices
    private let phone: Phone
    /// Whether apps play the devices.
    private let playsApps: Bool
    /// The causes, saved across runs, for which the system does not relaunch the phone's apps.
    private var relaunch = RelaunchLedger()
    /// Whether the phone has restarted and was not unlocked since.
    private var awaitsUnlock = false

    init(of devices: PlayedDevices, on phone: Phone, playsApps: Bool) {
        self.devices = devices
        self.phone = phone
        self.playsApps = playsApps
    }

    /// Turns Bluetooth off or on; `cause` is the way in which the user turns it off.
    ///
    /// When Bluetooth is turned on again, the earlier causes determine whether the system relaunches apps.
    func setPower(_ isOn: Bool, by cause: RelaunchCause = .controlCenterOff) async throws(RadioError) {
        if isOn {
            changeLedger { $0.turnOn() }
            forbidRelaunches()
            return try await phone.setPower(true)
        }
        // Saved first, because the run may end in the meantime.
        let wasNoted = relaunch.turnedOff.contains(cause)
        changeLedger { $0.turnOff(by: cause) }
        do throws(RadioError) {
            try await phone.setPower(false)
        } catch {
            if !wasNoted { changeLedger { $0.cancelTurnOff(by: cause) } }
            throw error
        }
    }

    /// Carries out an action on the phone, and reports it.
    ///
    /// Throws the radio's error if Bluetooth cannot be turned off.
    func carryOut(_ change: PhoneChange) async throws(RadioError) {
        // A radio that cannot be turned off throws here, before anything has changed.
        if change.setsPower, await phone.radioState == .poweredOn { try await phone.setPower(true) }
        switch change {
        case .settingsOff, .controlCenterOff, .airplaneMode:
            report(change)
            try await setPower(false, by: change.relaunchCause ?? .controlCenterOff)
        case .restart:
            report(change)
            try await restart()
        case .unlock: if awaitsUnlock { await pickUp() } else { unlock() }
        case .screenOff, .screenOn: await setScreen(isOn: change == .screenOn)
        }
    }

    /// Turns the screen on and unlocks the phone, as the user does before using the phone.
    func pickUp() async {
        await setScreen(isOn: true)
        if awaitsUnlock { unlock() }
    }

    private func unlock() {
        guard awaitsUnlock else {
            return devices.events.warn(
                "notLocked", "the phone has not restarted, so there is nothing to unlock")
        }
        report(.unlock)
        setAwaitsUnlock(false)
    }

    private func setAwaitsUnlock(_ awaits: Bool) {
        awaitsUnlock = awaits
        for player in devices.players {
            player.memory.appSide.app?.access.setAwaitsUnlock(awaits)
            for central in player.centrals { central.appChanged() }
        }
    }

    private func restart() async throws(RadioError) {
        for player in devices.players { player.memory.appSide.app?.access.restart() }
        changeLedger { $0.note(.restart) }
        forbidRelaunches()
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
        for player in devices.players where player.memory.appSide.app?.access.state == .foreground {
            await player.carryOut(.enterBackground)
        }
    }

    // MARK: Relaunching

    /// Restores the phone's state that earlier runs have saved.
    ///
    /// Bluetooth is assumed to be on, and the phone to be unlocked.
    func recallPhone() async {
        guard playsApps else { return }
        relaunch = await PhoneControl.relaunchLedger(of: phone)
        relaunch.turnOn()
    }

    /// Makes the app of a player.
    ///
    /// Also opens the app, unless the app is terminated at the start of the run.
    func launch(_ player: DevicePlayer) async {
        let cause = player.memory.device.app.flatMap { app -> RelaunchCause? in
            if let kept = relaunchCause(of: app) { return kept }
            // A process represents the phone: if a new process finds terminated apps, the phone has
            // restarted.
            let isAllowed = app.iOS.relaunch(after: .restart)
                .allowsRelaunch(withAccessorySetup: app.description.usesAccessorySetup)
            return app.isTerminated && !isAllowed ? .restart : nil
        }
        await player.launch(forbiddenBy: cause)
    }

    private func relaunchCause(of app: EmulatedApp) -> RelaunchCause? {
        relaunch.cause(
            forbidding: app.description.name, on: app.iOS,
            withAccessorySetup: app.description.usesAccessorySetup)
    }

    /// Records that the app of a player runs, which lifts any ban on relaunching it.
    func noteRuns(_ player: DevicePlayer) {
        guard let app = player.memory.device.app else { return }
        changeLedger { $0.runs(app.description.name) }
    }

    func changeLedger(_ body: (inout RelaunchLedger) -> Void) {
        let before = relaunch
        body(&relaunch)
        guard relaunch != before else { return }
        devices.players.lazy.compactMap(\.memory.appSide.app).first?.access.save(relaunch)
    }

    /// Forbids the relaunch of terminated apps if the rules of the phone's iOS version require it.
    private func forbidRelaunches() {
        for player in devices.players {
            guard let app = player.memory.device.app, let access = player.memory.appSide.app?.access else {
                continue
            }
            switch access.state {
            case .foreground, .background, .suspended: noteRuns(player)
            case .terminated, .quit:
                if let cause = relaunchCause(of: app) { player.forbidRelaunch(after: cause) }
            case .notRunning: break
            }
        }
    }

    private func report(_ change: PhoneChange) {
        devices.events.report(.phoneChanged, .app(.init(reason: change.rawValue)))
    }
}
