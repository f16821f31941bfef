import Mynah
import MynahCore
import MynahLifecycle
import MynahProfiles

/// The user of a player's app, who carries out the planned actions of a run.
struct AppUser {
    private let player: DevicePlayer

    init(of player: DevicePlayer) {
        self.player = player
    }

    private var app: App? { player.memory.appSide.app }
    private var label: String { player.memory.device.label }
    private var events: EventReporter { player.events }

    func carryOut(_ action: UserAction) async {
        switch action {
        case .transition(let transition):
            transition.warn(of: label, in: await app?.state, events)
            await player.carryOut(transition)
        case .startAdvertising, .stopAdvertising: await setAdvertising(action == .startAdvertising)
        case .startScan, .stopScan: await setScanning(action == .startScan)
        case .setAuthorization(let new): setAuthorization(new)
        // These actions concern the phone, so the emulator carries them out.
        case .openAlert, .dismissAlert, .answerPairing, .setPower, .phone, .forget, .setAccessory, .alert:
            break
        }
    }

    /// Returns whether the app is in the foreground, where its user can operate it.
    ///
    /// Warns if not; `what` is the user's action in the warning.
    private func isOnScreen(_ what: String) async -> Bool {
        if await app?.state == .foreground { return true }
        events.warn("notOnScreen", "\(label) is not on the screen, where its user could \(what)")
        return false
    }

    /// Starts or stops the app's scans on behalf of its user; a stop also applies to later launches.
    private func setScanning(_ isWanted: Bool) async {
        guard await isOnScreen("\(isWanted ? "start" : "stop") its scan") else { return }
        guard player.memory.device.centrals.contains(where: { $0.scan != nil }) else {
            return events.warn("noScan", "\(label) has nothing to scan for: its profile has no scan")
        }
        player.memory.appSide.setWanted(.scan, isWanted)
        for central in player.centrals { central.setScanning(isWanted) }
    }

    /// Starts or stops the app's advertising on behalf of its user; a stop also applies to later launches.
    private func setAdvertising(_ isWanted: Bool) async {
        guard await isOnScreen("\(isWanted ? "start" : "stop") advertising") else { return }
        player.memory.appSide.setWanted(.advertising, isWanted)
        player.memory.device.advertised.change.isOn = nil
        guard player.memory.appSide.isAuthorized, let manager = player.manager else { return }
        do throws(RadioError) {
            try await player.advertise(with: manager)
        } catch {
            // The app's process may have ended in the meantime.
            if manager === player.manager { events.fail(error.description) }
        }
    }

    /// Changes the app's permission to use Bluetooth.
    private func setAuthorization(_ new: BluetoothAuthorization) {
        guard app?.access.usesAccessorySetup != true else {
            return events.warn(
                "notAsked",
                "\(label) uses AccessorySetupKit, which needs no permission: remove its accessories instead")
        }
        guard app?.access.setAuthorization(new) == .notAsked else { return }
        events.warn(
            "notAsked",
            """
            \(label) does not ask for Bluetooth now, so its user cannot allow or deny it: open it first
            """)
    }
}
