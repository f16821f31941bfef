import Mynah
import MynahCore
import MynahSupport

/// Sends the values that requests have triggered, in order for each central, as the send queues allow.
///
/// Belongs to the device's player, and runs on the phone's executor. A value is sent after the response to
/// the request that triggered it.
final class AnswerSender {
    private let memory: DeviceMemory
    private let updates: UpdateSender
    private let link: PlayerLink
    private(set) var outbox = Outbox()
    /// The values to send at a later time.
    private var later = LaterAnswers()
    /// The task that wakes when the next value of `later` is due.
    private var sleeping: (task: Task<Void, Never>, until: Duration)?
    private var hasWarned = false
    /// The attributes for which a missing subscription was reported, so that it is reported only once.
    private var unsubscribed: Set<AttributeKey> = []

    init(of memory: DeviceMemory, with updates: UpdateSender, _ link: PlayerLink) {
        self.memory = memory
        self.updates = updates
        self.link = link
    }

    /// Sends a value to a central, now or after a delay, if the central is subscribed.
    func answer(
        _ value: [UInt8], of key: AttributeKey, to central: Central?, after delay: Duration,
        inPieces isInPieces: Bool
    ) {
        let answer = LaterAnswers.Answer(
            due: memory.elapsed + delay, value: value, attribute: key, central: central,
            isInPieces: isInPieces)
        guard delay > .zero else { return send(answer) }
        guard later.add(answer) else {
            return warnDropped("too many answers to a central wait for their time")
        }
        sleep()
    }

    private func send(_ answer: LaterAnswers.Answer) {
        let key = answer.attribute
        guard !add(answer.value, of: key, to: answer.central?.id, inPieces: answer.isInPieces),
            unsubscribed.insert(key).inserted
        else { return }
        memory.events.warn(
            "answerNotSubscribed",
            "a central that is not subscribed to \(memory.table.name(of: key)) gets no answer on it")
    }

    /// Returns the centrals that receive values of an attribute.
    ///
    /// A single `nil` means all subscribers, if the radio cannot address one of them.
    func targets(of key: AttributeKey) -> [Peer.ID?] {
        updates.targets(of: key).map { if case .central(let id) = $0 { id } else { nil } }
    }

    /// Queues a value for a subscribed central, or for all subscribers if `central` is `nil`.
    ///
    /// Returns whether there is a subscriber.
    @discardableResult
    func add(
        _ value: [UInt8], of key: AttributeKey, to central: Peer.ID? = nil, inPieces isInPieces: Bool = false
    ) -> Bool {
        var isSubscribed = false
        for receiver in targets(of: key) {
            guard central == nil || receiver == nil || receiver == central else { continue }
            isSubscribed = true
            put(value, of: key, to: receiver, inPieces: isInPieces)
        }
        return isSubscribed
    }

    private func put(
        _ value: [UInt8], of key: AttributeKey, to receiver: Peer.ID?, inPieces isInPieces: Bool
    ) {
        let room = isInPieces ? receiver.flatMap { memory.manager?.access.room(for: $0) } : nil
        guard let room, room < value.count else {
            return put(.init(bytes: value, attribute: key, central: receiver))
        }
        for piece in value.pieces(of: room) {
            put(.init(bytes: piece, attribute: key, central: receiver))
        }
    }

    private func put(_ value: Outbox.Value) {
        if !outbox.add(value) {
            warnDropped("a central accepts values more slowly than it requests them")
        }
    }

    private func warnDropped(_ reason: String) {
        guard !hasWarned else { return }
        hasWarned = true
        memory.events.warn("answersDropped", "\(reason): some of its answers are dropped")
    }

    /// Sends the values that are due, as the send queues allow; an app sends them only while it runs.
    func deliver() {
        guard memory.canAct else { return }
        if later.next != nil { answerDue() }
        guard !outbox.values.isEmpty else { return }
        outbox.deliver { value in
            guard let isSent = updates.send(value.bytes, of: value.attribute, to: value.central) else {
                return true
            }
            if isSent { updates.reportNotified(value.bytes, of: value.attribute, to: value.central) }
            return isSent
        }
    }

    /// Calls `deliver` after the response to the current request.
    func deliverLater() {
        link.emulator.enqueue { [index = link.index] in $0.player(index)?.sender.answers.deliver() }
    }

    private func answerDue() {
        for answer in later.takeDue(at: memory.elapsed) { send(answer) }
        sleep()
    }

    private func sleep() {
        guard let since = memory.since, let due = later.next else { return stopSleeping() }
        if let sleeping, sleeping.until == due, due > memory.elapsed { return }
        stopSleeping()
        let task = link.emulator.enqueue(at: since.advanced(by: due), on: memory.clock) {
            [index = link.index] in
            $0.player(index)?.sender.answers.deliver()
        }
        sleeping = (task, due)
    }

    private func stopSleeping() {
        sleeping?.task.cancel()
        sleeping = nil
    }

    /// Discards the values for a central whose link has ended.
    func forgetLink(of central: Central) {
        outbox.forget(central.id)
        later.forget(central.id)
        forgetUnaddressed()
    }

    /// Discards the values for a central that has unsubscribed; `central` is `nil` if the radio does not
    /// identify it.
    func unsubscribe(_ central: Central?, from key: AttributeKey) {
        if let central { outbox.forget(central.id, key) }
        forgetUnaddressed()
    }

    /// Discards the values for all subscribers of attributes that no longer have a subscriber.
    private func forgetUnaddressed() {
        outbox.forgetUnaddressed { updates.targets(of: $0).isEmpty }
    }

    /// Discards all values, and allows each problem to be reported again.
    func clear() {
        outbox = Outbox()
        later = LaterAnswers()
        stopSleeping()
        hasWarned = false
        unsubscribed = []
    }
}
