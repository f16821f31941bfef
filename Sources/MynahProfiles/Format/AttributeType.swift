import MynahCore
import MynahSupport

/// The type of attribute that a UUID identifies.
///
/// The SIG has assigned the UUIDs of each type, and no UUID has two types.
enum AttributeType: String {
    case service, characteristic, descriptor

    var names: [String] {
        switch self {
        case .service: AssignedNumbers.serviceNames
        case .characteristic: AssignedNumbers.characteristicNames
        case .descriptor: AssignedNumbers.descriptorNames
        }
    }

    func uuid(named name: String) -> BluetoothUUID? {
        switch self {
        case .service: AssignedNumbers.service(named: name)
        case .characteristic: AssignedNumbers.characteristic(named: name)
        case .descriptor: AssignedNumbers.descriptor(named: name)
        }
    }

    /// The schema of a UUID: a number of any width, or a SIG name.
    ///
    /// The names of attributes that the radio itself adds are excluded, and so are assigned numbers of other
    /// types.
    var schema: Schema {
        let made: Set<BluetoothUUID> = [
            GATT.genericAccess, GATT.genericAttribute, GATT.extendedProperties, GATT.clientConfiguration,
        ]
        let pattern =
            "^((0[xX])?[0-9A-Fa-f]{4}|(0[xX])?[0-9A-Fa-f]{8}|[0-9A-Fa-f]{32}"
            + "|[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12})$"
        let refused = (UInt16(0x2800)...0x29FF).filter { number in
            let uuid = BluetoothUUID(number)
            return AssignedNumbers.isDeclaration(uuid)
                || self != .descriptor && AssignedNumbers.isDescriptor(uuid)
        }
        return Schema.anyOf([
            .words(names.filter { name in uuid(named: name).map { !made.contains($0) } ?? true }),
            Schema([.init("type", "string"), .init("pattern", .string(pattern))]),
            Schema([.init("type", "number")]),
        ]).with([.init("not", Self.anySpelling(of: refused).json)])
    }

    /// Returns the schema of assigned numbers in every form in which an editor may read them.
    ///
    /// An editor reads 2902 as a decimal number, and 0x2902 as the number 10498.
    private static func anySpelling(of numbers: [UInt16]) -> Schema {
        let digits = numbers.map { Hex.encode([UInt8($0 >> 8), UInt8($0 & 0xFF)]) }
        let spelled = digits.map { text in
            text.map { $0.isLetter ? "[\($0)\($0.lowercased())]" : "\($0)" }.joined()
        }
        let base = "(-?0000-?1000-?8000-?00805[Ff]9[Bb]34[Ff][Bb])?"
        let pattern = "^(0[xX])?(0000)?(\(spelled.joined(separator: "|")))\(base)$"
        let values = digits.compactMap { Int($0) } + numbers.map { Int($0) }
        return .anyOf([
            .constants(values.map { .integer($0) }),
            Schema([.init("type", "string"), .init("pattern", .string(pattern))]),
        ])
    }
}

extension Kind<BluetoothUUID> {
    static func uuid(of type: AttributeType) -> Kind {
        Kind(type.rawValue, .ref("\(type.rawValue)UUID")) { $2.uuid($0, type) }
    }
}

extension Kind<[BluetoothUUID]> {
    /// The format of a list of services, each at most once.
    ///
    /// `inspect` is called for each service with its node.
    static func services(
        _ inspect: @escaping @Sendable (BluetoothUUID, YAMLNode, FormatReader) -> Void = { _, _, _ in }
    ) -> Kind {
        let items = Kind<BluetoothUUID>.uuid(of: .service).schema.described("A service.")
        return Kind("list of services", .list(of: items, isUnique: true)) { node, what, reader in
            var uuids: [BluetoothUUID] = []
            var seen: Set<BluetoothUUID> = []
            for element in reader.elements(node, what) {
                guard let uuid = reader.uuid(element, .service) else { continue }
                if !seen.insert(uuid).inserted { reader.error(at: element, "\(uuid) is in \(what) twice") }
                inspect(uuid, element, reader)
                uuids.append(uuid)
            }
            return uuids
        }
    }
}

extension FormatReader {
    /// Parses a UUID or a SIG name.
    func uuid(_ node: YAMLNode, _ type: AttributeType) -> BluetoothUUID? {
        text(node, type.rawValue).flatMap { uuid($0, at: node, type) }
    }

    func uuid(_ text: String, at node: YAMLNode, _ type: AttributeType) -> BluetoothUUID? {
        if let uuid = BluetoothUUID(text) ?? type.uuid(named: text) {
            check(uuid, is: type, at: node)
            return uuid
        }
        let isNumber = text.utf8.allSatisfy { Hex.value(ofDigit: $0) != nil || $0 == UInt8(ascii: "-") }
        if isNumber {
            let digits = text.utf8.count { $0 != UInt8(ascii: "-") }
            error(
                at: node,
                """
                \(type.rawValue) \(Words.quote(text)) has \(digits) digits; a UUID has 4, 8 or 32 \
                (8-4-4-4-12)
                """)
        } else {
            error(at: node, Words.unknown("\(type.rawValue) \(Words.quote(text))", text, among: type.names))
        }
        return nil
    }

    /// Reports a UUID of a declaration or a descriptor that is used for another type of attribute.
    ///
    /// Centrals would misinterpret such an attribute.
    private func check(_ uuid: BluetoothUUID, is type: AttributeType, at node: YAMLNode) {
        if AssignedNumbers.isDeclaration(uuid) {
            error(
                at: node,
                "\(uuid) is the type of a declaration, not of a \(type.rawValue); use another UUID"
            )
        } else if type != .descriptor, AssignedNumbers.isDescriptor(uuid) {
            let name = AssignedNumbers.name(of: uuid).map { " (\($0))" } ?? ""
            let isMade = uuid == GATT.clientConfiguration || uuid == GATT.extendedProperties
            error(
                at: node,
                "\(uuid) is a descriptor\(name), not a \(type.rawValue); "
                    + (isMade
                        ? "the radio adds it, so leave it out"
                        : "list it under a characteristic's descriptors"))
        }
    }
}
