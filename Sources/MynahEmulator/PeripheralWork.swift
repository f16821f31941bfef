import Mynah
import MynahCore
import MynahProfiles
import MynahSupport

/// An app's work on a link: it discovers, reads, subscribes and writes, in this order.
///
/// Failures are reported, and the rest is still done, unless the link or the app has ended.
struct PeripheralWork {
    private let entry: Profile.Central.Peripheral
    private let peripheral: Peripheral
    private let report: (DeviceEvent.Name, (EventPeripheral) -> EventPayload) -> Void
    private let room: ChangeSignal

    init(
        _ entry: Profile.Central.Peripheral, on peripheral: Peripheral, _ room: ChangeSignal,
        report: @escaping (DeviceEvent.Name, (EventPeripheral) -> EventPayload) -> Void
    ) {
        self.entry = entry
        self.peripheral = peripheral
        self.room = room
        self.report = report
    }

    /// Returns whether values may come.
    func run() async throws(RequestError) -> Bool {
        try await discover()
        for name in entry.read {
            guard let characteristic = await find(name) else { continue }
            var value: [UInt8] = []
            let failure = try await failure { () async throws(RequestError) in
                value = try await peripheral.readValue(for: characteristic)
            }
            report(.valueRead, characteristic, failure) { if failure == nil { $0.value = value } }
        }
        var isSubscribed = false
        for name in entry.subscribe {
            guard let characteristic = await find(name) else { continue }
            let failure = try await failure { () async throws(RequestError) in
                try await peripheral.setNotifyValue(true, for: characteristic)
            }
            if failure == nil { isSubscribed = true }
            report(.notificationChanged, characteristic, failure) { $0.isOn = failure == nil }
        }
        for write in entry.writes { try await self.write(write) }
        return isSubscribed
    }

    /// Writes a value.
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
            use.take(failure)
            return .remote(use)
        }
    }

    /// Returns why a step failed, or `nil` if it was done; throws what ends all of the work.
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
        let needed = NeededAttributes(entry.names)
        let services: [DiscoveredService]
        switch entry.discovery {
        case .none: return
        case .all: services = try await peripheral.discoverServices()
        case .needed:
            let types = needed.services
            guard types?.isEmpty != true else { return }
            services = try await peripheral.discoverServices(types)
        }
        report(.servicesDiscovered) { .remote(.init($0, uuids: services.map(\.uuid))) }
        for service in services {
            let types = entry.discovery == .all ? nil : needed.characteristics(of: service.uuid)
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

    /// The characteristic of a name, or `nil` after a warning.
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
