import Mynah
import MynahCore
import MynahFaults
import MynahLifecycle
import MynahProfiles

/// Resets devices to their initial state.
struct ResetControl {
    let devices: PlayedDevices
    let phone: Phone
    let changes: RunChanges
    let user: PhoneUser
    let faults: FaultControl
    let links: LinkControl
    let advertising: AdvertisingControl
    let values: ValueControl
    let accessories: AccessoryControl
    let scenarios: ScenarioPlayer

    /// The longest wait until services are published after a change of the Bluetooth state.
    private static var publicationLimit: Duration { .seconds(30) }

    /// Resets devices to their state at the start of a run, and returns when they are on the air again.
    ///
    /// With `nil` as the label, all devices are reset. Links and bonds belong to the radio, so resetting
    /// them affects all its devices. Requests that wait for a test's answer get the error 0x0E, and
    /// scenarios fail. Nothing is advertised while links end. Connections of an app's central managers are
    /// kept.
    ///
    /// If the state does not allow a reset, nothing is changed. Does nothing if the run has not started or
    /// is over.
    func reset(
        _ parts: ResetParts = .all, of label: String? = nil
    ) async throws(ControlRefusal) {
        await changes.beginTurn()
        defer { changes.endTurn() }
        guard devices.isRunning else { return }
        // The notifications and media of the phone are reset once, with its first app.
        if parts.contains(.values), label == nil || label == devices.players.first?.memory.device.label {
            devices.own?.sender.behaviors?.restart()
        }
        let players = if let label { [try devices.player(named: label)] } else { devices.players }
        // A device that a fault has made disappear must be back before it can be reset.
        await faults.settle()
        try await check(parts, players)
        if !parts.isEmpty {
            for player in players {
                scenarios.end(of: player.memory.device.label, "the device was reset")
                player.asks.endAll(.reset)
            }
        }
        // Faults of the profile count from zero, so the reset's own work must not be counted.
        if parts.contains(.faults) { await removeFaults(of: players) }
        guard !parts.isDisjoint(with: .ofRadio) else {
            await resetValues(players, parts)
            if parts.contains(.faults) { try await addFaults(of: players) }
            return
        }
        if parts.isDisjoint(with: .ofLinks) {
            await phone.holdAdvertising()
        } else {
            await PhoneControl.silence(phone)
        }
        var refusal: ControlRefusal?
        do throws(ControlRefusal) {
            try await restore(parts, players)
        } catch {
            refusal = error
        }
        if parts.contains(.faults) {
            do throws(ControlRefusal) {
                try await addFaults(of: players)
            } catch {
                refusal = refusal ?? error
            }
        }
        do throws(RadioError) {
            try await phone.releaseAdvertising()
        } catch {
            refusal = refusal ?? ControlRefusal(error)
        }
        if let refusal { throw refusal }
    }

    /// Throws if the parts cannot be reset now; changes nothing.
    private func check(_ parts: ResetParts, _ players: [DevicePlayer]) async throws(ControlRefusal) {
        let state = await phone.radioState
        let isOn = state == .poweredOn || state == .poweredOff && parts.contains(.app)
        guard isOn || parts.isDisjoint(with: .ofRadio) else {
            throw .conflict("Bluetooth is \(state.rawValue)")
        }
        if parts.contains(.bonds) { _ = try await links.bonds() }
        for player in players where player.memory.device.app != nil && !parts.contains(.app) {
            if parts.contains(.values), !PlayedState(of: player).hasMemory {
                throw .conflict(
                    PlayedState(of: player).noProcess(
                        "its values exist only while it runs; reset its state too"))
            }
            if parts.contains(.advertising), player.memory.device.isPeripheral {
                try advertising.checkCanAdvertise(player)
            }
        }
    }

    private func restore(_ parts: ResetParts, _ players: [DevicePlayer]) async throws(ControlRefusal) {
        if parts.contains(.bonds) { try await links.forget(try await links.bonds()) }
        if parts.contains(.connections) { try await links.endLinks(await links.connected()) }
        if parts.contains(.app) {
            await user.pickUp()
            user.changeLedger { $0.forgetTurnedOff() }
            if await phone.radioState == .poweredOff {
                try await ControlRefusal.attempt { () async throws(RadioError) in
                    try await phone.setPower(true)
                }
            }
        }
        for player in players where parts.contains(.advertising) {
            player.memory.device.advertised.change = AdvertisingChange()
            player.memory.appSide.setWanted(.advertising, true)
        }
        if parts.contains(.app) {
            for player in players { player.memory.appSide.setWanted(.scan, true) }
            try await reopen(players, parts)
        }
        for player in players where parts.contains(.advertising) && player.memory.appSide.isAuthorized {
            // An app that is no longer running has already requested advertising while it was open.
            if player.memory.device.app == nil || !parts.contains(.app) {
                try await advertising.advertise(player)
            }
        }
        await resetValues(players, parts)
    }

    // MARK: Faults

    private func removeFaults(of players: [DevicePlayer]) async {
        for player in players { await faults.removeAll(of: player.memory.device.label) }
        await faults.settle()
    }

    private func addFaults(of players: [DevicePlayer]) async throws(ControlRefusal) {
        // The other devices of the phone may have faults that count connections.
        if players.count == devices.players.count { await faults.countConnectionsAnew() }
        var refusal: ControlRefusal?
        for player in players {
            do throws(ControlRefusal) {
                try await ControlRefusal.attempt { () async throws(RadioError) in
                    try await faults.add(of: player.memory.device)
                }
            } catch {
                refusal = refusal ?? error
            }
        }
        if let refusal { throw refusal }
    }

    // MARK: Apps

    /// Opens apps one after the other, and brings each into the initial state of its profile.
    private func reopen(_ players: [DevicePlayer], _ parts: ResetParts) async throws(ControlRefusal) {
        let front = devices.players.first {
            $0.memory.device.app?.startState == .foreground && !$0.isTerminated
        }
        let isFrontOpened = front.map { front in
            PlayedState(of: front).app == .foreground || players.contains { $0 === front }
        }
        for player in players {
            guard let app = player.memory.device.app else { continue }
            // Nothing is saved before the first launch: it is as it was at the start.
            if app.isTerminated, !player.memory.appSide.wasLaunched { continue }
            accessories.removeAll(of: player)
            _ = player.memory.appSide.app?.access.setAuthorization(app.description.authorization)
            await player.carryOut(.enterForeground)
            try await ControlRefusal.attempt { () async throws(RadioError) in try await player.publish() }
            // The new Bluetooth state of a launch may have begun to publish first.
            _ = await changes.wait(atMost: Self.publicationLimit, for: changes.signal) {
                changes.publications == 0
            }
            if player.memory.appSide.isAuthorized { try await advertising.advertise(player) }
            if parts.contains(.values) { await resetStaticValues(player) }
            guard player !== front else { continue }
            await player.carryOut(app.transitionAtStart)
        }
        if let front, isFrontOpened == true { await front.carryOut(.enterForeground) }
    }

    // MARK: Values

    private func resetValues(_ players: [DevicePlayer], _ parts: ResetParts) async {
        for player in players where PlayedState(of: player).hasMemory {
            if parts.contains(.variables) {
                // Values can be computed from the variables of the profile.
                try? player.reactions.setVariables(player.memory.device.table.variables)
            }
            if parts.contains(.values) { await beginAgain(player) }
            // The values of the advertisement read the variables and the time.
            guard !parts.isDisjoint(with: [.values, .variables]) else { continue }
            await player.advertiseNewValues()
        }
    }

    private func beginAgain(_ player: DevicePlayer) async {
        await resetStaticValues(player)
        let variables = player.memory.table.variables
        player.sender.stop()
        player.begin()
        // They are reset only as their own part.
        if player.memory.table.variables != variables {
            player.memory.table.variables = variables
            player.sender.behaviors?.begin()
        }
        if player.memory.device.app == nil || player.memory.appSide.app?.access.isRunning == true {
            player.sender.resume()
        }
    }

    private func resetStaticValues(_ player: DevicePlayer) async {
        for (key, value) in player.memory.device.services.staticValues {
            guard let source = player.memory.device.table.entries[key]?.source,
                case .stored(let initial) = source,
                initial != value
            else { continue }
            await values.store(source, in: key, of: player)
        }
    }
}

extension EmulatedApp {
    /// The transition from the foreground into the app's initial state.
    ///
    /// If that state is the foreground, another app takes its place, and this one enters the background.
    fileprivate var transitionAtStart: AppTransition {
        if isTerminated { return .terminate }
        return startState == .foreground ? .enterBackground : AppTransition(into: startState)
    }
}
