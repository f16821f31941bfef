import Mynah
import MynahCore
import MynahProfiles

extension EmulatedDevice {
    /// The services that iOS lets the app publish, or all services of an accessory, in their order.
    ///
    /// iOS reserves some services for itself. A service that includes a reserved one is left out too.
    var allowedServices: [ServiceDefinition] {
        guard app != nil else { return services }
        var missing: Set<AttributeKey> = []
        return services.filter { service in
            let isAllowed =
                AppleServices.reserved(service.uuid) == nil && missing.isDisjoint(with: service.includes)
            if !isAllowed { missing.insert(service.key) }
            return isAllowed
        }
    }

    /// Publishes the allowed services, and reports those that the system refuses.
    ///
    /// `isCurrent` returns `false` if the app's process, to which the manager belongs, has ended.
    func add(
        to manager: PeripheralManager, _ events: EventReporter, while isCurrent: () -> Bool
    ) async throws(RadioError) {
        let allowed = allowedServices
        func report(_ service: ServiceDefinition, _ message: String) {
            let place = EventAttribute(service: service.uuid)
            let code = RadioError.Code.uuidNotAllowed.rawValue
            events.report(.error, .notice(.init(code: code, message, on: place)))
        }
        for service in services where !allowed.contains(where: { $0.key == service.key }) {
            guard AppleServices.reserved(service.uuid) != nil else {
                report(service, "the service \(service.uuid) includes a service that iOS refuses")
                continue
            }
            do throws(RadioError) {
                try await manager.add(service)
            } catch {
                guard isCurrent(), error.code == .uuidNotAllowed else { throw error }
                report(service, "\(error.message) (CBError \(error.coreBluetoothCode))")
            }
        }
        if !allowed.isEmpty { try await manager.add(allowed) }
    }
}
