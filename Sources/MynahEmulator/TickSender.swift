import Mynah
import MynahCore
import MynahFaults
import MynahProfiles
import MynahSupport

/// Sends a player's values with `every` when they are due; its behaviors stop and go on with it.
///
/// It belongs to its player, and runs on the phone's executor.
final class TickSender {
    unowned let player: DevicePlayer
    /// Signals that there may be room again, or that nobody is left to wait for.
    let room = ChangeSignal()
    private var ticker = Ticker()
    /// Wakes for the next tick.
    private var sleeping: (task: Task<Void, Never>, until: Duration)?
    /// Attributes whose value was reported to be too long.
    private var tooLong: Set<AttributeKey> = []
    /// The values that faults have changed, and that are not reported yet.
    private var faulted: [FaultedValue] = []

    init(_ player: DevicePlayer) {
        self.player = player
    }

    /// Allows each problem to be reported again.
    func forgetReports() {
        tooLong = []
    }

    func subscribe(_ attribute: AttributeKey) {
        guard let entry = player.table.entries[attribute] else { return }
        if let recording = entry.recording {
            ticker.start(attribute, recording, now: player.elapsed)
        } else if let every = entry.every {
            ticker.start(attribute, every: every, now: player.elapsed)
        } else {
            return
        }
        keepTicking()
    }

    func unsubscribe(_ central: Central?, from attribute: AttributeKey) {
        if let central {
            ticker.forget(attribute, of: central.id)
            player.requests.behaviors?.unsubscribed(central, from: attribute)
        }
        if targets(of: attribute).isEmpty { ticker.stop(attribute) }
        player.answers.unsubscribe(central, from: attribute)
        room.signal()
    }

    func forgetLink(of central: Central) {
        ticker.forget(central.id)
        player.table.forgetLink(of: central.id)
        player.answers.forgetLink(of: central)
        player.requests.behaviors?.forgetLink(of: central)
        for attribute in ticker.attributes where targets(of: attribute).isEmpty { ticker.stop(attribute) }
        room.signal()
    }

    /// The app runs again: subscribed values go on from now.
    func resume() {
        let ticking = player.table.entries.filter { $0.value.every != nil || $0.value.recording != nil }.keys
            .sorted { $0.rawValue < $1.rawValue }
        for attribute in ticking where !targets(of: attribute).isEmpty { subscribe(attribute) }
        player.answers.deliver()
        player.requests.behaviors?.resume()
    }

    func stop() {
        ticker.stopAll()
        player.requests.behaviors?.stop()
        sleeping?.task.cancel()
        sleeping = nil
        room.signal()
    }

    /// The recipients of a value: each central for itself if the radio can address one.
    func targets(of attribute: AttributeKey) -> [Ticker.Target] {
        guard let subscribers = player.manager?.access.subscribers(of: attribute) else { return [] }
        guard !subscribers.hasUnnamed, subscribers.areAddressable else {
            return subscribers.hasUnnamed || !subscribers.named.isEmpty ? [.everyone] : []
        }
        return subscribers.named.map { .central($0) }
    }

    /// Sleeps until the next tick, unless a sleep that ends no later is under way.
    private func keepTicking() {
        guard let since = player.since, let next = ticker.next else { return }
        if let sleeping {
            guard next < sleeping.until else { return }
            sleeping.task.cancel()
        }
        let task = player.link.emulator.enqueue(at: since.advanced(by: next), on: player.clock) {
            [index = player.link.index] in
            $0.player(index)?.ticks.wake()
        }
        sleeping = (task, next)
    }

    func wake() {
        sleeping = nil
        sendDue()
    }

    /// Sends every tick that is due, in order, and sleeps until the next.
    private func sendDue() {
        let now = player.elapsed
        while let (tick, value) = ticker.due(at: now, in: player.table) {
            noteExtraneous(tick.attribute)
            send(tick, value, now)
        }
        keepTicking()
    }

    /// Sends a tick's value to each target; a link without room gets it, or a newer one, later.
    private func send(_ tick: TickSchedule.Tick, _ value: [UInt8], _ now: Duration) {
        var isSent = false
        var receivers: [Peer.ID] = []
        for target in targets(of: tick.attribute) {
            switch target {
            case .everyone:
                if ticker.isNewlyBehind(now - tick.due) { reportBehind() }
                switch send(value, of: tick.attribute, to: nil) {
                case true?: isSent = true
                case false?: return ticker.block()
                case nil: break
                }
            case .central(let central):
                switch send(value, of: tick.attribute, to: central) {
                case true?:
                    isSent = true
                    receivers.append(central)
                    // An older value that waited is out of date.
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
        player.table.noteSent(tick)
        if isSent { reportNotified(value, of: tick.attribute, among: receivers, tick: tick.number) }
    }

    /// There is room again: links get the newest values that waited, and ticks go on.
    func roomAppeared() {
        ticker.unblock()
        for central in ticker.fullLinks {
            while let waiting = ticker.waiting(for: central) {
                let outcome = send(waiting.value, of: waiting.attribute, to: central)
                guard outcome != false else { break }
                ticker.took(central)
                guard outcome == true else { continue }
                reportNotified(waiting.value, of: waiting.attribute, to: central, tick: waiting.tick)
            }
        }
        sendDue()
        player.answers.deliver()
        player.requests.behaviors?.resume()
        room.signal()
    }

    /// Returns whether there was room, or `nil` if the value could not be sent at all.
    func send(_ value: [UInt8], of attribute: AttributeKey, to central: Peer.ID?) -> Bool? {
        guard let manager = player.manager else { return nil }
        do throws(RadioError) {
            let hasRoom = try manager.access.updateValue(
                value, for: attribute, onSubscribedCentrals: central.map { [$0] })
            noteFaults()
            return hasRoom
        } catch {
            // Once for each attribute: at a thousand a second it would bury everything else.
            if tooLong.insert(attribute).inserted {
                reportError(error.description, on: attribute)
            }
            return nil
        }
    }

    /// Notes what faults made of the value that was sent last.
    func noteFaults() {
        guard let radio = player.link.emulator.emulator?.faultyRadio else { return }
        faulted += radio.faultedValues.withLock { $0 }
    }

    /// A woken app that sends what it was not woken for.
    func noteExtraneous(_ attribute: AttributeKey) {
        guard player.appSide.isNewlyExtraneous(attribute) else { return }
        player.appSide.app?.access.noteExtraneousWork(on: attribute)
    }

    // MARK: Reports

    /// Reports a value that was sent to one central, or to several; one with `every` has the number of its
    /// tick.
    ///
    /// Each central that receives something else has an event of its own, with that: its link carries less,
    /// or a fault has changed the value. One that receives nothing because of a fault has none.
    func reportNotified(
        _ value: [UInt8], of attribute: AttributeKey, to central: Peer.ID? = nil,
        among receivers: [Peer.ID] = [], tick: Int64? = nil
    ) {
        let faulted = faulted
        self.faulted = []
        guard player.events.isObserved else { return }
        func report(_ value: [UInt8], to central: Central?, length: Int? = nil) {
            player.report(.notified, on: attribute, central) {
                $0.value = value
                $0.tick = tick.map { Int($0) }
                $0.length = length
            }
        }
        let all = central.map { [$0] } ?? (receivers.isEmpty ? faulted.compactMap(\.central) : receivers)
        guard !all.isEmpty else {
            // The radio does not say who receives it.
            if let bytes = faulted.isEmpty ? value : faulted[0].bytes { report(bytes, to: nil) }
            return
        }
        let parts = all.compactMap { part(of: value, for: $0, faulted) }
        if parts.contains(where: { $0.bytes == value }) { report(value, to: central.flatMap(named)) }
        for part in parts where part.bytes != value {
            if let central = named(part.central) { report(part.bytes, to: central, length: part.length) }
        }
    }

    /// The bytes of a value that a central receives, and the length of the whole if its link carries less;
    /// `nil` if it receives nothing.
    private func part(
        of value: [UInt8], for central: Peer.ID, _ faulted: [FaultedValue]
    ) -> (central: Peer.ID, bytes: [UInt8], length: Int?)? {
        let changed = faulted.first { $0.central == central }
        guard let sent = changed.map(\.bytes) ?? value else { return nil }
        // Every link carries this.
        guard sent.count > GATT.defaultMTU - GATT.notificationHeaderLength,
            let room = player.manager?.access.room(for: central), room < sent.count
        else { return (central, sent, nil) }
        return (central, Array(sent.prefix(room)), sent.count)
    }

    private func reportError(_ message: String, on attribute: AttributeKey) {
        player.events.report(
            .error, .notice(.init(message, on: player.table.eventAttribute(of: attribute))),
            isQueued: player.appSide.isDeliveringQueued)
    }

    /// For everyone no value is dropped, so a radio that cannot keep up stays behind.
    private func reportBehind() {
        player.events.warn(
            "notificationsBehind",
            "the radio sends notifications more slowly than they are due, and is over a second behind")
    }

    private func reportBehind(_ central: Peer.ID) {
        guard let central = named(central) else { return }
        player.events.warn(
            "subscriberBehind",
            """
            \(EventCentral(central)) takes values more slowly than they are due: until \
            it catches up it gets only the newest of each characteristic
            """,
            central)
    }

    private func named(_ central: Peer.ID) -> Central? {
        player.manager?.access.central(central)
    }
}
