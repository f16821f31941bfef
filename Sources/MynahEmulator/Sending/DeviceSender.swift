import Mynah
import MynahCore
import MynahFaults
import MynahProfiles
import MynahSupport

/// Sends the values of a device: values with `every`, values that requests trigger, and values of behaviors.
///
/// If a link has space for only some of them, values with `every` are sent first. Belongs to the device's
/// player, and runs on the phone's executor.
final class DeviceSender {
    private let memory: DeviceMemory
    let updates: UpdateSender
    let ticks: TickSender
    let answers: AnswerSender
    /// The player of services with a behavior of their own, or `nil` if there are none.
    let behaviors: ServicePlayer?

    init(of memory: DeviceMemory, _ link: PlayerLink, faulted: Lock<[DeliveredValue]>?) {
        self.memory = memory
        updates = UpdateSender(of: memory, faulted: faulted)
        ticks = TickSender(of: memory, with: updates, link)
        answers = AnswerSender(of: memory, with: updates, link)
        behaviors = ServicePlayer(of: memory, with: answers, link)
    }

    func unsubscribe(_ central: Central?, from attribute: AttributeKey) {
        ticks.unsubscribe(central, from: attribute)
        behaviors?.unsubscribed(central, from: attribute)
        answers.unsubscribe(central, from: attribute)
        updates.room.signal()
    }

    /// Handles the confirmation of an indication.
    func confirmed(_ central: Central?, _ attribute: AttributeKey) {
        memory.report(.confirmed, on: attribute, central)
        behaviors?.confirmed(central, attribute)
    }

    /// Handles a new link of a central: first the services act, and then the device's rules.
    func linkBegan(of central: Central, then rules: ReactionPlayer) {
        behaviors?.linkBegan(of: central)
        rules.linkBegan(of: central)
    }

    func forgetLink(of central: Central) {
        ticks.forgetLink(of: central)
        memory.table.forgetLink(of: central.id)
        answers.forgetLink(of: central)
        behaviors?.forgetLink(of: central)
        updates.room.signal()
    }

    /// Continues to send values when the app runs again.
    func resume() {
        ticks.resume()
        answers.deliver()
        behaviors?.resume()
    }

    /// Stops sending until `resume` is called.
    func stop() {
        ticks.stop()
        behaviors?.stop()
        updates.room.signal()
    }

    /// Sends waiting values after a link has space again: the newest value of each attribute with `every`,
    /// then the others.
    func roomAppeared() {
        ticks.roomAppeared()
        answers.deliver()
        behaviors?.resume()
        updates.room.signal()
    }
}
