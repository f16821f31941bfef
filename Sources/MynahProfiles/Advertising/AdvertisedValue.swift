package import MynahCore

/// A value in an advertisement that changes over time.
package struct AdvertisedValue: Sendable {
    /// The name of the set.
    package var set = "1"
    /// The payload that it is in.
    package var payload: AdvertisingPayload
    /// The place of the value in that payload.
    package var place: Place
    /// The generator of the bytes.
    package var definition: any GeneratorDefinition
    /// The time between two values.
    package var every: Duration = .seconds(1)

    /// The field of a payload, and which of its entries.
    package enum Place: Hashable, Sendable {
        case manufacturerData(Int)
        case serviceData(Int)
    }

    /// The bytes with which a generator of any seed begins.
    var first: [UInt8] {
        definition.makeGenerator(for: GeneratorRun(seed: 0, interval: every)).value(at: 0)
    }

    /// Puts bytes in its place.
    ///
    /// A place that a test has taken out of the advertisement stays empty.
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
    /// The advertisement with as many bytes as its values ever have.
    var largest: Advertisement {
        var largest = advertisement
        for value in values {
            value.put(Array(repeating: 0, count: value.definition.maximumLength), in: &largest)
        }
        return largest
    }
}

extension AdvertisementChange {
    /// Whether the change has bytes of its own where a value of its set would be.
    package func replaces(_ value: AdvertisedValue) -> Bool {
        let contents = value.payload == .data ? data : scanResponse
        return switch value.place {
        case .manufacturerData: contents.manufacturerData != nil
        case .serviceData: contents.serviceData != nil
        }
    }
}
