import Mynah
package import MynahCore
import MynahLifecycle
import MynahProfiles

// Devices that come and go while others play: the apps of a phone.
extension Emulator {
    /// Installs one more app on the phone, and opens it as its user does.
    ///
    /// `check` may refuse the radio's capabilities. Throws `invalidState` unless the run is under way, or if
    /// it plays an accessory.
    package func add(
        _ device: EmulatedDevice,
        check: @Sendable (RadioCapabilities) throws(RadioError) -> Void = { _ throws(RadioError) in }
    ) async throws(RadioError) {
        await beginTurn()
        defer { endTurn() }
        guard isRunning, playsApps, let start = device.app?.startState else {
            throw RadioError(.invalidState, "an app can be added only to a phone that plays")
        }
        if let capabilities = await phone.capabilities { try check(capabilities) }
        let player = join(device)
        do throws(RadioError) {
            try await addFaults(of: device)
            await pickUp()
            await launch(player)
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

    /// Quits an app of the phone, as its user does, and removes it; the other apps play on.
    ///
    /// Throws `invalidState` while the phone starts, which opens its apps one after the other.
    package func remove(_ label: String) async throws(RadioError) {
        await beginTurn()
        defer { endTurn() }
        guard !isStarting else {
            throw RadioError(
                .invalidState, "the phone of \(label) is starting", remedy: "remove it when it is ready")
        }
        guard let player = players.first(where: { $0.device.label == label }) else { return }
        await takeOff(player)
    }

    private func takeOff(_ player: DevicePlayer) async {
        scenarios.end(of: player.device.label, "the device was removed")
        await player.carryOut(.quit)
        _ = player.appSide.app?.access.forbidRelaunch()
        await player.stop()
        await removeFaults(of: player.device.label)
        leave(player)
        if let app = player.appSide.app { await PhoneControl.remove(app, from: phone) }
    }

    /// Takes its only device off the air, and stops; also while it starts, which fails then.
    package func removeLast(_ label: String) async {
        scenarios.end(of: label, "the device was removed")
        players.first { $0.device.label == label }?.asks.endForGood()
        // bluetoothd keeps the links of a device that has gone. Off the air, it gets no new ones.
        _ = try? await advertise(AdvertisingChange(isOn: false), for: label)
        try? await disconnect(from: label)
        await stop()
    }

    /// Carries out an action on the app that plays a device, or on its phone; of an accessory, only its power
    /// can be changed, and its bonds deleted.
    ///
    /// `peripheral` names the one that its phone forgets, or that the app's user picks or removes.
    package func carryOut(
        _ action: UserAction, of label: String, peripheral: String? = nil
    ) async throws(ControlRefusal) {
        let player = try player(named: label)
        if case .forget = action {
            guard let peripheral else { return try await forget(in: label) }
            return try await forget(peripheral: peripheral, in: label)
        }
        if case .setAccessory(let isWanted) = action {
            return try await setAccessory(isWanted, peripheral: peripheral, in: label)
        }
        if case .setPower(let isOn) = action {
            return try await attempt { () async throws(RadioError) in try await setPower(isOn) }
        }
        guard player.device.app != nil else {
            throw .conflict("\(label) is an accessory: no app plays it")
        }
        if case .phone(let change) = action {
            return try await attempt { () async throws(RadioError) in try await carryOut(change) }
        }
        await carryOut(action, on: action.isForPhone ? .phone(of: label) : .named(label))
    }
}
