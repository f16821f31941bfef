import Mynah
import MynahCore
import MynahFaults
import MynahProfiles
import MynahSupport

/// Sends the values of a device: its ticks, those that follow from requests, and those of its behaviors.
///
/// Ticks go first where a link has room for some values only. Belongs to the device's player, and runs on
/// the phone's executor.
final class DeviceSender {
    private let memory: DeviceMemory
    let updates: UpdateSender
    let ticks: TickSender
    let answers: AnswerSender
    /// The services that behave, or `nil` if none does.
    let behaviors: ServicePlayer?

    init(of memory: DeviceMemory, _ link: PlayerLink, faulted: Lock<[FaultedValue]>?) {
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

    /// A central has confirmed an indication.
    func confirmed(_ central: Central?, _ attribute: AttributeKey) {
        memory.report(.confirmed, on: attribute, central)
        behaviors?.confirmed(central, attribute)
    }

    /// A central's link has begun: its services act, and then the device's rules.
    func linkBegan(of central: Central, then rules: ReactionPlayer) {
        behaviors?.linkBegan(of: central)
        rules.linkChanged(\.connect, of: central)
    }

    func forgetLink(of central: Central) {
        ticks.forgetLink(of: central)
        memory.table.forgetLink(of: central.id)
        answers.forgetLink(of: central)
        behaviors?.forgetLink(of: central)
        updates.room.signal()
    }

    /// The app runs again: subscribed values go on from now.
    func resume() {
        ticks.resume()
        answers.deliver()
        behaviors?.resume()
    }

    /// Nothing is sent until the device goes on.
    func stop() {
        ticks.stop()
        behaviors?.stop()
        updates.room.signal()
    }

    /// There is room again: links get the newest values that waited, and ticks go on.
    func roomAppeared() {
        ticks.roomAppeared()
        answers.deliver()
        behaviors?.resume()
        updates.room.signal()
    }
}
