import Mynah
import MynahCore
import MynahLifecycle
import MynahProfiles
import MynahSupport

/// Changes the advertising of devices for tests.
struct AdvertisingControl {
    let devices: PlayedDevices

    /// Changes a device's advertising as a test requests in JSON.
    ///
    /// The JSON is an object with the keys of `advertising` in a profile, and may also have the key `on`.
    func advertise(_ json: JSON, for label: String) async throws(ControlRefusal) -> AdvertisingReport {
        let player = try devices.player(named: label)
        let asked: AdvertisingRequest
        do throws(ProfileIssues) {
            asked = try ProfileLoader.advertisementChange(json, in: player.memory.device.faultScope)
        } catch {
            throw .invalid(
                error.issues.filter { $0.severity == .error }.map(\.message).joined(separator: "\n"))
        }
        guard asked.isOn != nil || asked.change != AdvertisementChange() else {
            throw .invalid("there is no change: give \"on\", or what is to be advertised, as \"localName\"")
        }
        return try await advertise(AdvertisingChange(asked.change, isOn: asked.isOn), for: label)
    }

    /// Changes a device's advertising until the device is reset, and returns the resulting report.
    ///
    /// If the radio refuses the change, the device advertises as before.
    func advertise(
        _ change: AdvertisingChange, for label: String
    ) async throws(ControlRefusal) -> AdvertisingReport {
        let player = try devices.player(named: label)
        try checkCanAdvertise(player)
        let before = (
            change: player.memory.device.advertised.change,
            isStopped: player.memory.appSide.isStopped(.advertising)
        )
        let combined = change.named(player.memory.device.advertisement?.name).after(before.change)
        if combined.isOn == false, let set = change.switched.first(where: \.value)?.key {
            throw .conflict("\(label) does not advertise: switch it on first, and then the set \(set)")
        }
        try check(combined, change, of: player.memory.device)
        player.memory.device.advertised.change = combined
        if change.isOn == true { player.memory.appSide.setWanted(.advertising, true) }
        do throws(ControlRefusal) {
            try await advertise(player)
        } catch {
            player.memory.device.advertised.change = before.change
            player.memory.appSide.setWanted(.advertising, !before.isStopped)
            try? await advertise(player)
            throw error
        }
        return PlayedState(of: player).status.advertising
    }

    /// Throws if a set in `change` could not be advertised after all changes in `combined`.
    private func check(
        _ combined: AdvertisingChange, _ change: AdvertisingChange, of device: EmulatedDevice
    ) throws(ControlRefusal) {
        // The phone decides about the advertisement of an app.
        guard device.app == nil, !change.sets.isEmpty else { return }
        let original = device.advertisement ?? Advertisement()
        let changed = combined.sets.reduce(original) { $1.applied(to: $0) }
        for name in change.sets.map({ $0.set ?? original.name }) {
            guard let set = changed.sets.first(where: { $0.name == name }),
                let problem = ProfileLoader.advertisementProblem(of: set, in: original)
            else { continue }
            throw .invalid(problem)
        }
    }

    /// Applies the advertising that results from the profile and the changes of tests.
    func advertise(_ player: DevicePlayer) async throws(ControlRefusal) {
        guard let manager = player.manager else { return }
        try await ControlRefusal.attempt { () async throws(RadioError) in
            try await player.advertise(with: manager)
        }
    }

    func checkCanAdvertise(_ player: DevicePlayer) throws(ControlRefusal) {
        let label = player.memory.device.label
        guard player.memory.device.isPeripheral else {
            throw .conflict("\(label) cannot advertise: its profile has no peripheral")
        }
        guard player.memory.device.app == nil || player.memory.appSide.app?.access.isRunning == true else {
            let state = PlayedState(of: player).app.rawValue
            throw .conflict("the app \(label) cannot advertise: it is \(state), not running")
        }
    }
}
