import Mynah
import MynahCore
import MynahSupport

/// Sends the values that follow from requests, each central's in order, as far as there is room.
///
/// Belongs to the device's player, and runs on the phone's executor. A value goes out after the response to
/// the request that it follows from.
final class AnswerSender {
    /// A value that goes out at a time of the device.
    private struct Delayed {
        var due: Duration
        var value: [UInt8]
        var attribute: AttributeKey
        var central: Central?
    }

    private let memory: DeviceMemory
    private let updates: UpdateSender
    private let link: PlayerLink
    private(set) var outbox = Outbox()
    /// The values that go out later, in the order in which they were asked for.
    private var delayed: [Delayed] = []
    /// Wakes for the next of them.
    private var sleeping: Task<Void, Never>?
    private var hasWarned = false
    /// The attributes on which an answer found no subscriber; each is reported once.
    private var unsubscribed: Set<AttributeKey> = []

    init(of memory: DeviceMemory, with updates: UpdateSender, _ link: PlayerLink) {
        self.memory = memory
        self.updates = updates
        self.link = link
    }

    /// Answers a central, now or after a time; a central that is not subscribed gets nothing.
    func answer(_ value: [UInt8], of key: AttributeKey, to central: Central?, after delay: Duration) {
        guard delay > .zero else { return answer(value, of: key, to: central) }
        guard delayed.count(where: { $0.central?.id == central?.id }) < Outbox.limit else {
            return warnDropped()
        }
        delayed.append(
            Delayed(due: memory.elapsed + delay, value: value, attribute: key, central: central))
        sleep()
    }

    private func answer(_ value: [UInt8], of key: AttributeKey, to central: Central?) {
        guard !add(value, of: key, to: central?.id), unsubscribed.insert(key).inserted else { return }
        memory.events.warn(
            "answerNotSubscribed",
            "a central that is not subscribed to \(memory.table.name(of: key)) gets no answer on it")
    }

    /// Adds a value for one central, or for all if it is `nil`, as far as they are subscribed.
    ///
    /// Returns whether anybody is.
    @discardableResult
    func add(_ value: [UInt8], of key: AttributeKey, to central: Peer.ID? = nil) -> Bool {
        var isSubscribed = false
        for target in updates.targets(of: key) {
            let receiver: Peer.ID? = if case .central(let id) = target { id } else { nil }
            guard central == nil || receiver == nil || receiver == central else { continue }
            isSubscribed = true
            if !outbox.add(.init(bytes: value, attribute: key, central: receiver)) { warnDropped() }
        }
        return isSubscribed
    }

    private func warnDropped() {
        guard !hasWarned else { return }
        hasWarned = true
        memory.events.warn(
            "answersDropped",
            "a central accepts values more slowly than it requests them: some of its answers are dropped")
    }

    /// Sends what is due and what there is room for; an app that does not run sends it when it runs again.
    func deliver() {
        guard memory.canAct else { return }
        if !delayed.isEmpty { answerDue() }
        guard !outbox.values.isEmpty else { return }
        outbox.deliver { value in
            guard let isSent = updates.send(value.bytes, of: value.attribute, to: value.central) else {
                return true
            }
            if isSent { updates.reportNotified(value.bytes, of: value.attribute, to: value.central) }
            return isSent
        }
    }

    /// Sends what there is room for when the present request has its response.
    func deliverLater() {
        link.emulator.enqueue { [index = link.index] in $0.player(index)?.sender.answers.deliver() }
    }

    private func answerDue() {
        let now = memory.elapsed
        let due = delayed.filter { $0.due <= now }.sorted { $0.due < $1.due }
        delayed.removeAll { $0.due <= now }
        for value in due { answer(value.value, of: value.attribute, to: value.central) }
        sleep()
    }

    private func sleep() {
        sleeping?.cancel()
        sleeping = nil
        guard let since = memory.since, let due = delayed.map(\.due).min() else { return }
        sleeping = link.emulator.enqueue(at: since.advanced(by: due), on: memory.clock) {
            [index = link.index] in
            $0.player(index)?.sender.answers.deliver()
        }
    }

    /// A central's link has ended.
    func forgetLink(of central: Central) {
        outbox.forget(central.id)
        delayed.removeAll { $0.central?.id == central.id }
        forgetUnaddressed()
    }

    /// A central has unsubscribed; `nil` if the radio does not name it.
    func unsubscribe(_ central: Central?, from key: AttributeKey) {
        if let central { outbox.forget(central.id, key) }
        forgetUnaddressed()
    }

    /// Values for everyone are forgotten when nobody is subscribed any more.
    private func forgetUnaddressed() {
        outbox.forgetUnaddressed { updates.targets(of: $0).isEmpty }
    }

    /// Nothing is sent any more, and each problem may be reported again.
    func clear() {
        outbox = Outbox()
        delayed = []
        sleeping?.cancel()
        sleeping = nil
        hasWarned = false
        unsubscribed = []
    }
}
