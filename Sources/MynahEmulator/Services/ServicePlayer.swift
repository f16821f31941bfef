import Mynah
import MynahCore
import MynahProfiles
import MynahSupport
import MynahValues

/// Runs the behaviors of a device's services: passes requests to them, and carries out their effects.
///
/// The service player belongs to the device's player, and runs on the phone's executor. Values that a write
/// causes are sent after the write response.
final class ServicePlayer {
    private struct Place {
        var service: Int
        var characteristic: BluetoothUUID
    }

    private let memory: DeviceMemory
    private let answers: AnswerSender
    private let link: PlayerLink
    private var services: [BehavingService] = []
    /// The attributes whose writes a behavior answers.
    private var handled: [AttributeKey: Place] = [:]
    /// The task that sleeps until a behavior must act.
    private var sleeping: Task<Void, Never>?

    /// Makes the behaviors of a device, or returns `nil` if no service has one.
    init?(of memory: DeviceMemory, with answers: AnswerSender, _ link: PlayerLink) {
        guard !memory.device.responses.behaviors.isEmpty else { return nil }
        self.memory = memory
        self.answers = answers
        self.link = link
    }

    // MARK: Life

    /// Starts the behaviors when the device starts, and again after the device's values were reset.
    func begin() {
        stop()
        services = memory.device.responses.behaviors
        handled = [:]
        for index in services.indices {
            for characteristic in services[index].behavior.handled {
                // If the profile sets an error for the attribute, it takes precedence over the behavior.
                guard let key = services[index].attributes[characteristic],
                    memory.table.entries[key]?.writeError == nil
                else { continue }
                handled[key] = Place(service: index, characteristic: characteristic)
            }
            carryOut(services[index].behavior.begin(state(of: index)), of: index)
        }
    }

    /// Restarts the behaviors, which send their new state to subscribers.
    func restart() {
        for index in services.indices {
            let state = state(of: index)
            carryOut(services[index].behavior.begin(state), of: index)
        }
        deliver()
    }

    /// Pauses the behaviors until `resume()` is called.
    func stop() {
        sleeping?.cancel()
        sleeping = nil
    }

    /// Continues the behaviors if the device may act (`DeviceMemory.canAct`).
    func resume() {
        guard memory.canAct else { return }
        deliver()
    }

    /// Passes a new link of a central to the behaviors.
    func linkBegan(of central: Central) {
        for index in services.indices {
            carryOut(services[index].behavior.linkBegan(central.id), of: index, central)
        }
    }

    /// Passes the end of a central's link to the behaviors, and discards the values that wait for it.
    func forgetLink(of central: Central) {
        for index in services.indices {
            let state = state(of: index)
            let follows = services[index].behavior.linkEnded(central.id, isLost: central.isLost, state)
            carryOut(follows, of: index, central)
        }
        sleep()
    }

    /// Passes a new subscription to its behavior; `central` is `nil` if the radio does not identify it.
    func subscribed(_ central: Central?, to key: AttributeKey) {
        guard let place = place(of: key) else { return }
        let state = state(of: place.service)
        let follows = services[place.service].behavior.subscribed(
            central?.id, to: place.characteristic, state)
        carryOut(follows, of: place.service)
        // Values are sent after the response to the write of the configuration.
        deliverLater()
    }

    /// Passes the end of a subscription to its behavior; `central` is `nil` if the radio does not identify
    /// it.
    func unsubscribed(_ central: Central?, from key: AttributeKey) {
        guard let place = place(of: key) else { return }
        services[place.service].behavior.unsubscribed(central?.id, from: place.characteristic)
    }

    /// Passes a confirmation to its behavior; `central` is `nil` if the radio does not identify it.
    func confirmed(_ central: Central?, _ key: AttributeKey) {
        guard let place = place(of: key) else { return }
        let state = state(of: place.service)
        let follows = services[place.service].behavior.confirmed(central?.id, place.characteristic, state)
        carryOut(follows, of: place.service)
        deliver()
    }

    private func place(of key: AttributeKey) -> Place? {
        for (index, service) in services.enumerated() {
            guard let found = service.attributes.first(where: { $0.value == key }) else { continue }
            return Place(service: index, characteristic: found.key)
        }
        return nil
    }

    /// Changes the state of the first behavior of a type, and sends the resulting values.
    ///
    /// Returns `nil` if no service has such a behavior.
    func change<Behavior: ServiceBehavior, Result>(
        _ type: Behavior.Type, _ body: (inout Behavior, any ServiceState) -> Result?
    ) -> Result? {
        for index in services.indices {
            guard var behavior = services[index].behavior as? Behavior else { continue }
            guard let result = body(&behavior, state(of: index)) else { continue }
            services[index].behavior = behavior
            deliver()
            return result
        }
        return nil
    }

    /// Whether only a behavior sends the values of this attribute.
    func sends(_ key: AttributeKey) -> Bool {
        services.contains { service in service.behavior.sent.contains { service.attributes[$0] == key } }
    }

    // MARK: Reads

    /// Returns a behavior's answer to a read, or `nil` if the stored value is the answer.
    func read(_ request: ReadRequest, _ central: Central) -> PendingReply.Outcome? {
        guard let place = handled[request.attribute] else { return nil }
        do throws(ATTError) {
            let state = state(of: place.service)
            guard
                let value = try services[place.service].behavior.read(
                    place.characteristic, by: central.id, state)
            else { return nil }
            guard (0...value.count).contains(request.offset) else { return .failure(.invalidOffset) }
            return .success(Array(value[request.offset...]))
        } catch {
            return .failure(error)
        }
    }

    // MARK: Writes

    /// Carries out a write that the radio has permitted.
    ///
    /// A behavior answers the write, or the value is stored, unless the profile sets an error for it.
    static func carryOut(
        _ request: WriteRequest, _ central: Central, by behaviors: ServicePlayer?, in memory: DeviceMemory
    ) -> PendingReply.Outcome {
        behaviors?.write(request, central) ?? memory.table.write(request)
    }

    /// Carries out all parts of a write, or returns the first error and changes nothing.
    private func write(_ request: WriteRequest, _ central: Central) -> PendingReply.Outcome {
        guard request.parts.contains(where: { handled[$0.attribute] != nil }) else {
            return memory.table.write(request)
        }
        // A refused write changes nothing.
        let before = services
        do throws(ATTError) {
            var values = try memory.table.effect(of: request)
            var effects: [(service: Int, effects: [ServiceEffect])] = []
            for attribute in request.parts.map(\.attribute) {
                guard let place = handled[attribute], let value = values.removeValue(forKey: attribute) else {
                    continue
                }
                let state = state(of: place.service)
                let follows = try services[place.service].behavior.write(
                    value, to: place.characteristic, by: central.id, state)
                effects.append((place.service, follows))
            }
            memory.table.store(values)
            for (service, effects) in effects { carryOut(effects, of: service) }
            deliverLater()
            return .success([])
        } catch {
            services = before
            return .failure(error)
        }
    }

    private func state(of index: Int) -> PlayedService {
        PlayedService(memory: memory, service: services[index], answers: answers)
    }

    /// Carries out a behavior's effects; `central` is the central that caused them, whose link may have
    /// ended.
    private func carryOut(_ effects: [ServiceEffect], of index: Int, _ central: Central? = nil) {
        for effect in effects {
            switch effect {
            case .store(let value, let characteristic):
                guard let key = services[index].attributes[characteristic] else { continue }
                memory.table.set(.stored(value), of: key)
            case .change(let change, let characteristic):
                guard let key = services[index].attributes[characteristic] else { continue }
                self.change(key, change)
            case .send(let value, let characteristic, let central):
                guard let key = services[index].attributes[characteristic] else { continue }
                answers.add(value, of: key, to: central)
            case .alert(let level, let characteristic, let id, let cause):
                guard let key = services[index].attributes[characteristic] else { continue }
                let central = central ?? memory.manager?.access.central(id)
                memory.report(.alertChanged, on: key, central) {
                    $0.value = [level]
                    $0.reason = cause.rawValue
                }
            case .restart:
                link.emulator.enqueue { [index = link.index] in await $0.control.rules.restart(index) }
            }
        }
    }

    private func change(_ key: AttributeKey, _ change: ValueChange?) {
        guard let source = memory.device.table.entries[key]?.source else { return }
        // A value that a test has set takes precedence over the behavior's change.
        if case .stored(let value) = memory.table.entries[key]?.source {
            guard case .stored(value) = source else { return }
        }
        guard let change else { return memory.table.set(source, of: key) }
        let layout = memory.table.layout(of: key)
        memory.table.set(.computed(ChangedValue(original: source, change: change, layout: layout)), of: key)
    }

    // MARK: Sending

    /// Schedules `deliver` after the response to the current request.
    private func deliverLater() {
        link.emulator.enqueue { [index = link.index] in
            $0.player(index)?.sender.behaviors?.resume()
        }
    }

    /// Sends queued values as the send queues allow, and schedules the next action of the behaviors.
    func deliver() {
        answers.deliver()
        sleep()
    }

    /// The earliest time at which a behavior must act, or `nil` if none must.
    ///
    /// Behaviors that wait for space in a send queue are left out.
    private var due: Duration? { services.indices.compactMap { dueTime(of: $0) }.min() }

    private func dueTime(of index: Int) -> Duration? { services[index].behavior.due(state(of: index)) }

    private func sleep() {
        stop()
        guard memory.canAct, let since = memory.since, let due else { return }
        sleeping = link.emulator.enqueue(at: since.advanced(by: due), on: memory.clock) {
            [index = link.index] in
            $0.player(index)?.sender.behaviors?.wake()
        }
    }

    private func wake() {
        guard memory.canAct, let due, due <= memory.elapsed else { return sleep() }
        for index in services.indices where dueTime(of: index).map({ $0 <= memory.elapsed }) == true {
            let state = state(of: index)
            carryOut(services[index].behavior.tick(state), of: index)
        }
        deliver()
    }
}

/// A value of the profile, with the change that a behavior makes.
private struct ChangedValue: VariableReader {
    let original: AttributeTable.Source
    let change: ValueChange
    let layout: ValueLayout?

    var names: Set<String> { if case .computed(let reader) = original { reader.names } else { [] } }

    func value(at tick: UInt64) -> [UInt8] { value(at: tick, Variables()) }

    func value(at tick: UInt64, _ variables: Variables) -> [UInt8] {
        change.value(original.value(at: tick, variables), at: tick, layout: layout)
    }
}

/// The state of a service that its player passes to the behavior.
private struct PlayedService: ServiceState {
    let memory: DeviceMemory
    let service: BehavingService
    let answers: AnswerSender

    var now: Duration { memory.elapsed }

    func value(of characteristic: BluetoothUUID) -> [UInt8]? {
        service.attributes[characteristic].flatMap { memory.table.value(of: $0, at: now) }
    }

    func original(of characteristic: BluetoothUUID, at tick: UInt64) -> [UInt8]? {
        service.attributes[characteristic].flatMap {
            memory.device.table.entries[$0]?.source.value(at: tick, memory.table.variables)
        }
    }

    func tick(of characteristic: BluetoothUUID) -> UInt64 {
        UInt64(max(0, TickSchedule.number(at: now, every: interval(of: characteristic))))
    }

    func interval(of characteristic: BluetoothUUID) -> Duration {
        service.intervals[characteristic] ?? AttributeTable.usualTick
    }

    func layout(of characteristic: BluetoothUUID) -> ValueLayout? {
        service.attributes[characteristic].flatMap { memory.table.layout(of: $0) }
    }

    func isSubscribed(_ central: Peer.ID, to characteristic: BluetoothUUID) -> Bool {
        guard let subscribers = found(characteristic) else { return false }
        return subscribers.hasUnnamed || subscribers.named.contains(central)
    }

    func targets(of characteristic: BluetoothUUID) -> [Peer.ID?] {
        service.attributes[characteristic].map { answers.targets(of: $0) } ?? []
    }

    func subscribers(of characteristic: BluetoothUUID) -> [Peer.ID] { found(characteristic)?.named ?? [] }

    func hasSubscribers(of characteristic: BluetoothUUID) -> Bool {
        found(characteristic).map { $0.hasUnnamed || !$0.named.isEmpty } ?? false
    }

    private func found(_ characteristic: BluetoothUUID) -> ManagerAccess.Subscribers? {
        service.attributes[characteristic].flatMap { memory.manager?.access.subscribers(of: $0) }
    }

    func isSending(_ characteristic: BluetoothUUID, to central: Peer.ID) -> Bool {
        service.attributes[characteristic].map { answers.outbox.contains($0, for: central) } ?? false
    }

    func isSending(to central: Peer.ID) -> Bool {
        service.attributes.values.contains { answers.outbox.contains($0, for: central) }
    }

    func longestUpdate(to central: Peer.ID) -> Int {
        memory.manager?.access.central(central)?.maximumUpdateValueLength
            ?? GATT.defaultMTU - GATT.notificationHeaderLength
    }
}
