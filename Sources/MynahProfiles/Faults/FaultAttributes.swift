import MynahCore
import MynahSupport

// The attributes that `faults:` names.
extension ProfileDecoder {
    /// The characteristic or the descriptor that `of` names.
    mutating func faultAttribute(_ node: YAMLNode, in scope: FaultScope) -> AttributeTree.Position? {
        guard let text = text(node, "of") else { return nil }
        return attribute(text, at: node, "of", in: scope)
    }

    /// The service or the characteristic that `remove` names.
    mutating func removedAttribute(_ node: YAMLNode, in scope: FaultScope) -> AttributeTree.Position? {
        guard let text = text(node, "remove") else { return nil }
        if !text.contains("/"), let (word, ordinal) = try? AttributeName.splitOrdinal(text),
            let uuid = BluetoothUUID(word) ?? AssignedNumbers.service(named: word)
        {
            let tree = scope.tree
            let found = tree.services.indices.filter { tree.services[$0].uuid == uuid }
            if let ordinal, found.indices.contains(ordinal - 1) { return .init(service: found[ordinal - 1]) }
            if ordinal == nil, found.count == 1 { return .init(service: found[0]) }
            if !found.isEmpty {
                let names = found.map { tree.path(of: .init(service: $0)) }
                error(
                    at: node,
                    "the device has \(found.count) services called \(word): name \(Self.list(names, "or"))")
                return nil
            }
        }
        let position = attribute(text, at: node, "remove", in: scope)
        if position?.descriptor != nil {
            error(at: node, "remove takes a service or a characteristic, and \(Self.quote(text)) is neither")
        }
        return position
    }

    private mutating func attribute(
        _ text: String, at node: YAMLNode, _ key: String, in scope: FaultScope
    ) -> AttributeTree.Position? {
        guard !text.hasPrefix("@") else {
            error(at: node, "a profile has no handles; name the attribute, as in \(key): 180D/2A37")
            return nil
        }
        var parsed: AttributeName?
        do throws(AttributeName.Problem) {
            let name = try AttributeName(parsing: text)
            parsed = name
            return try name.resolve(in: scope.index)
        } catch {
            guard scope.isWhole else { return nil }
            if let parsed, Self.isMadeByRadio(parsed) {
                self.error(
                    at: node, "\(Self.quote(text)) belongs to the radio, which has no faults for it")
            } else {
                // The message about several attributes, or another number of one, has its choices.
                let isUnknown = error.message == "the device has no \(text)"
                let near = isUnknown ? nearest(text, in: scope.tree, key) : nil
                self.error(at: node, error.message + (near.map { "; did you mean \"\($0)\"?" } ?? ""))
            }
            return nil
        }
    }

    /// The device's own attribute with the nearest name; `remove` takes services too.
    private func nearest(_ text: String, in tree: AttributeTree, _ key: String) -> String? {
        let services = key == "remove" ? tree.services.map(\.uuid) : []
        var names = services.flatMap { uuid in
            [uuid.shortest.description] + [AssignedNumbers.name(of: uuid)].compactMap { $0 }
        }
        names += tree.services.indices.flatMap { service in
            tree.services[service].characteristics.indices.flatMap { index -> [String] in
                let position = AttributeTree.Position(service: service, characteristic: index)
                let uuid = tree.services[service].characteristics[index].uuid
                let name = tree.shortName(of: position)
                return [name, tree.path(of: position)] + [AssignedNumbers.name(of: uuid)].compactMap { $0 }
            }
        }
        return NearestName.of(text, among: names)
    }

    /// Whether a name means an attribute of the services 1800 and 1801, or a descriptor that the radio adds.
    private static func isMadeByRadio(_ name: AttributeName) -> Bool {
        let services: Set<BluetoothUUID> = [GATT.genericAccess, GATT.genericAttribute]
        if let types = name.serviceTypes, !types.isDisjoint(with: services) { return true }
        return !name.types.isDisjoint(with: madeByRadio)
    }

    /// The characteristics of the services 1800 and 1801, and the descriptors that the radio adds (Core
    /// Specification, Vol 3, Part C, 12, and Part G, 3.3.3.1, 3.3.3.3 and 7).
    private static let madeByRadio: Set<BluetoothUUID> = [
        "2A00", "2A01", "2A04", "2AA6", "2AC9", "2B88", "2BF5", "2A05", "2B29", "2B2A", "2B3A",
        GATT.clientConfiguration, GATT.extendedProperties, GATT.genericAccess, GATT.genericAttribute,
    ]
}
