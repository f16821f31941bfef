import Mynah
import MynahCore
import MynahProfiles

// The end of a rule: its link, and the device's advertising.
extension Emulator {
    func end(_ rule: Reaction, of label: String, for central: Central?) async {
        guard let player = players.first(where: { $0.device.label == label }) else { return }
        player.answers.deliver()
        if let isOn = rule.advertises {
            var change = AdvertisingChange()
            change.isOn = isOn
            do throws(ControlRefusal) {
                _ = try await advertise(change, for: label)
            } catch {
                player.events.warn("advertisingNotChanged", "a rule changes no advertising: \(error.message)")
            }
        }
        if rule.disconnects, let central {
            do throws(ControlRefusal) {
                try await endLinks([central])
            } catch {
                player.events.warn("linkNotEnded", "a rule ends no link: \(error.message)")
            }
        }
    }
}
