package import Mynah
package import MynahCore

extension AttributeTree {
    /// Makes the attribute tree of the services that were discovered on a device.
    package init(_ services: [DiscoveredService]) {
        self.init(
            services.map { service in
                Service(
                    uuid: service.uuid,
                    characteristics: service.characteristics.map { characteristic in
                        Characteristic(
                            uuid: characteristic.uuid, handle: characteristic.id,
                            descriptors: (characteristic.descriptors ?? []).map {
                                Descriptor(uuid: $0.uuid, handle: $0.handle)
                            })
                    })
            })
    }
}

extension DiscoveredCharacteristic {
    /// Returns the characteristic with its path among the discovered services of its device.
    package func numbered(in services: [DiscoveredService]) -> DiscoveredCharacteristic {
        let sameServices = services.count { $0.uuid == service }
        for (index, own) in services.enumerated() where own.uuid == service {
            guard let position = own.characteristics.firstIndex(where: { $0.id == id }) else { continue }
            let siblings = own.characteristics.count { $0.uuid == uuid }
            guard sameServices > 1 || siblings > 1 else { return self }
            var numbered = self
            numbered.path = AttributeTree(services).numberedPath(
                of: .init(service: index, characteristic: position))
            return numbered
        }
        return self
    }
}
