import Mynah
package import MynahCore
package import MynahLifecycle
import MynahProfiles

// Devices that come and go while others play: the apps of a phone.
extension Emulator {
    /// Installs one more app on the phone, and opens it as its user does.
    ///
    /// Throws `invalidState` unless the run is under way, or if it plays an accessory.
    package func add(_ device: EmulatedDevice) async throws(RadioError) {
        await beginTurn()
        defer { endTurn() }
        guard isRunning, playsApps, let start = device.app?.startState else {
            throw RadioError(.invalidState, "an app can be added only to a phone that plays")
        }
        let player = join(device)
        do throws(RadioError) {
            await player.launch()
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

    /// Quits an app of the phone, as its user does, and removes it.
    package func remove(_ label: String) async {
        await beginTurn()
        defer { endTurn() }
        guard let player = players.first(where: { $0.device.label == label }) else { return }
        await takeOff(player)
    }

    private func takeOff(_ player: DevicePlayer<C>) async {
        await player.carryOut(.quit)
        await player.stop()
        leave(player)
    }

    /// Moves the app that plays a device in its life.
    package func carryOut(_ transition: AppTransition, inAppOf label: String) async throws(ControlRefusal) {
        let player = try player(named: label)
        guard player.device.app != nil else {
            throw .conflict("\(label) is an accessory: no app plays it")
        }
        await carryOut(transition, on: .named(label))
    }
}
