import Mynah
import MynahCore
import MynahLifecycle
import MynahProfiles

/// Adds apps to a phone and removes them while other apps are played.
struct AppControl {
    let devices: PlayedDevices
    let phone: Phone
    /// Whether apps play the devices.
    let playsApps: Bool
    let changes: RunChanges
    let user: PhoneUser
    let faults: FaultControl
    let scenarios: ScenarioPlayer

    /// Installs another app on the phone, and opens it as its user would.
    ///
    /// `check` can reject the radio's capabilities by throwing. Throws `invalidState` if the run has not
    /// started or is over, or if the emulator plays an accessory.
    func add(
        _ device: EmulatedDevice,
        check: @Sendable (RadioCapabilities) throws(RadioError) -> Void = { _ throws(RadioError) in }
    ) async throws(RadioError) {
        await changes.beginTurn()
        defer { changes.endTurn() }
        guard devices.isRunning, playsApps, let start = device.app?.startState else {
            throw RadioError(.invalidState, "an app can be added only to a phone that plays")
        }
        if let capabilities = await phone.capabilities { try check(capabilities) }
        let player = devices.join(device)
        do throws(RadioError) {
            try await faults.add(of: device)
            await user.pickUp()
            await user.launch(player)
            player.begin()
            try await player.publish()
        } catch {
            await takeOff(player)
            throw error
        }
        player.started()
        for central in player.centrals { central.begin() }
        if !player.isTerminated, start != .foreground { await player.carryOut(AppTransition(into: start)) }
    }

    /// Quits an app of the phone, as its user would, and removes it; the other apps continue.
    ///
    /// Throws `invalidState` while the phone is still opening its apps.
    func remove(_ label: String) async throws(RadioError) {
        await changes.beginTurn()
        defer { changes.endTurn() }
        guard !devices.isStarting else {
            throw RadioError(
                .invalidState, "the phone of \(label) is starting", remedy: "remove it when it is ready")
        }
        guard let player = devices.player(called: label) else { return }
        await takeOff(player)
    }

    private func takeOff(_ player: DevicePlayer) async {
        scenarios.end(of: player.memory.device.label, "the device was removed")
        await player.carryOut(.quit)
        _ = player.memory.appSide.app?.access.forbidRelaunch()
        await player.stop()
        await faults.removeAll(of: player.memory.device.label)
        devices.leave(player)
        if let app = player.memory.appSide.app { await PhoneControl.remove(app, from: phone) }
    }

    /// Publishes the services of a player's app and advertises again, after the system has withdrawn them.
    func publishAgain(_ player: DevicePlayer) async {
        changes.beginPublication()
        defer { changes.endPublication() }
        do throws(RadioError) {
            try await player.publish()
        } catch {
            player.events.fail("not published again: \(error)")
        }
    }
}
