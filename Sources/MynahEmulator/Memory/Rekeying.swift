import MynahCore

// Equal services may have different attribute keys, such as after a state restoration.
extension [ServiceDefinition] {
    /// Returns the key in `other` that corresponds to each key of these services.
    ///
    /// Returns `nil` if the services differ in more than their keys.
    func keys(in other: [ServiceDefinition]) -> [AttributeKey: AttributeKey]? {
        let (mine, theirs) = (allKeys, other.allKeys)
        guard mine.count == theirs.count else { return nil }
        let mapping = Dictionary(zip(mine, theirs)) { first, _ in first }
        return map { $0.rekeyed(mapping) } == other ? mapping : nil
    }

    private var allKeys: [AttributeKey] {
        flatMap { service in
            [service.key] + service.characteristics.flatMap { [$0.key] + $0.descriptors.map(\.key) }
        }
    }
}

extension ServiceDefinition {
    func rekeyed(_ mapping: [AttributeKey: AttributeKey]) -> ServiceDefinition {
        var service = self
        service.key = mapping[key] ?? key
        service.includes = includes.map { mapping[$0] ?? $0 }
        for index in service.characteristics.indices {
            service.characteristics[index].key =
                mapping[characteristics[index].key] ?? characteristics[index].key
            for descriptor in service.characteristics[index].descriptors.indices {
                let old = characteristics[index].descriptors[descriptor].key
                service.characteristics[index].descriptors[descriptor].key = mapping[old] ?? old
            }
        }
        return service
    }
}

extension EmulatedDevice {
    func rekeyed(_ mapping: [AttributeKey: AttributeKey]) -> EmulatedDevice {
        var device = self
        device.services = services.map { $0.rekeyed(mapping) }
        device.table = table.rekeyed(mapping)
        device.responses.psm = responses.psm.map { mapping[$0] ?? $0 }
        device.responses.behaviors = responses.behaviors.map { $0.rekeyed(mapping) }
        return device
    }
}

extension AttributeTable {
    func rekeyed(_ mapping: [AttributeKey: AttributeKey]) -> AttributeTable {
        var table = AttributeTable()
        table.variables = variables
        for (key, entry) in entries { table.add(entry, as: mapping[key] ?? key) }
        return table
    }
}
