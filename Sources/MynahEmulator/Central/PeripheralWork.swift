import Mynah
import MynahCore
import MynahProfiles
import MynahSupport

/// The steps that an app has completed on a link; they are remembered after the app's process ends.
struct WorkProgress {
    /// A read or a write in the profile, by its index.
    enum Step: Hashable {
        case read(Int)
        case write(Int)
    }

    /// The steps that the peripheral has answered.
    var done: Set<Step> = []
    /// `true` if an earlier process began the work, so that discoveries and subscriptions are restored.
    var isResumed = false
    /// The number of the wake in which the link was established.
    var wake: Int?
}

/// An app's work on a link: it discovers, reads, subscribes and writes, in this order.
///
/// Writes that the profile schedules for a later time are not part of it. Failures are reported, and the
/// remaining steps are still done, unless the link or the app has ended. Work that an earlier process began
/// continues at the step where it stopped.
struct PeripheralWork {
    private let entry: Profile.Central.Peripheral
    private let peripheral: Peripheral
    private let progress: WorkProgress
    private let room: ChangeSignal
    private let note: (WorkProgress.Step) -> Void
    private let report: (DeviceEvent.Name, (EventPeripheral) -> EventPayload) -> Void
    private let talk: (any L2CAPChannel) -> Void

    init(
        _ entry: Profile.Central.Peripheral, on peripheral: Peripheral, _ progress: WorkProgress,
        _ room: ChangeSignal, note: @escaping (WorkProgress.Step) -> Void,
        report: @escaping (DeviceEvent.Name, (EventPeripheral) -> EventPayload) -> Void,
        talk: @escaping (any L2CAPChannel) -> Void
    ) {
        self.entry = entry
        self.peripheral = peripheral
        self.progress = progress
        self.room = room
        self.note = note
        self.report = report
        self.talk = talk
    }

    /// Does the work, and returns whether the peripheral may send values afterwards.
    func run() async throws(RequestError) -> Bool {
        try await discover()
        for (index, name) in entry.read.enumerated() where !progress.done.contains(.read(index)) {
            guard let characteristic = await find(name) else { continue }
            var value: [UInt8] = []
            let failure = try await failure { () async throws(RequestError) in
                value = try await peripheral.readValue(for: characteristic)
            }
            note(.read(index))
            report(.valueRead, characteristic, failure) { if failure == nil { $0.value = value } }
        }
        var isSubscribed = false
        for name in entry.subscribe {
            guard let characteristic = await find(name) else { continue }
            guard !progress.isResumed || characteristic.delivery == nil else {
                isSubscribed = true
                continue
            }
            let failure = try await failure { () async throws(RequestError) in
                try await peripheral.setNotifyValue(true, for: characteristic)
            }
            if failure == nil { isSubscribed = true }
            report(.notificationChanged, characteristic, failure) { $0.isOn = failure == nil }
        }
        for (index, write) in entry.writes.enumerated()
        where write.after == nil && !progress.done.contains(.write(index)) {
            try await self.write(write)
            note(.write(index))
        }
        guard let channel = entry.channel else { return isSubscribed }
        return try await open(channel) || isSubscribed
    }

    /// Opens an L2CAP channel, and returns whether it is open.
    private func open(_ own: Profile.Channel) async throws(RequestError) -> Bool {
        guard let characteristic = await find(own.psm) else { return false }
        var opened: (any L2CAPChannel)?
        let failure = try await failure { () async throws(RequestError) in
            let value = try await peripheral.readValue(for: characteristic)
            guard let psm = Self.psm(in: value) else {
                let length = value.count.counting("byte")
                let message = "\(own.psm.text) has no PSM: its value has \(length), not 2"
                throw .failed(RadioError(.channelRefused, message))
            }
            opened = try await peripheral.openL2CAPChannel(psm)
        }
        if let failure { report(.error) { .notice(.init(failure.description, $0)) } }
        if let opened { talk(opened) }
        return opened != nil
    }

    func write(_ write: Profile.Central.Write) async throws(RequestError) {
        guard let characteristic = await find(write.target) else { return }
        let type: Peripheral.WriteType = write.withResponse ? .withResponse : .withoutResponse
        let failure = try await failure { () async throws(RequestError) in
            var seen = room.count
            while try await !peripheral.writeValue(write.value, for: characteristic, type: type) {
                await room.wait(after: seen)
                seen = room.count
            }
        }
        report(.valueWritten, characteristic, failure) {
            $0.value = write.value
            $0.withResponse = write.withResponse
        }
    }

    private func report(
        _ name: DeviceEvent.Name, _ characteristic: DiscoveredCharacteristic, _ failure: RequestError?,
        _ fill: (inout EventPayload.RemoteUse) -> Void
    ) {
        report(name) { peripheral in
            var use = EventPayload.RemoteUse(peripheral, EventAttribute(characteristic))
            fill(&use)
            use.set(failure)
            return .remote(use)
        }
    }

    /// Runs a step, and returns the error with which it failed, or `nil` if it succeeded.
    ///
    /// Throws if the error ends all of the work.
    private func failure(
        _ body: () async throws(RequestError) -> Void
    ) async throws(RequestError) -> RequestError? {
        do throws(RequestError) {
            try await body()
            return nil
        } catch {
            if case .failed(let trouble) = error, [.disconnected, .invalidState].contains(trouble.code) {
                throw error
            }
            guard await peripheral.isConnected else { throw error }
            return error
        }
    }

    private func discover() async throws(RequestError) {
        guard entry.discovery != .none else { return }
        let restored = progress.isResumed ? await peripheral.services : []
        let tree = AttributeTree(restored)
        let missingNames = entry.names.filter { (try? $0.resolve(in: tree)) == nil }
        let needed = entry.discovery == .all ? nil : NeededAttributes(missingNames)
        let types = needed?.services
        var services = restored
        let missing = types?.filter { type in !restored.contains { $0.uuid == type } }
        if missing?.isEmpty != true, missing != nil || restored.isEmpty {
            let found = try await peripheral.discoverServices(missing)
            report(.servicesDiscovered) { .remote(.init($0, uuids: found.map(\.uuid))) }
            services = (restored + found).sorted { $0.id < $1.id }
        }
        for service in services {
            let known = service.characteristics.map(\.uuid)
            // All services were discovered at once.
            if needed == nil, !known.isEmpty { continue }
            let types = needed?.characteristics(of: service.uuid).filter { !known.contains($0) }
            guard types?.isEmpty != true else { continue }
            var found: [DiscoveredCharacteristic] = []
            let failure = try await failure { () async throws(RequestError) in
                found = try await peripheral.discoverCharacteristics(types, for: service)
            }
            if let failure {
                report(.error) { .notice(.init(failure.description, $0)) }
                continue
            }
            report(.characteristicsDiscovered) {
                .remote(.init($0, .init(service: service.uuid), uuids: found.map(\.uuid)))
            }
        }
    }

    /// Returns the named attribute as events describe it; empty if there is none.
    func attribute(of name: AttributeName) -> EventAttribute {
        let services = peripheral.look { $0.services }
        guard let position = try? name.resolve(in: AttributeTree(services)),
            let index = position.characteristic
        else { return .init() }
        return EventAttribute(services[position.service].characteristics[index])
    }

    /// Returns the named characteristic, or warns and returns `nil` if there is none.
    private func find(_ name: AttributeName) async -> DiscoveredCharacteristic? {
        let services = await peripheral.services
        do throws(AttributeName.Problem) {
            let position = try name.resolve(in: AttributeTree(services))
            guard let index = position.characteristic, position.descriptor == nil else { return nil }
            return services[position.service].characteristics[index]
        } catch {
            report(.warning) { .notice(.init(code: "attributeMissing", error.message, $0)) }
            return nil
        }
    }
}
