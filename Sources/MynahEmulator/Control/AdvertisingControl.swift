import Mynah
import MynahCore
import MynahLifecycle
import MynahProfiles
import MynahSupport

/// Changes the advertising of devices for tests.
struct AdvertisingControl {
    let devices: PlayedDevices

    /// Changes a device's advertising; the JSON is as in a profile, and may also have the key `on`.
    func advertise(_ json: JSON, for label: String) async throws(ControlRefusal) -> AdvertisingReport {
        let player = try devices.player(named: label)
        let asked: AdvertisingRequest
        do throws(ProfileIssues) {
            asked = try ProfileLoader.advertisementChange(json, in: player.device.faultScope)
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
            change: player.device.advertised.change, isStopped: player.appSide.isStopped(.advertising)
        )
        let combined = change.named(player.device.advertisement?.name).after(before.change)
        if combined.isOn == false, let set = change.switched.first(where: \.value)?.key {
            throw .conflict("\(label) does not advertise: switch it on first, and then the set \(set)")
        }
        player.device.advertised.change = combined
        if change.isOn == true { player.appSide.setWanted(.advertising, true) }
        do throws(ControlRefusal) {
            try await advertise(player)
        } catch {
            player.device.advertised.change = before.change
            player.appSide.setWanted(.advertising, !before.isStopped)
            try? await advertise(player)
            throw error
        }
        return PlayedState(of: player).status.advertising
    }

    /// Starts advertising with the device's current request.
    func advertise(_ player: DevicePlayer) async throws(ControlRefusal) {
        guard let manager = player.manager else { return }
        try await ControlRefusal.attempt { () async throws(RadioError) in
            try await player.advertise(with: manager)
        }
    }

    func checkCanAdvertise(_ player: DevicePlayer) throws(ControlRefusal) {
        let label = player.device.label
        guard player.device.isPeripheral else {
            throw .conflict("\(label) cannot advertise: its profile has no peripheral")
        }
        guard player.device.app == nil || player.appSide.app?.access.isRunning == true else {
            let state = PlayedState(of: player).app.rawValue
            throw .conflict("the app \(label) cannot advertise: it is \(state), not running")
        }
    }
}
