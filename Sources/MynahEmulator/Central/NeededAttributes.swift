import MynahCore

/// The services and characteristics that an app must discover to resolve the attribute names in its profile.
struct NeededAttributes {
    private let names: [AttributeName]

    init(_ names: [AttributeName]) {
        self.names = names
    }

    /// The services to discover: `nil` for all services, and empty if the profile names no attribute.
    var services: [BluetoothUUID]? {
        var services: Set<BluetoothUUID> = []
        for name in names {
            guard let types = name.serviceTypes else { return nil }
            services.formUnion(types)
        }
        return services.sorted { $0.description < $1.description }
    }

    /// Returns the characteristics to discover in a service; empty if the profile names none in the service.
    func characteristics(of service: BluetoothUUID) -> [BluetoothUUID] {
        let own = names.filter { $0.serviceTypes?.contains(service) ?? true }
        return Set(own.flatMap(\.types)).sorted { $0.description < $1.description }
    }
}
