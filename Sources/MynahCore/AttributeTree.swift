/// A device's services, characteristics and descriptors in attribute order.
///
/// Attribute names are resolved in this tree.
package struct AttributeTree: Hashable, Sendable {
    package struct Service: Hashable, Sendable {
        /// The service's type.
        package var uuid: BluetoothUUID
        /// The characteristics, in order.
        package var characteristics: [Characteristic]

        package init(uuid: BluetoothUUID, characteristics: [Characteristic] = []) {
            self.uuid = uuid
            self.characteristics = characteristics
        }
    }

    package struct Characteristic: Hashable, Sendable {
        /// The characteristic's type.
        package var uuid: BluetoothUUID
        /// The handle of the characteristic's value, or `nil` if it is not known.
        package var handle: AttributeHandle?
        /// The descriptors, in order.
        package var descriptors: [Descriptor]

        package init(uuid: BluetoothUUID, handle: AttributeHandle? = nil, descriptors: [Descriptor] = []) {
            self.uuid = uuid
            self.handle = handle
            self.descriptors = descriptors
        }
    }

    package struct Descriptor: Hashable, Sendable {
        /// The descriptor's type.
        package var uuid: BluetoothUUID
        /// The attribute handle, or `nil` if it is not known.
        package var handle: AttributeHandle?

        package init(uuid: BluetoothUUID, handle: AttributeHandle? = nil) {
            self.uuid = uuid
            self.handle = handle
        }
    }

    /// The position of a service, a characteristic or a descriptor in the tree.
    package struct Position: Hashable, Sendable {
        /// The index of the service.
        package var service: Int
        /// The index of the characteristic in its service, or `nil` for a service.
        package var characteristic: Int?
        /// The index of the descriptor in its characteristic, or `nil` for a service or a characteristic.
        package var descriptor: Int?

        package init(service: Int, characteristic: Int? = nil, descriptor: Int? = nil) {
            self.service = service
            self.characteristic = characteristic
            self.descriptor = descriptor
        }

        var level: Level {
            descriptor != nil ? .descriptor : characteristic != nil ? .characteristic : .service
        }

        func ancestor(at level: Level) -> Position {
            switch level {
            case .service: Position(service: service)
            case .characteristic: Position(service: service, characteristic: characteristic)
            case .descriptor: self
            }
        }
    }

    enum Level: Int, CaseIterable, Sendable {
        case service, characteristic, descriptor
    }

    package let services: [Service]
    /// The numbers after `~` of the services, and of the characteristics of each service.
    ///
    /// The numbers are computed once, because a device may have thousands of attributes, and a caller may
    /// request all their names.
    private let serviceOrdinals: [Int?]
    private let characteristicOrdinals: [[Int?]]

    /// Makes a tree of these services.
    package init(_ services: [Service]) {
        self.services = services
        serviceOrdinals = Self.ordinals(of: services.map(\.uuid))
        characteristicOrdinals = services.map { Self.ordinals(of: $0.characteristics.map(\.uuid)) }
    }

    /// Returns the number of each UUID among equal ones, counted from 1, or `nil` if it occurs only once.
    private static func ordinals(of uuids: [BluetoothUUID]) -> [Int?] {
        var counts: [BluetoothUUID: Int] = [:]
        let numbers = uuids.map { uuid in
            let number = counts[uuid, default: 0] + 1
            counts[uuid] = number
            return number
        }
        return zip(uuids, numbers).map { counts[$0] == 1 ? nil : $1 }
    }

    /// Makes a tree from services of another type, with key paths or functions for their UUIDs and parts.
    package init<Whole, Part, Detail>(
        of services: [Whole],
        uuid: (
            service: KeyPath<Whole, BluetoothUUID>,
            characteristic: KeyPath<Part, BluetoothUUID>, descriptor: KeyPath<Detail, BluetoothUUID>
        ),
        characteristics: KeyPath<Whole, [Part]>, descriptors: KeyPath<Part, [Detail]>
    ) {
        self.init(
            services.map { service in
                Service(
                    uuid: service[keyPath: uuid.service],
                    characteristics: service[keyPath: characteristics].map { characteristic in
                        Characteristic(
                            uuid: characteristic[keyPath: uuid.characteristic],
                            descriptors: characteristic[keyPath: descriptors].map {
                                Descriptor(uuid: $0[keyPath: uuid.descriptor])
                            })
                    })
            })
    }

    /// Returns all positions at a level, in attribute order.
    func positions(at level: Level) -> [Position] {
        services.indices.flatMap { service -> [Position] in
            guard level != .service else { return [Position(service: service)] }
            let characteristics = services[service].characteristics
            return characteristics.indices.flatMap { characteristic -> [Position] in
                guard level != .characteristic else {
                    return [Position(service: service, characteristic: characteristic)]
                }
                return characteristics[characteristic].descriptors.indices.map {
                    Position(service: service, characteristic: characteristic, descriptor: $0)
                }
            }
        }
    }

    func uuid(at position: Position) -> BluetoothUUID {
        let service = services[position.service]
        guard let index = position.characteristic else { return service.uuid }
        let characteristic = service.characteristics[index]
        return position.descriptor.map { characteristic.descriptors[$0].uuid } ?? characteristic.uuid
    }

    func handle(at position: Position) -> AttributeHandle? {
        guard let index = position.characteristic else { return nil }
        let characteristic = services[position.service].characteristics[index]
        return position.descriptor.map { characteristic.descriptors[$0].handle } ?? characteristic.handle
    }

    // MARK: - Names

    /// Returns the number after `~` in an attribute's name, or `nil` if no sibling has the same UUID.
    package func ordinal(of position: Position) -> Int? {
        guard let characteristic = position.characteristic else { return serviceOrdinals[position.service] }
        guard let descriptor = position.descriptor else {
            return characteristicOrdinals[position.service][characteristic]
        }
        let siblings = services[position.service].characteristics[characteristic].descriptors.map(\.uuid)
        return Self.ordinals(of: siblings)[descriptor]
    }

    /// Returns the unambiguous name of an attribute, which starts with its service: `180F~2/2A19`.
    ///
    /// `text` converts a UUID to text; by default, with as few digits as possible.
    package func path(
        of position: Position, text: (BluetoothUUID) -> String = { $0.shortest.description }
    ) -> String {
        Level.allCases.filter { $0.rawValue <= position.level.rawValue }
            .map { step(of: position.ancestor(at: $0), text) }.joined(separator: "/")
    }

    /// Returns the path of an attribute, or `nil` if none of its steps needs a number after `~`.
    package func numberedPath(of position: Position) -> String? {
        let steps = Level.allCases.filter { $0.rawValue <= position.level.rawValue }
        return steps.contains { ordinal(of: position.ancestor(at: $0)) != nil } ? path(of: position) : nil
    }

    /// Returns the shortest unambiguous name of an attribute: its UUID, or else its path.
    package func shortName(
        of position: Position, text: (BluetoothUUID) -> String = { $0.shortest.description }
    ) -> String {
        let uuid = uuid(at: position)
        let isOnly = positions(at: position.level).count { self.uuid(at: $0) == uuid } == 1
        return isOnly ? text(uuid) : path(of: position, text: text)
    }

    private func step(of position: Position, _ text: (BluetoothUUID) -> String) -> String {
        text(uuid(at: position)) + (ordinal(of: position).map { "~\($0)" } ?? "")
    }
}
