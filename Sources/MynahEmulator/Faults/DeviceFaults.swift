import Mynah
import MynahCore
import MynahFaults
import MynahProfiles
package import MynahSupport

/// The state of a device's fault at one moment.
package struct DeviceFault: Hashable, Sendable {
    package var name: String
    /// `true` if the fault is turned off.
    package var isOff: Bool
    /// The number of times that the fault was applied since it was turned on.
    package var applied: Int

    /// Makes the state of a fault.
    package init(name: String, isOff: Bool, applied: Int) {
        self.name = name
        self.isOff = isOff
        self.applied = applied
    }

    /// The fault as one JSON object.
    package var json: JSON {
        .object([
            .init("name", .string(name)), .init("off", .bool(isOff)), .init("applied", .integer(applied)),
        ])
    }
}

extension EmulatedDevice {
    /// The attributes and variables of the device, to which its faults can refer.
    var faultScope: FaultScope {
        let (services, table) = (services, table)
        var scope = FaultScope(
            DeviceAttributes(services, [:]).tree, isApp: app != nil, advertisement: advertisement,
            variables: table.variables
        ) { position in
            guard let index = position.characteristic else { return nil }
            let characteristic = services[position.service].characteristics[index]
            guard let number = position.descriptor else {
                return .init(
                    characteristic.properties, table.layout(of: characteristic.key),
                    hasConfiguration: characteristic.configurationKey != nil)
            }
            return .init(characteristic.descriptors[number].properties)
        }
        scope.appearance = identity.appearance
        return scope
    }

    /// Returns a declared fault with the keys of its attributes, and with a random generator seeded by the
    /// device's seed.
    func fault(_ declared: ProfileFault) -> Fault {
        var fault = declared.resolved { position in
            let service = services[position.service]
            guard let index = position.characteristic else { return service.key }
            let characteristic = service.characteristics[index]
            if declared.fault.isOfConfiguration, let key = characteristic.configurationKey { return key }
            return position.descriptor.map { characteristic.descriptors[$0].key } ?? characteristic.key
        }
        fault.seed = Fault.seed(of: fault.name, seed)
        return fault
    }
}

/// The device that each fault of a radio belongs to.
///
/// The apps of a phone share its radio, and may have faults with the same name.
struct FaultOwners: Sendable {
    /// A fault of a device.
    struct Owned: Hashable, Sendable {
        /// The device's name in events.
        var label: String
        /// The fault's name in its profile.
        var name: String
    }

    private var owned: [String: Owned] = [:]
    private var radioNames: [Owned: String] = [:]
    /// The names of the faults on the radio, by device, in the order in which they were added.
    private var ofDevices: [String: [String]] = [:]
    private var centrals: [Central.ID: Central] = [:]

    /// Adds a device's fault, and returns it with a name that is unique on the radio.
    mutating func add(_ fault: Fault, of label: String) -> Fault {
        var fault = fault
        let owner = Owned(label: label, name: fault.name)
        var number = 1
        while owned[fault.name] != nil {
            number += 1
            fault.name = "\(owner.name)~\(number)"
        }
        owned[fault.name] = owner
        radioNames[owner] = fault.name
        ofDevices[label, default: []].append(fault.name)
        return fault
    }

    /// Removes faults of a device; `names` are their names on the radio.
    mutating func remove(_ names: [String], of label: String) {
        for name in names {
            guard let owner = owned.removeValue(forKey: name) else { continue }
            radioNames[owner] = nil
        }
        let gone = Set(names)
        ofDevices[label]?.removeAll(where: gone.contains)
    }

    /// The device and the declared name of a fault, by its name on the radio.
    subscript(radioName: String) -> Owned? { owned[radioName] }

    /// Returns the name on the radio of a device's fault, or `nil` if the device has no fault with this
    /// name.
    func radioName(of name: String, of label: String) -> String? {
        radioNames[Owned(label: label, name: name)]
    }

    /// Returns the names on the radio of a device's faults, in the order in which they were added.
    func radioNames(of label: String) -> [String] { ofDevices[label] ?? [] }

    /// Returns a connected central, or `nil` if it is not connected.
    func central(_ id: Central.ID) -> Central? { centrals[id] }

    /// Updates the connected centrals after an event.
    mutating func note(_ event: PhoneEvent) {
        switch event {
        case .connected(let central), .centralChanged(let central): centrals[central.id] = central
        case .disconnected(let central): centrals[central.id] = nil
        case .lost: centrals = [:]
        default: break
        }
    }
}
