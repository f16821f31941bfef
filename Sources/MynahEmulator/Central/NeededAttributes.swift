import MynahCore

/// The services and characteristics to discover, so that the names in a profile can be resolved.
struct NeededAttributes {
    private let names: [AttributeName]

    init(_ names: [AttributeName]) {
        self.names = names
    }

    /// The services to discover: `nil` for all, and empty if the profile names none.
    var services: [BluetoothUUID]? {
        var services: Set<BluetoothUUID> = []
        for name in names {
            guard let types = name.serviceTypes else { return nil }
            services.formUnion(types)
        }
        return services.sorted { $0.description < $1.description }
    }

    /// The characteristics to discover in a service; empty if the profile names none of the service.
    func characteristics(of service: BluetoothUUID) -> [BluetoothUUID] {
        let own = names.filter { $0.serviceTypes?.contains(service) ?? true }
        return Set(own.flatMap(\.types)).sorted { $0.description < $1.description }
    }
}
