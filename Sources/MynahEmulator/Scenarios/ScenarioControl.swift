import MynahCore
import MynahLifecycle
import MynahProfiles
import MynahSupport
import MynahValues

/// Plays and ends the scenarios of devices.
struct ScenarioControl {
    let devices: PlayedDevices
    let player: ScenarioPlayer
    let changes: RunChanges
    let faults: FaultControl
    let actions: UserActions
    let link: EmulatorLink

    /// Returns an observer that passes each event to `observer`, and then to the scenarios.
    ///
    /// Returns `nil` if there is neither an observer nor a scenario, so that no events are made.
    static func observing(
        _ observer: Emulator.Observer?, _ devices: [EmulatedDevice], _ link: EmulatorLink,
        _ isPlaying: Lock<Bool>
    ) -> Emulator.Observer? {
        guard observer != nil || devices.contains(where: { !$0.scenarios.isEmpty }) else { return nil }
        return { event in
            observer?(event)
            if isPlaying.withLock({ $0 }) { link.run { $0.control.scenarios.meet(event) } }
        }
    }

    private func meet(_ event: DeviceEvent) {
        // If the phone had only one app, that app's events have no device, but later events of the phone do.
        player.observe(event, isOfAll: devices.players.allSatisfy { $0.events.device != nil })
    }

    /// Plays a scenario of a device as soon as every device of the emulator is ready.
    ///
    /// The event `scenario.ended` reports the result. If the scenario cannot begin, the event reports a
    /// failure at once.
    func playWhenReady(_ name: String, of label: String) {
        player.onReady { [link] in
            link.run { emulator in
                do throws(ControlRefusal) {
                    try emulator.control.scenarios.play(name, of: label)
                } catch {
                    let player = emulator.devices.player(called: label)
                    ScenarioPlayer.report(
                        ScenarioEnd(isPass: false, step: 1, message: error.message), of: name,
                        player?.events ?? emulator.devices.events)
                }
            }
        }
    }

    /// Waits until no reset is in progress, and then plays a scenario of a device.
    ///
    /// The event `scenario.ended` reports the end. Throws `notFound` if the device has no such scenario, and
    /// `conflict` if it is already playing one.
    func playInTurn(_ name: String, of label: String) async throws(ControlRefusal) {
        await changes.beginTurn()
        defer { changes.endTurn() }
        try play(name, of: label)
    }

    /// Throws the error that `playInTurn` would throw now, but plays nothing.
    func checkPlay(_ name: String, of label: String) throws(ControlRefusal) {
        _ = try playable(name, of: label)
    }

    /// Plays a scenario of a device at once; throws the errors of `playInTurn`.
    func play(_ name: String, of label: String) throws(ControlRefusal) {
        let (player, found) = try playable(name, of: label)
        do throws(EventMatch.Problem) {
            self.player.begin(try Scenario(found), of: label, player.events)
        } catch {
            throw .invalid("the scenario \"\(name)\" cannot be played: \(error.message)")
        }
    }

    /// Returns the player and the scenario with these names; throws if the scenario cannot be played now.
    private func playable(
        _ name: String, of label: String
    ) throws(ControlRefusal) -> (DevicePlayer, Profile.Scenario) {
        let player = try devices.player(named: label)
        let declared = player.memory.device.scenarios
        guard let found = declared.first(where: { $0.name == name }) else {
            throw .unknown("scenario", name, of: label, among: declared.map(\.name))
        }
        if let other = self.player.scenario(of: label) {
            throw .conflict("\(label) plays the scenario \"\(other)\"; wait for its end")
        }
        return (player, found)
    }

    /// Returns the scenarios of a device, and whether each is being played.
    func scenarios(of player: DevicePlayer) -> [DeviceSnapshot.Scenario] {
        let playing = self.player.scenario(of: player.memory.device.label)
        return player.memory.device.scenarios.map { .init(name: $0.name, isPlaying: $0.name == playing) }
    }

    // MARK: Effects

    /// Carries out the effect of a step; returns the reason that it failed, or `nil` if it succeeded.
    func carryOut(_ effect: ScenarioEffect, of label: String) async -> String? {
        do throws(ControlRefusal) {
            switch effect {
            case .set(let changes): try set(changes, of: label)
            case .turn(let fault, let isOn): _ = try await faults.turn(fault, isOn: isOn, of: label)
            case .advertise(let request):
                do throws(ControlRefusal) {
                    _ = try await AdvertisingControl(devices: devices).advertise(
                        AdvertisingChange(request.change, isOn: request.isOn), for: label)
                } catch {
                    return (request.location.map { "\($0): " } ?? "") + error.message
                }
            case .move(let transition): try await actions.carryOut(.transition(transition), of: label)
            }
            return nil
        } catch {
            return error.message
        }
    }

    private func set(_ changes: [Reaction.Change], of label: String) throws(ControlRefusal) {
        let player = try devices.player(named: label)
        guard PlayedState(of: player).hasMemory else {
            throw .conflict(PlayedState(of: player).noProcess("its variables exist only while it runs"))
        }
        var rule = Reaction()
        rule.changes = changes
        do throws(LayoutProblem) {
            try player.reactions.setVariables(rule.applied(to: player.memory.table.variables, []))
        } catch {
            throw .invalid("a value that reads a variable cannot be made: \(error.message)")
        }
    }
}
