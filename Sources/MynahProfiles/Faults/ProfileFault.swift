package import MynahCore
package import MynahFaults
package import MynahValues

/// A fault as declared in a profile, or as added by a test.
package struct ProfileFault: Hashable, Sendable {
    /// The fault; the keys of its attributes are valid only in the result of `resolved`.
    package var fault: Fault
    /// The characteristic or descriptor to which the fault applies, or `nil` for all attributes.
    package var attribute: AttributeTree.Position?
    /// The service or the characteristic that `changeServices` removes, or `nil` for any other effect.
    package var removed: AttributeTree.Position?
    /// The properties of `attribute`, or `nil` if the fault applies to all attributes.
    package var properties: CharacteristicProperties?
    /// The position of the fault in the file.
    package var mark: SourceMark
    /// The position of each field by its key.
    package var marks: [String: SourceMark]

    /// Returns the fault with the keys of the device's attributes; `key` returns the key of a position.
    package func resolved(_ key: (AttributeTree.Position) -> AttributeKey) -> Fault {
        var fault = fault
        fault.attribute = attribute.map(key)
        if let removed { fault.effect = .changeServices(removing: key(removed)) }
        return fault
    }

    /// Returns the reason that the fault cannot be carried out, and the position of the field that causes
    /// it.
    ///
    /// `problem` returns the reason for a fault, or `nil`. If no field alone causes the problem, the
    /// position is that of the effect or of the whole fault.
    func located(_ problem: (Fault) -> String?) -> (mark: SourceMark, message: String)? {
        guard let message = problem(fault) else { return nil }
        let parts: [(key: String, remove: (inout Fault) -> Void)] = [
            ("of", { ($0.attribute, $0.isOfConfiguration) = (nil, false) }),
            ("central", { $0.selection.central = nil }),
            ("nth", { $0.selection.nth = .all }), ("times", { $0.selection.times = nil }),
            ("chance", { $0.selection.chance = 1 }), ("delay", { $0.delay = .zero }),
        ]
        let blamed = parts.first { part in
            var other = fault
            part.remove(&other)
            return other != fault && problem(other) != message
        }
        let effect =
            fault.effect == nil ? "delay" : FaultEffectSection.effects.map(\.name).first { marks[$0] != nil }
        return (marks[blamed?.key ?? effect ?? ""] ?? mark, message)
    }
}

/// The device to which faults are added.
package struct FaultScope: Sendable {
    /// The device's attributes.
    let index: AttributeIndex
    var tree: AttributeTree { index.tree }
    /// Whether an app plays the device.
    package var isApp: Bool
    /// The device's advertisement, or `nil` if it does not advertise.
    package var advertisement: Advertisement?
    /// The device's GAP appearance, or `nil` if it has none.
    package var appearance: UInt16?
    /// The device's variables, which conditions compare.
    package var variables: Variables
    /// A function that returns a characteristic or descriptor, or `nil` for a service.
    package var attribute: @Sendable (AttributeTree.Position) -> Attribute?
    /// `true` if all attributes of the device are known; otherwise, an unknown name may be valid.
    var isWhole = true

    /// The properties and the layout of a characteristic or a descriptor.
    package struct Attribute: Sendable {
        package var properties: CharacteristicProperties
        /// The layout of the attribute's value, or `nil` if there is none.
        package var layout: ValueLayout?
        /// `true` if the attribute is a characteristic with a Client Characteristic Configuration (0x2902).
        package var hasConfiguration: Bool

        package init(
            _ properties: CharacteristicProperties, _ layout: ValueLayout? = nil,
            hasConfiguration: Bool = false
        ) {
            self.properties = properties
            self.layout = layout
            self.hasConfiguration = hasConfiguration
        }
    }

    /// The names of an app's states in events.
    package static let appStates = [
        "notRunning", "foreground", "background", "suspended", "terminated", "quit",
    ]

    /// Makes the scope of a device.
    package init(
        _ tree: AttributeTree, isApp: Bool, advertisement: Advertisement?, variables: Variables,
        attribute: @escaping @Sendable (AttributeTree.Position) -> Attribute?
    ) {
        index = AttributeIndex(tree)
        self.isApp = isApp
        self.advertisement = advertisement
        self.variables = variables
        self.attribute = attribute
    }

    /// Makes the scope of a profile.
    init(_ profile: Profile, isWhole: Bool) {
        let (services, isApp) = (profile.services, profile.app != nil)
        self.init(
            profile.attributeTree, isApp: profile.app != nil,
            advertisement: profile.advertising?.largest, variables: profile.variables
        ) { position in
            guard let index = position.characteristic else { return nil }
            let characteristic = services[position.service].characteristics[index]
            guard let number = position.descriptor else {
                let hasConfiguration =
                    !isApp && !characteristic.properties.isDisjoint(with: .anyUpdate)
                    && characteristic.updates.subscription != .none
                return Attribute(
                    characteristic.properties, characteristic.layout, hasConfiguration: hasConfiguration)
            }
            return Attribute(characteristic.descriptors[number].properties)
        }
        self.isWhole = isWhole
        appearance = profile.device.appearance
    }
}
