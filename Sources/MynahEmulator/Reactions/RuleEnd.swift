import Mynah
import MynahCore
import MynahProfiles

/// Carries out the last effects of a rule: changes the advertising, ends the link, or restarts the device.
struct RuleEnd {
    let links: LinkControl
    let advertising: AdvertisingControl

    func end(_ rule: Reaction, of index: Int, for central: Central?) async {
        guard let player = links.devices.player(index) else { return }
        player.sender.answers.deliver()
        if let request = rule.advertises {
            let change = AdvertisingChange(request.change, isOn: request.isOn)
            do throws(ControlRefusal) {
                _ = try await advertising.advertise(change, for: player.memory.device.label)
            } catch {
                let place = request.location.map { "\($0): " } ?? ""
                player.events.warn(
                    "advertisingNotChanged",
                    "\(place)a rule could not change the advertising: \(error.message)")
            }
        }
        guard rule.disconnects else { return }
        guard let central else {
            return player.events.warn(
                "linkNotEnded",
                "a rule could not end the link: this radio does not name the central that subscribed")
        }
        do throws(ControlRefusal) {
            try await links.endLinks([central])
        } catch {
            player.events.warn("linkNotEnded", "a rule could not end the link: \(error.message)")
        }
    }

    /// Restarts a device, which ends every link of its radio.
    func restart(_ index: Int) async {
        guard let player = links.devices.player(index) else { return }
        player.sender.answers.deliver()
        do throws(ControlRefusal) {
            try await links.disconnect(from: player.memory.device.label)
        } catch {
            player.events.warn("linkNotEnded", "a restart could not end the links: \(error.message)")
        }
    }
}
