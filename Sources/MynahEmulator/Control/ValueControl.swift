import Mynah
import MynahCore
import MynahLifecycle
import MynahProfiles
import MynahSupport
import MynahValues

/// Sets values and variables of devices, for tests.
struct ValueControl {
    let devices: PlayedDevices
    let reader: DeviceReader
    let links: LinkControl
    let changes: RunChanges

    /// The longest wait for space in the send queue of a link.
    private static var roomLimit: Duration { .seconds(10) }

    /// Sets the value of a device's attribute until the device is reset; this replaces a generator.
    ///
    /// With `notify`, the value is also sent to `central`, or to every subscriber if that is `nil`, as a
    /// notification or an indication. The call returns when every link has accepted the value. A value that
    /// is too long for every link is refused and not set.
    func setValue(
        _ written: WrittenValue, of name: AttributeName, in label: String, notify: Bool = false,
        to central: String? = nil
    ) async throws(ControlRefusal) -> SetResult {
        let player = try devices.player(named: label)
        let attribute = try reader.attribute(named: name, of: player)
        guard PlayedState(of: player).hasMemory, let entry = player.memory.table.entries[attribute.key] else {
            throw .conflict(PlayedState(of: player).noProcess("its values exist only while it runs"))
        }
        let layout = player.memory.table.layout(of: attribute.key)
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
            // A central or another test may have written the value in the meantime.
            if case .invalid = error, player.memory.table.stored(attribute.key) == value {
                await store(entry.source, in: attribute.key, of: player)
            }
            throw error
        }
    }

    /// Sets a variable of a device until the device is reset; values that depend on the variable change.
    func setVariable(
        _ name: String, to value: VariableValue, in label: String
    ) throws(ControlRefusal) {
        let player = try devices.player(named: label)
        var variables = player.memory.table.variables
        guard variables[name] != nil else {
            throw .unknown("variable", name, of: label, among: variables.names)
        }
        guard PlayedState(of: player).hasMemory else {
            throw .conflict(PlayedState(of: player).noProcess("its variables exist only while it runs"))
        }
        _ = variables.set(name, to: value)
        do throws(LayoutProblem) {
            try player.reactions.setVariables(variables)
        } catch {
            throw .invalid("a value that reads \(name) cannot be made: \(error.message)")
        }
    }

    /// Stores a value in the table, and passes a static value to the radio.
    func store(_ source: AttributeTable.Source, in key: AttributeKey, of player: DevicePlayer) async {
        player.memory.table.set(source, of: key)
        guard case .stored(let value) = source, player.memory.device.services.staticValue(of: key) != nil
        else {
            return
        }
        player.memory.device.services.setStaticValue(value, of: key)
        await player.manager?.access.setStaticValue(value, of: key)
    }

    /// Returns the central to notify, or `nil` for every subscriber.
    private func target(
        _ name: String?, of attribute: DeviceAttributes.Attribute, of player: DevicePlayer
    ) async throws(ControlRefusal) -> Central? {
        guard !attribute.properties.isDisjoint(with: .anyUpdate) else {
            throw .invalid("\(attribute.path) neither notifies nor indicates")
        }
        if player.memory.device.app != nil, player.memory.appSide.app?.access.isRunning != true {
            throw .conflict(
                "the app \(player.memory.device.label) is not running: it is "
                    + PlayedState(of: player).app.rawValue
            )
        }
        guard let name else { return nil }
        let central = try await links.central(named: name)
        guard let subscribers = player.manager?.access.subscribers(of: attribute.key),
            subscribers.areAddressable
        else { throw .conflict("this radio cannot send a value to one central alone") }
        guard subscribers.named.contains(central.id) else {
            throw .conflict("\(name) is not subscribed to \(attribute.path)")
        }
        return central
    }

    /// Sends a value as soon as every link can accept it.
    ///
    /// Returns the number of centrals, or `nil` if the radio cannot count them.
    private func notify(
        _ value: [UInt8], of key: AttributeKey, of player: DevicePlayer, to central: Central?
    ) async throws(ControlRefusal) -> Int? {
        let updates = player.sender.updates
        updates.noteExtraneous(key)
        var outcome: Result<SendResult, RadioError> = .success(.full)
        let subscribers = player.manager?.access.subscribers(of: key)
        let hasRoom = await changes.wait(atMost: Self.roomLimit, for: updates.room) {
            outcome = updates.offer(value, of: key, to: central?.id)
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
            updates.reportNotified(value, of: key, to: central?.id, among: subscribers?.named ?? [])
        }
        return known
    }
}
