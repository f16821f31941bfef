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
    /// Returns the unambiguous path of a descriptor, such as `180F~2/2A19/2904~2`, or `nil` if the UUIDs are
    /// unique.
    func path(of descriptor: RemoteDescriptor) -> String? {
        let twins = (descriptors ?? []).filter { $0.uuid == descriptor.uuid }
        let ordinal = twins.count > 1 ? twins.firstIndex { $0.handle == descriptor.handle } : nil
        guard path != nil || ordinal != nil else { return nil }
        return (path ?? "\(service.shortest)/\(uuid.shortest)")
            + "/\(descriptor.uuid.shortest)" + (ordinal.map { "~\($0 + 1)" } ?? "")
    }

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
