import MynahCore

/// The services that a device has published, with the changes of the faults: some services are gone, and some
/// reads go to the faults that the radio would answer by itself.
struct FaultedServices: Sendable {
    /// Services that were published together.
    struct Batch: Sendable {
        /// The services as the device defines them.
        var services: [ServiceDefinition]
        /// The batch of the radio, or `nil` if none of the services is on the radio.
        var id: PublishedServices.ID?
        /// The keys of the attributes that are on the radio.
        var shown: [AttributeKey]
    }

    private(set) var batches: [PublishedServices.ID: Batch] = [:]
    private var lastID: UInt32 = 0
    /// The values that the radio answers by itself, or that the layer answers for it.
    private(set) var values: [AttributeKey: [UInt8]] = [:]
    /// The attributes that have such a value.
    var keysWithValue: [AttributeKey] { values.keys.sorted { $0.rawValue < $1.rawValue } }

    /// The attributes whose reads faults are for, of those that have such a value; all of them for `nil`.
    func keys(readBy faults: [Fault]?) -> [AttributeKey] {
        guard let reads = faults?.filter({ $0.trigger == .on(.read) }) else { return keysWithValue }
        let keys = reads.compactMap(\.attribute)
        return keys.count < reads.count ? keysWithValue : keys.filter { values[$0] != nil }
    }

    /// The services and characteristics that are gone, by the name of the fault.
    private var removed: [String: AttributeKey] = [:]

    /// The services of a batch that are not gone, with the values of now; values of attributes that the sink
    /// is asked for are left out.
    func shown(_ services: [ServiceDefinition], asks: (AttributeKey) -> Bool) -> [ServiceDefinition] {
        let gone = Set(removed.values)
        var result = services.filter { !gone.contains($0.key) }
        for index in result.indices {
            result[index].includes.removeAll(where: gone.contains)
            result[index].characteristics.removeAll { gone.contains($0.key) }
            for place in result[index].characteristics.indices {
                var characteristic = result[index].characteristics[place]
                characteristic.value = value(of: characteristic.key, asks)
                for number in characteristic.descriptors.indices {
                    let key = characteristic.descriptors[number].key
                    characteristic.descriptors[number].value = value(of: key, asks)
                }
                result[index].characteristics[place] = characteristic
            }
        }
        return result
    }

    private func value(of key: AttributeKey, _ asks: (AttributeKey) -> Bool) -> [UInt8]? {
        asks(key) ? nil : values[key]
    }

    // MARK: The device's calls

    /// Notes the values of services that are about to be published.
    mutating func willPublish(_ services: [ServiceDefinition]) {
        for characteristic in services.flatMap(\.characteristics) {
            values[characteristic.key] = characteristic.value
            for descriptor in characteristic.descriptors { values[descriptor.key] = descriptor.value }
        }
    }

    /// Notes a batch that the radio has published, and returns the device's identifier of it.
    mutating func published(
        _ services: [ServiceDefinition], shown: [ServiceDefinition], as id: PublishedServices.ID?
    ) -> PublishedServices.ID {
        lastID += 1
        let outer = PublishedServices.ID(lastID)
        batches[outer] = Batch(services: services, id: id, shown: shown.attributeKeys)
        return outer
    }

    /// Forgets a batch; returns the radio's identifier of it.
    mutating func withdraw(_ id: PublishedServices.ID) -> PublishedServices.ID? {
        guard let batch = batches.removeValue(forKey: id) else { return nil }
        for key in batch.services.attributeKeys { values[key] = nil }
        return batch.id
    }

    /// Notes a value, or `nil` if there is none.
    mutating func setValue(_ value: [UInt8]?, of key: AttributeKey) { values[key] = value }

    /// The properties of a published characteristic, or `nil` if it is not published.
    func properties(of key: AttributeKey) -> CharacteristicProperties? {
        batches.values.lazy.flatMap(\.services).flatMap(\.characteristics).first { $0.key == key }?.properties
    }

    // MARK: Faults

    /// Something is gone because of a fault; returns `false` if it is already.
    mutating func remove(_ key: AttributeKey, by fault: String) -> Bool {
        removed.updateValue(key, forKey: fault) != key
    }

    /// Restores the service or characteristic that a fault removed; returns `false` if it removed none.
    mutating func restore(_ fault: String) -> Bool { removed.removeValue(forKey: fault) != nil }

    /// A batch that has to be changed on the radio, or `nil` if there is none.
    func nextChange(
        except refused: Set<PublishedServices.ID> = []
    ) -> (id: PublishedServices.ID, batch: Batch)? {
        let id = batches.filter { shown($0.value.services) { _ in false }.attributeKeys != $0.value.shown }
            .keys
            .filter { !refused.contains($0) }.min { $0.rawValue < $1.rawValue }
        return id.flatMap { id in batches[id].map { (id, $0) } }
    }

    /// Notes that the radio has withdrawn a batch; returns the radio's identifier of the batch, or `nil` if
    /// there was none.
    mutating func willWithdraw(_ id: PublishedServices.ID) -> PublishedServices.ID? {
        let inner = batches[id]?.id
        batches[id]?.id = nil
        return inner
    }

    /// The radio has published a batch anew, or failed to if `inner` is `nil`; returns `false` if the batch
    /// was withdrawn meanwhile.
    mutating func changed(
        _ id: PublishedServices.ID, to inner: PublishedServices.ID?, shown: [ServiceDefinition]
    ) -> Bool {
        guard batches[id] != nil else { return false }
        batches[id]?.id = inner
        batches[id]?.shown = shown.attributeKeys
        return true
    }

    /// The radio is stopped.
    mutating func removeAll() {
        self = FaultedServices()
    }
}

extension [ServiceDefinition] {
    /// The keys of the services and of everything in them, in order.
    fileprivate var attributeKeys: [AttributeKey] {
        flatMap { service in
            [service.key]
                + service.characteristics.flatMap { [$0.key] + $0.descriptors.map(\.key) }
        }
    }
}
