import MynahCore

/// The services that a device has published, with the changes of the faults.
///
/// Faults may have removed some services. The radio asks the device for values that a fault may change,
/// instead of answering by itself.
struct FaultedServices: Sendable {
    /// Services that were published together.
    struct Batch: Sendable {
        /// The services as defined by the device.
        var services: [ServiceDefinition]
        /// The radio's identifier of the batch, or `nil` if none of its services is published.
        var id: PublishedServices.ID?
        /// The keys of the batch's attributes that are published now.
        var shown: [AttributeKey]
    }

    private(set) var batches: [PublishedServices.ID: Batch] = [:]
    private var lastID: UInt32 = 0
    /// The static values, with which the radio or `FaultyRadio` answers reads without asking the device.
    private(set) var values: [AttributeKey: [UInt8]] = [:]
    /// The attributes with a static value.
    var keysWithValue: [AttributeKey] { values.keys.sorted { $0.rawValue < $1.rawValue } }

    /// The attributes with a static value that these faults may change, or all if `faults` is `nil`.
    func keys(readBy faults: [Fault]?) -> [AttributeKey] {
        guard let reads = faults?.filter({ $0.trigger == .on(.read) }) else { return keysWithValue }
        let keys = reads.compactMap(\.attribute)
        return keys.count < reads.count ? keysWithValue : keys.filter { values[$0] != nil }
    }

    /// The removed services and characteristics, by the name of the fault.
    private var removed: [String: AttributeKey] = [:]

    /// The services of a batch as they are to be published, without those that faults have removed.
    ///
    /// Attributes have their current static values. If `asks` returns `true`, the attribute has none, so that
    /// the radio asks the device.
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

    /// Sets the static values of services that are about to be published.
    mutating func willPublish(_ services: [ServiceDefinition]) {
        for characteristic in services.flatMap(\.characteristics) {
            values[characteristic.key] = characteristic.value
            for descriptor in characteristic.descriptors { values[descriptor.key] = descriptor.value }
        }
    }

    /// Adds a batch that the radio has published, and returns the identifier of the batch for the device.
    mutating func published(
        _ services: [ServiceDefinition], shown: [ServiceDefinition], as id: PublishedServices.ID?
    ) -> PublishedServices.ID {
        lastID += 1
        let outer = PublishedServices.ID(lastID)
        batches[outer] = Batch(services: services, id: id, shown: shown.attributeKeys)
        return outer
    }

    /// Removes a batch, and returns the radio's identifier of the batch, or `nil` if nothing of it is
    /// published.
    mutating func withdraw(_ id: PublishedServices.ID) -> PublishedServices.ID? {
        guard let batch = batches.removeValue(forKey: id) else { return nil }
        for key in batch.services.attributeKeys { values[key] = nil }
        return batch.id
    }

    /// Sets a static value, or removes it with `nil`.
    mutating func setValue(_ value: [UInt8]?, of key: AttributeKey) { values[key] = value }

    /// The properties of a published characteristic, or `nil` if it is not published.
    func properties(of key: AttributeKey) -> CharacteristicProperties? {
        batches.values.lazy.flatMap(\.services).flatMap(\.characteristics).first { $0.key == key }?.properties
    }

    // MARK: Faults

    /// Removes a service or characteristic for a fault; returns `false` if the fault has already removed it.
    mutating func remove(_ key: AttributeKey, by fault: String) -> Bool {
        removed.updateValue(key, forKey: fault) != key
    }

    /// Restores the service or characteristic that a fault removed; returns `false` if the fault removed
    /// none.
    mutating func restore(_ fault: String) -> Bool { removed.removeValue(forKey: fault) != nil }

    /// Returns a batch that must be published again, or `nil` if there is none.
    func nextChange(
        except refused: Set<PublishedServices.ID> = []
    ) -> (id: PublishedServices.ID, batch: Batch)? {
        let id = batches.filter { shown($0.value.services) { _ in false }.attributeKeys != $0.value.shown }
            .keys
            .filter { !refused.contains($0) }.min { $0.rawValue < $1.rawValue }
        return id.flatMap { id in batches[id].map { (id, $0) } }
    }

    /// Records that the radio no longer publishes a batch.
    ///
    /// Returns the radio's identifier of the batch, or `nil` if nothing of it was published.
    mutating func willWithdraw(_ id: PublishedServices.ID) -> PublishedServices.ID? {
        let inner = batches[id]?.id
        batches[id]?.id = nil
        return inner
    }

    /// Records the result of publishing a batch again; `inner` is `nil` if the radio has not published it.
    ///
    /// Returns `false` if the device withdrew the batch in the meantime.
    mutating func changed(
        _ id: PublishedServices.ID, to inner: PublishedServices.ID?, shown: [ServiceDefinition]
    ) -> Bool {
        guard batches[id] != nil else { return false }
        batches[id]?.id = inner
        batches[id]?.shown = shown.attributeKeys
        return true
    }

    /// Removes all batches, values and changes, after the radio was stopped.
    mutating func removeAll() {
        self = FaultedServices()
    }
}

extension [ServiceDefinition] {
    /// The keys of the services and of all their attributes, in order.
    fileprivate var attributeKeys: [AttributeKey] {
        flatMap { service in
            [service.key]
                + service.characteristics.flatMap { [$0.key] + $0.descriptors.map(\.key) }
        }
    }
}
