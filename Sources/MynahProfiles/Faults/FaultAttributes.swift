import MynahCore
import MynahFaults
import MynahSupport

// Resolves the attributes that the section `faults:` names.
extension FaultScope {
    /// Returns the characteristic or descriptor that the value of a key names; reports an unknown name.
    func position(_ node: YAMLNode, _ key: String, _ reader: FormatReader) -> AttributeTree.Position? {
        reader.text(node, key).flatMap { position($0, at: node, key, reader) }
    }

    /// Returns the characteristic of a named Client Characteristic Configuration (0x2902).
    ///
    /// Returns `nil` if the text names something else.
    func configuration(_ node: YAMLNode, _ reader: FormatReader) -> AttributeTree.Position? {
        guard let text = node.scalar?.string,
            let name = try? AttributeName(parsing: text), name.types.contains(GATT.clientConfiguration),
            let slash = text.lastIndex(of: "/"),
            let position = try? AttributeName(parsing: String(text[..<slash])).resolve(in: index),
            position.characteristic != nil, position.descriptor == nil,
            attribute(position)?.hasConfiguration == true
        else { return nil }
        return position
    }

    /// Returns the service or characteristic that `remove` names; reports an unknown name.
    func removed(_ node: YAMLNode, _ reader: FormatReader) -> AttributeTree.Position? {
        guard let text = reader.text(node, "remove") else { return nil }
        if !text.contains("/"), let (word, ordinal) = try? AttributeName.splitOrdinal(text),
            let uuid = BluetoothUUID(word) ?? AssignedNumbers.service(named: word)
        {
            let found = tree.services.indices.filter { tree.services[$0].uuid == uuid }
            if let ordinal, found.indices.contains(ordinal - 1) { return .init(service: found[ordinal - 1]) }
            if ordinal == nil, found.count == 1 { return .init(service: found[0]) }
            if !found.isEmpty {
                let names = found.map { tree.path(of: .init(service: $0)) }
                reader.error(
                    at: node,
                    "the device has \(found.count) services called \(word): name \(Words.list(names, "or"))")
                return nil
            }
        }
        let position = position(text, at: node, "remove", reader)
        if position?.descriptor != nil {
            reader.error(
                at: node, "remove takes a service or a characteristic, and \(Words.quote(text)) is neither")
        }
        return position
    }

    private func position(
        _ text: String, at node: YAMLNode, _ key: String, _ reader: FormatReader
    ) -> AttributeTree.Position? {
        guard !text.hasPrefix("@") else {
            reader.error(at: node, "a profile has no handles; name the attribute, as in \(key): 180D/2A37")
            return nil
        }
        var parsed: AttributeName?
        do throws(AttributeName.Problem) {
            let name = try AttributeName(parsing: text)
            parsed = name
            return try name.resolve(in: index)
        } catch {
            guard isWhole else { return nil }
            if let parsed, Self.isMadeByRadio(parsed) {
                reader.error(
                    at: node, "\(Words.quote(text)) belongs to the radio, which has no faults for it")
            } else {
                // Other messages, such as that about several matching attributes, already list the choices.
                let isUnknown = error.message == "the device has no \(text)"
                let near = isUnknown ? nearest(text, key) : nil
                reader.error(at: node, error.message + (near.map { "; did you mean \"\($0)\"?" } ?? ""))
            }
            return nil
        }
    }

    /// Returns the known attribute name that is nearest to a text; for the key `remove`, services are
    /// included.
    private func nearest(_ text: String, _ key: String) -> String? {
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

    /// Whether a name is that of an attribute that the radio itself adds.
    ///
    /// These are the attributes of the services 1800 and 1801, and some descriptors.
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
