import Mynah
import MynahCore

/// A device's attributes in attribute order, which can be found by the names that users write.
struct DeviceAttributes {
    /// A characteristic's value or a descriptor.
    struct Attribute {
        var key: AttributeKey
        /// The unambiguous name of the attribute.
        var path: String
        var handle: AttributeHandle?
        var properties: CharacteristicProperties
        /// How the attribute's values are sent; a descriptor's value is never sent.
        var updates = UpdateRules()
    }

    let tree: AttributeTree
    private let services: [ServiceDefinition]
    private let handles: [AttributeKey: AttributeHandle]

    init(_ services: [ServiceDefinition], _ handles: [AttributeKey: AttributeHandle]) {
        self.services = services
        self.handles = handles
        tree = AttributeTree(
            services.map { service in
                .init(
                    uuid: service.uuid,
                    characteristics: service.characteristics.map { characteristic in
                        .init(
                            uuid: characteristic.uuid, handle: handles[characteristic.key],
                            descriptors: characteristic.descriptors.map {
                                .init(uuid: $0.uuid, handle: handles[$0.key])
                            })
                    })
            })
    }

    /// All attributes, each characteristic before its descriptors.
    var all: [Attribute] {
        services.indices.flatMap { service in
            services[service].characteristics.indices.flatMap { index in
                let characteristic = AttributeTree.Position(service: service, characteristic: index)
                let descriptors = services[service].characteristics[index].descriptors.indices.map {
                    AttributeTree.Position(service: service, characteristic: index, descriptor: $0)
                }
                return ([characteristic] + descriptors).compactMap { attribute(at: $0) }
            }
        }
    }

    /// Returns the named attribute, or `nil` if the name is that of a service, which has no value.
    func attribute(named name: AttributeName) throws(AttributeName.Problem) -> Attribute? {
        attribute(at: try name.resolve(in: tree))
    }

    private func attribute(at position: AttributeTree.Position) -> Attribute? {
        guard let index = position.characteristic else { return nil }
        let characteristic = services[position.service].characteristics[index]
        let path = tree.path(of: position)
        guard let number = position.descriptor else {
            return Attribute(
                key: characteristic.key, path: path, handle: handles[characteristic.key],
                properties: characteristic.properties, updates: characteristic.updates)
        }
        let descriptor = characteristic.descriptors[number]
        return Attribute(
            key: descriptor.key, path: path, handle: handles[descriptor.key],
            properties: descriptor.properties)
    }
}
