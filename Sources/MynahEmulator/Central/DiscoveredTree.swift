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
