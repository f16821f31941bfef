import MynahCore

/// Which services and characteristics have to be discovered, so that names lead to what they mean.
struct NeededAttributes {
    private let names: [AttributeName]

    init(_ names: [AttributeName]) {
        self.names = names
    }

    /// The services to look for: `nil` if all of them, and none if nothing is named.
    var services: [BluetoothUUID]? {
        var services: Set<BluetoothUUID> = []
        for name in names {
            guard let types = name.serviceTypes else { return nil }
            services.formUnion(types)
        }
        return services.sorted { $0.description < $1.description }
    }

    /// The characteristics to look for in a service; none if none of the service is named.
    func characteristics(of service: BluetoothUUID) -> [BluetoothUUID] {
        let own = names.filter { $0.serviceTypes?.contains(service) ?? true }
        return Set(own.flatMap(\.types)).sorted { $0.description < $1.description }
    }
}
