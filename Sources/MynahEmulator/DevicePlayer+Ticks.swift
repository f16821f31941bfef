import Mynah
import MynahCore
import MynahSupport

// Values that are due.
extension DevicePlayer {
    func subscribe(_ attribute: AttributeKey) {
        guard let every = table.entries[attribute]?.every else { return }
        schedule.start(attribute, every: every, now: elapsed)
        keepTicking()
    }

    func unsubscribeIfUnheard(_ attribute: AttributeKey) {
        guard let manager, !hasSubscribers(manager, attribute) else { return }
        schedule.stop(attribute)
    }

    func unsubscribeUnheard() {
        guard let manager else { return }
        for attribute in schedule.attributes where !hasSubscribers(manager, attribute) {
            schedule.stop(attribute)
        }
    }

    /// The app runs again: what somebody is subscribed to goes on from now.
    func resumeTicking() {
        guard let manager else { return }
        for (attribute, entry) in table.entries where entry.every != nil && hasSubscribers(manager, attribute)
        {
            subscribe(attribute)
        }
    }

    private func hasSubscribers(_ manager: PeripheralManager, _ attribute: AttributeKey) -> Bool {
        manager.assumeIsolated { $0.hasSubscribers(of: attribute) }
    }

    /// Sleeps until the next tick, unless a sleep that ends no later is under way.
    private func keepTicking() {
        guard let since, !isQueueFull, let next = schedule.earliest else { return }
        if let ticking {
            guard next.due < ticking.until else { return }
            ticking.task.cancel()
        }
        let clock = clock
        let task = Task {
            // Cancelled: whoever cancelled it has made the next one.
            guard (try? await clock.sleep(until: since.advanced(by: next.due), tolerance: nil)) != nil else {
                return
            }
            self.wake()
        }
        ticking = (task, next.due)
    }

    private func wake() {
        // A task that was cancelled after its sleep had ended: the one that replaced it will come.
        guard !Task.isCancelled else { return }
        ticking = nil
        sendDue()
    }

    /// Sends every tick that is due, in order, until the queue is full, and sleeps until the next.
    func sendDue() {
        let now = elapsed
        while !isQueueFull, let tick = schedule.earliest, tick.due <= now {
            guard let value = table.value(of: tick) else { return schedule.stop(tick.attribute) }
            noteExtraneous(tick.attribute)
            if send(value, of: tick.attribute) { schedule.sent(tick) } else { isQueueFull = true }
            tellIfBehind(now - tick.due)
        }
        keepTicking()
    }

    /// True: it is done with, even where it could not be sent at all.
    private func send(_ value: [UInt8], of attribute: AttributeKey) -> Bool {
        guard let manager else { return true }
        let result: Result<Bool, RadioError> = manager.assumeIsolated { manager in
            do throws(RadioError) {
                return .success(try manager.updateValue(value, for: attribute))
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(true):
            tell(.notified, on: attribute, nil) { [.init("value", .string(Hex.encode(value)))] }
            return true
        case .success(false):
            return false
        case .failure(let error):
            // Said once for each value: at a thousand a second it would bury everything else.
            if tooLong.insert(attribute).inserted {
                tell(.error, on: attribute, nil) { [.init("message", .string(error.description))] }
            }
            return true
        }
    }

    /// Values are never dropped, so a radio that cannot keep up is behind for good; the user should know.
    private func tellIfBehind(_ delay: Duration) {
        guard delay > .seconds(1), !isBehind else { return }
        isBehind = true
        teller.tell(
            .warning,
            [
                .init("code", .string("notificationsBehind")),
                .init(
                    "message",
                    .string(
                        "the radio sends notifications more slowly than they are due, and is over a second behind"
                    )),
            ])
    }

    /// A woken app that sends what nobody woke it for.
    private func noteExtraneous(_ attribute: AttributeKey) {
        guard let app, !wokenFor.contains(attribute), app.assumeIsolated({ $0.isWoken }),
            toldExtraneous.insert(attribute).inserted
        else { return }
        app.assumeIsolated { $0.noteExtraneousWork(on: attribute) }
    }
}
