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

    private var app: App? { player.appSide.app }
    private var label: String { player.device.label }
    private var events: EventReporter { player.events }

    func carryOut(_ action: UserAction) async {
        switch action {
        case .transition(let transition):
            transition.warn(of: label, in: await app?.state, events)
            await player.carryOut(transition)
        case .startAdvertising, .stopAdvertising: await setAdvertising(action == .startAdvertising)
        case .startScan, .stopScan: await setScanning(action == .startScan)
        case .setAuthorization(let new): setAuthorization(new)
        // The phone's, which the emulator has.
        case .openAlert, .dismissAlert, .answerPairing, .setPower, .phone, .forget, .setAccessory, .alert:
            break
        }
    }

    /// Whether the app is in the foreground, where its user can operate it; if not, a warning is reported.
    private func isOnScreen(_ what: String) async -> Bool {
        if await app?.state == .foreground { return true }
        events.warn("notOnScreen", "\(label) is not on the screen, where its user could \(what)")
        return false
    }

    /// Starts or stops the app's scans for its user; a stop stays in force in later launches.
    private func setScanning(_ isWanted: Bool) async {
        guard await isOnScreen("\(isWanted ? "start" : "stop") its scan") else { return }
        guard player.device.centrals.contains(where: { $0.scan != nil }) else {
            return events.warn("noScan", "\(label) has nothing to scan for: its profile has no scan")
        }
        player.appSide.setWanted(.scan, isWanted)
        for central in player.centrals { central.setScanning(isWanted) }
    }

    /// Starts or stops the app's advertising for its user; a stop stays in force in later launches.
    private func setAdvertising(_ isWanted: Bool) async {
        guard await isOnScreen("\(isWanted ? "start" : "stop") advertising") else { return }
        player.appSide.setWanted(.advertising, isWanted)
        player.device.advertised.change.isOn = nil
        guard player.appSide.isAuthorized, let manager = player.manager else { return }
        do throws(RadioError) {
            try await player.advertise(with: manager)
        } catch {
            // Its process may have ended meanwhile.
            if manager === player.manager { events.fail(error.description) }
        }
    }

    /// Changes the app's permission to use Bluetooth, as the user or the phone's restrictions do.
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
