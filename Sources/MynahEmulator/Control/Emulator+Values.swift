import Mynah
package import MynahCore
import MynahLifecycle
import MynahSupport

// Values that a test sets.
extension Emulator {
    /// How long a value waits for room on a link.
    private static var roomLimit: Duration { .seconds(10) }

    /// Sets the value of a device's attribute until the device is reset; it replaces a generator.
    ///
    /// With `notify` it is sent to the subscribed centrals, or to one of them, as each has subscribed; the
    /// call returns when every link has taken it. A value that no link can carry is not set.
    package func setValue(
        _ written: WrittenValue, of name: AttributeName, in label: String, notify: Bool = false,
        to central: String? = nil
    ) async throws(ControlRefusal) -> SetResult {
        let player = try player(named: label)
        let attribute = try attribute(named: name, of: player)
        guard hasMemory(player), let entry = player.table.entries[attribute.key] else {
            throw .conflict(noProcess(player, "its values exist only while it runs"))
        }
        let layout = player.table.layout(of: attribute.key)
        let value = try written.bytes(in: layout, of: attribute.path)
        guard value.count <= entry.maximumLength else {
            throw .invalid(
                """
                the value has \(value.count) bytes and \(attribute.path) takes \(entry.maximumLength) at most
                """)
        }
        guard notify else {
            guard central == nil else { throw .invalid("a value goes to a central only if it is notified") }
            await store(.stored(value), in: attribute.key, of: player)
            return SetResult(value: value, sent: 0, layout: layout)
        }
        let target = try await target(central, of: attribute, of: player)
        await store(.stored(value), in: attribute.key, of: player)
        do throws(ControlRefusal) {
            return SetResult(
                value: value, sent: try await self.notify(value, of: attribute.key, of: player, to: target),
                layout: layout)
        } catch {
            // A central or another test may have written meanwhile.
            if case .invalid = error, player.table.stored(attribute.key) == value {
                await store(entry.source, in: attribute.key, of: player)
            }
            throw error
        }
    }

    /// Keeps a value; one that the radio answers by itself is given to it.
    func store(_ source: AttributeTable.Source, in key: AttributeKey, of player: DevicePlayer) async {
        player.table.set(source, of: key)
        guard case .stored(let value) = source, player.device.services.staticValue(of: key) != nil else {
            return
        }
        player.device.services.setStaticValue(value, of: key)
        await player.manager?.access.setStaticValue(value, of: key)
    }

    /// The central to notify, or `nil` for every subscriber.
    private func target(
        _ name: String?, of attribute: DeviceAttributes.Attribute, of player: DevicePlayer
    ) async throws(ControlRefusal) -> Central? {
        guard !attribute.properties.isDisjoint(with: .anyUpdate) else {
            throw .invalid("\(attribute.path) neither notifies nor indicates")
        }
        if player.device.app != nil, player.appSide.app?.access.isRunning != true {
            throw .conflict(
                "the app \(player.device.label) is not running: it is \(appState(of: player).rawValue)")
        }
        guard let name else { return nil }
        let central = try await self.central(named: name)
        guard let subscribers = player.manager?.access.subscribers(of: attribute.key),
            subscribers.areAddressable
        else { throw .conflict("this radio cannot send a value to one central alone") }
        guard subscribers.named.contains(central.id) else {
            throw .conflict("\(name) is not subscribed to \(attribute.path)")
        }
        return central
    }

    /// Sends a value when every link has room for it; returns to how many centrals, or `nil` if the radio
    /// cannot count them.
    private func notify(
        _ value: [UInt8], of key: AttributeKey, of player: DevicePlayer, to central: Central?
    ) async throws(ControlRefusal) -> Int? {
        player.ticks.noteExtraneous(key)
        var outcome: Result<SendResult, RadioError> = .success(.full)
        let subscribers = player.manager?.access.subscribers(of: key)
        let hasRoom = await wait(atMost: Self.roomLimit, for: player.ticks.room) {
            outcome = player.ticks.offer(value, of: key, to: central?.id)
            return outcome != .success(.full)
        }
        let sent: SendResult
        do throws(RadioError) {
            sent = try outcome.get()
        } catch {
            throw ControlRefusal(error)
        }
        guard hasRoom, case .sent(let count) = sent else {
            throw .conflict("a subscribed central takes no more values")
        }
        let known = count ?? subscribers.flatMap { $0.hasUnnamed ? nil : $0.named.count }
        if known != 0 {
            player.ticks.reportNotified(value, of: key, to: central?.id, among: subscribers?.named ?? [])
        }
        return known
    }

    /// Waits until something holds, which is asked now and after each signal.
    ///
    /// Returns `false` if the limit passes or the run ends before.
    func wait(
        atMost limit: Duration, for signal: ChangeSignal, until isDone: () async -> Bool
    ) async -> Bool {
        var seen = signal.count
        if await isDone() { return true }
        let due = clock.now.advanced(by: limit)
        let timer = link.enqueue(at: due, on: clock) { $0.wake() }
        defer { timer.cancel() }
        while isRunning, clock.now < due {
            await signal.wait(after: seen)
            seen = signal.count
            if await isDone() { return true }
        }
        return false
    }

    /// Everything that waits looks at its time.
    private func wake() {
        changes.signal()
        for player in players { player.ticks.room.signal() }
    }
}

extension TickSender {
    /// Offers a value to one subscriber or to all of them.
    fileprivate func offer(
        _ value: [UInt8], of attribute: AttributeKey, to central: Central.ID?
    ) -> Result<SendResult, RadioError> {
        guard let manager = player.manager else {
            return .failure(RadioError(.invalidState, "the app \(player.device.label) has ended"))
        }
        do throws(RadioError) {
            let result = try manager.access.send(value, of: attribute, to: central.map { [$0] })
            noteFaults()
            return .success(result)
        } catch {
            return .failure(error)
        }
    }
}
