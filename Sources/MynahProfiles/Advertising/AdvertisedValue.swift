package import MynahCore

/// A value in an advertisement that changes over time.
package struct AdvertisedValue: Sendable {
    /// The name of the advertising set.
    package var set = "1"
    /// The payload that contains the value.
    package var payload: AdvertisingPayload
    /// The field of the payload that contains the value, with the index of the entry in this field.
    package var place: Place
    /// The value's position in the profile, as `strap.yaml:4:9`.
    package var location = ""
    /// The generator that makes the bytes.
    package var definition: any GeneratorDefinition
    /// The time between two changes of the value.
    package var every: Duration = .seconds(1)

    /// A field of a payload, with the index of one of its entries.
    package enum Place: Hashable, Sendable {
        case manufacturerData(Int)
        case serviceData(Int)
    }

    /// The field that has the value, in words.
    package var fieldWords: String {
        let field =
            switch place {
            case .manufacturerData: "manufacturerData"
            case .serviceData: "serviceData"
            }
        return payload == .data ? field : "\(field) of the scan response"
    }

    /// The value with which the device starts, made by the generator with the seed 0.
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
        case .periodic:
            guard var periodic = advertisement.periodic else { return }
            put(bytes, into: &periodic.contents)
            advertisement.periodic = periodic
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
    /// Whether the change replaces the field of the advertisement that contains this value.
    package func replaces(_ value: AdvertisedValue) -> Bool {
        let contents: ContentsChange? =
            switch value.payload {
            case .data: data
            case .scanResponse: scanResponse
            case .periodic: (periodic ?? nil)?.contents
            }
        return switch value.place {
        case .manufacturerData: contents?.manufacturerData != nil
        case .serviceData: contents?.serviceData != nil
        }
    }
}
