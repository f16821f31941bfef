package import MynahCore

/// A value in an advertisement that changes over time.
package struct AdvertisedValue: Sendable {
    /// The name of the advertising set.
    package var set = "1"
    /// The payload that contains the value.
    package var payload: AdvertisingPayload
    /// The field entry in the payload that contains the value.
    package var place: Place
    /// The generator that makes the bytes.
    package var definition: any GeneratorDefinition
    /// The time between two changes of the value.
    package var every: Duration = .seconds(1)

    /// A field of a payload, with the index of one of its entries.
    package enum Place: Hashable, Sendable {
        case manufacturerData(Int)
        case serviceData(Int)
    }

    /// The first bytes that the generator makes with the seed 0.
    var first: [UInt8] {
        definition.makeGenerator(for: GeneratorRun(seed: 0, interval: every)).value(at: 0)
    }

    /// Replaces the value's bytes in an advertisement.
    ///
    /// Does nothing if a test has removed the entry from the advertisement.
    package func put(_ bytes: [UInt8], in advertisement: inout Advertisement) {
        if advertisement.name == set {
            put(bytes, inOne: &advertisement)
        } else {
            for index in advertisement.otherSets.indices where advertisement.otherSets[index].name == set {
                put(bytes, inOne: &advertisement.otherSets[index])
            }
        }
    }

    private func put(_ bytes: [UInt8], inOne advertisement: inout Advertisement) {
        switch payload {
        case .data: put(bytes, into: &advertisement.data)
        case .scanResponse: put(bytes, into: &advertisement.scanResponse)
        }
    }

    private func put(_ bytes: [UInt8], into contents: inout Advertisement.Contents) {
        switch place {
        case .manufacturerData(let index):
            if contents.manufacturerData.indices.contains(index) {
                contents.manufacturerData[index].data = bytes
            }
        case .serviceData(let index):
            if contents.serviceData.indices.contains(index) { contents.serviceData[index].data = bytes }
        }
    }
}

extension Profile.Advertising {
    /// The advertisement in which each changing value has its greatest length.
    var largest: Advertisement {
        var largest = advertisement
        for value in values {
            value.put(Array(repeating: 0, count: value.definition.maximumLength), in: &largest)
        }
        return largest
    }
}

extension AdvertisementChange {
    /// Whether the change replaces the field that contains a value of the set.
    package func replaces(_ value: AdvertisedValue) -> Bool {
        let contents = value.payload == .data ? data : scanResponse
        return switch value.place {
        case .manufacturerData: contents.manufacturerData != nil
        case .serviceData: contents.serviceData != nil
        }
    }
}
