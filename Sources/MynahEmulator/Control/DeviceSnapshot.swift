package import MynahCore
package import MynahLifecycle
package import MynahProfiles
package import MynahSupport
package import MynahValues

/// The state of a device at one moment: its advertising, its links and its values.
package struct DeviceSnapshot: Hashable, Sendable {
    /// A connected central.
    package struct Central: Hashable, Sendable {
        /// The central's name in events.
        package var name: String
        /// The ATT_MTU of the central's link, or `nil` if it is not known yet.
        package var mtu: Int?
        /// Whether the central's link is encrypted, or `nil` if the radio does not report it.
        package var isEncrypted: Bool?
        /// `true` if the central is bonded.
        package var isBonded: Bool
        /// The paths of the attributes that the central is subscribed to, or `nil` if the radio does not
        /// identify subscribers.
        package var subscriptions: [String]?
    }

    /// A limit of the device's links.
    package struct Limit: Hashable, Sendable {
        /// The key in the profile that sets the limit.
        package var key: String
        package var number: Int
    }

    package struct Scenario: Hashable, Sendable {
        package var name: String
        /// `true` if the scenario is being played.
        package var isPlaying: Bool
    }

    /// A characteristic's value or a descriptor.
    package struct Attribute: Hashable, Sendable {
        /// The unambiguous name of the attribute, such as `180D/2A37`.
        package var path: String
        /// The attribute handle, or `nil` if the attribute is not published or the radio does not report it.
        package var handle: AttributeHandle?
        /// The names of the attribute's properties.
        package var properties: [String]
        /// How the values of the attribute are sent.
        package var updates: UpdateRules
        /// The current value, or `nil` if the device's app has no process and therefore no values.
        package var value: [UInt8]?
        /// The layout of the attribute's value, or `nil` if it is not known.
        package var layout: ValueLayout?
    }

    /// The device's name in events.
    package var device: String
    /// The name of the device's radio.
    package var radio: String
    /// The address of the device's radio, or `nil` if it is not known.
    package var address: DeviceAddress?
    /// The Bluetooth state.
    package var state: RadioState
    /// The state of the app that plays the device, or `nil` for an accessory.
    package var app: AppState?
    /// The permission of that app to use Bluetooth, or `nil` for an accessory.
    package var authorization: BluetoothAuthorization?
    /// The name of the phone that the app is on, or `nil` if it has none.
    package var phone: String?
    /// The data that the device advertises.
    package var advertising: AdvertisingReport
    /// The names of the advertising sets of the profile.
    package var setNames: [String]
    /// The requested service UUIDs, from which the services in an overflow area can be recognized.
    package var advertisedServices: [BluetoothUUID]
    /// The limits of the device's links.
    package var limits: [Limit]
    /// The connected centrals.
    package var centrals: [Central]
    package var variables: Variables
    /// The device's faults: those of its profile, then those added by tests, each in order.
    package var faults: [DeviceFault]
    /// The device's scenarios, in the order of its profile.
    package var scenarios: [Scenario]
    /// The device's attributes, in attribute order.
    package var attributes: [Attribute]

    /// The snapshot as one JSON object, with the same keys as events use.
    package var json: JSON {
        var members: [JSON.Member] = [
            .init("device", .string(device)), .init("radio", .string(radio)),
        ]
        if let address { members.append(.init("address", .string(address.description))) }
        members += [
            .init("state", .string(state.rawValue)),
            .init("app", appJSON),
        ]
        if let phone { members.append(.init("phone", .string(phone))) }
        if !limits.isEmpty {
            members.append(.init("limits", .object(limits.map { .init($0.key, .integer($0.number)) })))
        }
        members += [
            .init("advertising", advertisingJSON),
            .init("centrals", .array(centrals.map(\.json))),
            .init("variables", variables.json), .init("faults", .array(faults.map(\.json))),
            .init("scenarios", .array(scenarios.map(\.json))),
            .init("attributes", .array(attributes.map(\.json))),
        ]
        return .object(members)
    }

    /// The advertising sets on the air, and then those of the profile that are not on the air.
    private var advertisingJSON: JSON {
        var all = advertising
        let known = Set(([all] + all.otherSets).lazy.filter(\.isOn).map(\.set))
        guard setNames.count > 1 else { return json(of: all) }
        for name in setNames where !known.contains(name) {
            var silent = AdvertisingReport.silent
            silent.set = name
            all.otherSets.append(silent)
        }
        return json(of: all)
    }

    /// Returns the JSON of one advertising set: the members of an advertising event, and its AD structures.
    private func json(of set: AdvertisingReport) -> JSON {
        var alone = set
        alone.otherSets = []
        var members = EventPayload.advertising(alone).members(of: .advertisingChanged)
        members.append(
            .init(
                "structures",
                .object([
                    .init("data", structuresJSON(set.data)),
                    .init("scanResponse", structuresJSON(set.scanResponse)),
                ])))
        if !set.otherSets.isEmpty { members.append(.init("sets", .array(set.otherSets.map(json)))) }
        return .object(members)
    }

    private func structuresJSON(_ bytes: [UInt8]) -> JSON {
        let names = ADNames(among: advertisedServices, serviceName: AssignedNumbers.displayName(of:))
        return .array(
            [ADStructure].decode(bytes).structures.map { structure in
                let (name, text) = names.words(of: structure)
                let rest = Hex.encode(ADNames.bytesWithoutWords(of: structure))
                return .object([
                    .init("type", .integer(Int(structure.type.rawValue))), .init("name", .string(name)),
                    .init("data", .string(Hex.encode(structure.data))),
                    .init("text", .string([text, rest].filter { !$0.isEmpty }.joined(separator: " "))),
                ])
            })
    }

    private var appJSON: JSON {
        guard let app else { return .null }
        var members: [JSON.Member] = [.init("state", .string(app.rawValue))]
        if let authorization { members.append(.init("authorization", .string(authorization.rawValue))) }
        return .object(members)
    }
}

extension DeviceSnapshot.Central {
    fileprivate var json: JSON {
        var members: [JSON.Member] = [.init("central", .string(name))]
        if let mtu { members.append(.init("mtu", .integer(mtu))) }
        if let isEncrypted { members.append(.init("encrypted", .bool(isEncrypted))) }
        members.append(.init("bonded", .bool(isBonded)))
        if let subscriptions {
            members.append(.init("subscriptions", .array(subscriptions.map { .string($0) })))
        }
        return .object(members)
    }
}

extension DeviceSnapshot.Scenario {
    fileprivate var json: JSON {
        .object([.init("name", .string(name)), .init("playing", .bool(isPlaying))])
    }
}

extension DeviceSnapshot.Attribute {
    fileprivate var json: JSON {
        var members: [JSON.Member] = [.init("path", .string(path))]
        if let handle { members.append(.init("handle", .handle(handle))) }
        members.append(.init("properties", .array(properties.map { .string($0) })))
        switch updates.subscription {
        case .asked: break
        case .none: members.append(.init("subscription", "none"))
        case .always: members.append(.init("subscription", "always"))
        }
        if updates.isInPieces { members.append(.init("pieces", "mtu")) }
        if let value { members += JSON.members(of: value, layout) }
        return .object(members)
    }
}
