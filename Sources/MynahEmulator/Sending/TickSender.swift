import Mynah
import MynahCore
import MynahProfiles
import MynahSupport

/// Sends a device's values with `every` when they are due.
///
/// Belongs to the device's player, and runs on the phone's executor.
final class TickSender {
    private let memory: DeviceMemory
    private let updates: UpdateSender
    private let link: PlayerLink
    private var ticker = Ticker()
    /// The task that wakes for the next tick.
    private var sleeping: (task: Task<Void, Never>, until: Duration)?
    init(of memory: DeviceMemory, with updates: UpdateSender, _ link: PlayerLink) {
        self.memory = memory
        self.updates = updates
        self.link = link
    }

    func subscribe(_ attribute: AttributeKey) {
        guard let entry = memory.table.entries[attribute] else { return }
        if let recording = entry.recording {
            ticker.start(attribute, recording, now: memory.elapsed)
        } else if let every = entry.every {
            ticker.start(attribute, every: every, now: memory.elapsed)
        } else {
            return
        }
        keepTicking()
    }

    func unsubscribe(_ central: Central?, from attribute: AttributeKey) {
        if let central { ticker.forget(attribute, of: central.id) }
        if updates.targets(of: attribute).isEmpty { ticker.stop(attribute) }
    }

    func forgetLink(of central: Central) {
        ticker.forget(central.id)
        for attribute in ticker.attributes where updates.targets(of: attribute).isEmpty {
            ticker.stop(attribute)
        }
    }

    /// Continues to send values with `every` when the app runs again.
    func resume() {
        let ticking = memory.table.entries.filter { $0.value.every != nil || $0.value.recording != nil }.keys
            .sorted { $0.rawValue < $1.rawValue }
        for attribute in ticking where !updates.targets(of: attribute).isEmpty { subscribe(attribute) }
    }

    func stop() {
        ticker.stopAll()
        sleeping?.task.cancel()
        sleeping = nil
    }

    /// Sleeps until the next tick, unless a sleep is running that ends no later.
    private func keepTicking() {
        guard let since = memory.since, let next = ticker.next else { return }
        if let sleeping {
            guard next < sleeping.until else { return }
            sleeping.task.cancel()
        }
        let task = link.emulator.enqueue(at: since.advanced(by: next), on: memory.clock) {
            [index = link.index] in
            $0.player(index)?.sender.ticks.wake()
        }
        sleeping = (task, next)
    }

    func wake() {
        sleeping = nil
        sendDue()
    }

    /// Sends every tick that is due, in order, and sleeps until the next.
    private func sendDue() {
        let now = memory.elapsed
        while let (tick, value) = ticker.due(at: now, in: memory.table) {
            updates.noteExtraneous(tick.attribute)
            send(tick, value, now)
        }
        keepTicking()
    }

    /// Sends a tick's value to each target; a link without space receives this value or a newer one later.
    private func send(_ tick: TickSchedule.Tick, _ value: [UInt8], _ now: Duration) {
        var isSent = false
        var receivers: [Peer.ID] = []
        for target in updates.targets(of: tick.attribute) {
            switch target {
            case .everyone:
                if ticker.isNewlyBehind(now - tick.due) { reportBehind() }
                switch updates.send(value, of: tick.attribute, to: nil) {
                case true?: isSent = true
                case false?: return ticker.block()
                case nil: break
                }
            case .central(let central):
                switch updates.send(value, of: tick.attribute, to: central) {
                case true?:
                    isSent = true
                    receivers.append(central)
                    // An older value that waited is obsolete.
                    ticker.forget(tick.attribute, of: central)
                case false?:
                    if ticker.wait(value, of: tick, for: central, now: now) {
                        reportBehind(central)
                    }
                case nil: break
                }
            }
        }
        ticker.sent(tick)
        memory.table.noteSent(tick)
        guard isSent else { return }
        updates.reportNotified(value, of: tick.attribute, among: receivers, tick: tick.number)
    }

    /// Sends the newest waiting values after a link has space again, and continues with ticks.
    func roomAppeared() {
        ticker.unblock()
        for central in ticker.fullLinks {
            while let waiting = ticker.waiting(for: central) {
                let outcome = updates.send(waiting.value, of: waiting.attribute, to: central)
                guard outcome != false else { break }
                ticker.took(central)
                guard outcome == true else { continue }
                updates.reportNotified(
                    waiting.value, of: waiting.attribute, to: central, tick: waiting.tick)
            }
        }
        sendDue()
    }

    // MARK: Reports

    /// Warns that the radio is too slow for values that are sent to all subscribers at once.
    ///
    /// These values are never dropped, so the delay remains.
    private func reportBehind() {
        memory.events.warn(
            "notificationsBehind",
            "the radio sends notifications more slowly than they are due, and is over a second behind")
    }

    private func reportBehind(_ central: Peer.ID) {
        guard let central = updates.named(central) else { return }
        memory.events.warn(
            "subscriberBehind",
            """
            \(EventCentral(central)) takes values more slowly than they are due: until \
            it catches up it gets only the newest of each characteristic
            """,
            central)
    }
}
