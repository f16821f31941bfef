import MynahCore
import MynahSupport

/// The fields of advertising data or of a scan response.
struct AdvertisedContentsSection {
    static let localName = Field(
        "localName", AdvertisingKinds.localName, doc: "device.name by default; \"\" advertises no name.")
    static let serviceUUIDs = Field(
        "serviceUUIDs", AdvertisingKinds.services,
        doc: "The services that are advertised, each in the width it is written in.")
    static let manufacturerData = Field(
        "manufacturerData", AdvertisingKinds.keyedValues(keys: AdvertisingKinds.company.schema, "company"),
        doc: """
            Company identifiers, each with its bytes or its value; or a list with `company` and `value`, in \
            which a company may be several times.
            """)
    static let serviceData = Field(
        "serviceData",
        AdvertisingKinds.keyedValues(keys: Kind<BluetoothUUID>.uuid(of: .service).schema, "service"),
        doc: "Services, each with its bytes or its value; or a list with `service` and `value`.")
    static let solicitedServiceUUIDs = Field(
        "solicitedServiceUUIDs", .services(), doc: "The services that it looks for on centrals.")
    static let appearance = Field(
        "appearance", called: "advertising.appearance", AdvertisingKinds.appearance,
        doc: "Whether device.appearance is advertised, or another appearance.")
    static let txPower = Field(
        "txPower", AdvertisingKinds.txPower,
        doc: "Whether the transmit power is advertised, or a level to advertise.")
    static let raw = Field(
        "raw", AdvertisingKinds.structures,
        doc: """
            AD types, each with its bytes, in this order; a list may have a type several times. Nothing else \
            is added of these types.
            """)
    static let fields: [any DeclaredField] = [
        localName, serviceUUIDs, manufacturerData, serviceData, solicitedServiceUUIDs, appearance, txPower,
        raw,
    ]
    static let table = Section("scanResponse", fields)

    let fields: Fields
    let identity: DeviceIdentity
    let scope: FieldScope
    private var reader: FormatReader { fields.reader }

    /// The parsed change, and the values in it that change over time.
    struct Result {
        var change = AdvertisementChange.ContentsChange()
        var values: [AdvertisedValue] = []
    }

    func read(_ payload: AdvertisingPayload) -> Result {
        var result = Result()
        fields.read(Self.localName, into: &result.change.localName)
        if let lists = fields.read(Self.serviceUUIDs) {
            result.change.serviceUUIDs = lists.complete
            result.change.incompleteServiceUUIDs = lists.incomplete
        }
        fields.read(Self.solicitedServiceUUIDs, into: &result.change.solicitedServiceUUIDs)
        if let node = fields[Self.manufacturerData] {
            let entries = KeyedValues(node, Self.manufacturerData.name, "company", scope, reader).read(
                AdvertisingKinds.company, called: "a company identifier"
            ) { "the company \(Words.shape(of: $1))" }
            result.change.manufacturerData = entries.map {
                .init(company: UInt16($0.key), data: $0.value.longest)
            }
            checkOverflowArea(of: result.change, at: node)
            result.add(entries.map(\.value), payload) { .manufacturerData($0) }
        }
        if let node = fields[Self.serviceData] {
            let entries = KeyedValues(node, Self.serviceData.name, "service", scope, reader).read(
                Kind<BluetoothUUID>.uuid(of: .service), called: "service"
            ) { uuid, _ in "\(uuid)" }
            result.change.serviceData = entries.map { .init(uuid: $0.key, data: $0.value.longest) }
            result.add(entries.map(\.value), payload) { .serviceData($0) }
        }
        fields.read(Self.txPower, into: &result.change.txPower)
        if let appearance = fields.read(Self.appearance) { result.change.appearance = number(appearance) }
        fields.read(Self.raw, into: &result.change.raw)
        checkRaw(result.change)
        return result
    }

    private func number(_ appearance: AdvertisedAppearance?) -> UInt16? {
        switch appearance {
        case nil: return nil
        case .number(let number)?: return number
        case .ofDevice?:
            if identity.appearance == nil {
                reader.error(
                    at: fields[Self.appearance],
                    "advertising.appearance is true, but device.appearance is missing")
            }
            return identity.appearance
        }
    }

    private func checkOverflowArea(of change: AdvertisementChange.ContentsChange, at node: YAMLNode) {
        var contents = Advertisement.Contents()
        change.apply(to: &contents)
        let structures = AccessoryAdvertising.fields(of: contents).flatMap(\.structures)
        guard structures.contains(where: { OverflowArea($0)?.setsOffWatchSetup == true }) else { return }
        reader.warning(
            at: node.mark,
            """
            this is an iPhone's overflow area with bit \(OverflowArea.watchSetupIndex) set; nearby iPhones \
            then offer to set up an Apple Watch
            """
        )
    }

    /// Reports a field that has no effect, because `raw` has structures of the same AD type.
    private func checkRaw(_ change: AdvertisementChange.ContentsChange) {
        guard let raw = change.raw, !raw.isEmpty else { return }
        var contents = Advertisement.Contents()
        change.apply(to: &contents)
        contents.raw = []
        var written = AccessoryAdvertising.fields(of: contents)
        if let name = AccessoryAdvertising.nameStructure(of: contents) {
            written.append(("localName", [name]))
        }
        for (field, structures) in written {
            guard let twice = structures.first(where: { one in raw.contains { $0.type == one.type } }) else {
                continue
            }
            reader.error(
                at: fields[Self.raw],
                """
                raw has the AD type 0x\(Hex.encode([twice.type.rawValue])), which \(field) makes too; leave \
                one of them out
                """)
        }
    }
}

extension AdvertisedContentsSection.Result {
    fileprivate mutating func add(
        _ entries: [AdvertisedBytes], _ payload: AdvertisingPayload,
        _ place: (Int) -> AdvertisedValue.Place
    ) {
        for (index, entry) in entries.enumerated() {
            guard case .changing(let definition) = entry else { continue }
            values.append(AdvertisedValue(payload: payload, place: place(index), definition: definition))
        }
    }
}

/// The bytes of manufacturer data or service data, which may change over time.
enum AdvertisedBytes {
    case constant([UInt8])
    case changing(any GeneratorDefinition)

    /// The constant bytes, or zeros of the greatest length that a changing value can have.
    var longest: [UInt8] {
        switch self {
        case .constant(let bytes): bytes
        case .changing(let definition): Array(repeating: 0, count: definition.maximumLength)
        }
    }
}

/// A mapping or a list of mappings from keys to values, in which a key may occur several times.
private struct KeyedValues {
    let node: YAMLNode
    let what: String
    let keyName: String
    let scope: FieldScope
    let reader: FormatReader

    init(
        _ node: YAMLNode, _ what: String, _ keyName: String, _ scope: FieldScope, _ reader: FormatReader
    ) {
        (self.node, self.what, self.keyName, self.scope, self.reader) = (node, what, keyName, scope, reader)
    }

    func read<Key: Hashable>(
        _ kind: Kind<Key>, called: String, name: (Key, YAMLNode) -> String
    ) -> [(key: Key, value: AdvertisedBytes)] {
        var list: [(Key, AdvertisedBytes)] = []
        guard case .sequence = node else {
            var seen: Set<Key> = []
            for (keyNode, value) in reader.members(node, what) {
                guard let key = kind.read(keyNode, called, reader),
                    let bytes = bytes(value, name(key, keyNode))
                else { continue }
                if !seen.insert(key).inserted {
                    reader.error(at: keyNode, "\(what) has \(name(key, keyNode)) twice")
                }
                list.append((key, bytes))
            }
            return list
        }
        for element in reader.elements(node, what) {
            guard let fields = reader.fields(element, "an entry of \(what)", known: [keyName, "value"]) else {
                continue
            }
            guard let keyNode = fields[keyName], let valueNode = fields["value"] else {
                reader.error(at: element, "an entry of \(what) needs \(keyName) and value")
                continue
            }
            guard let key = kind.read(keyNode, called, reader),
                let bytes = bytes(valueNode, name(key, keyNode))
            else { continue }
            list.append((key, bytes))
        }
        return list
    }

    private func bytes(_ node: YAMLNode, _ name: String) -> AdvertisedBytes? {
        guard case .mapping = node else { return reader.bytes(node, what).map { .constant($0) } }
        let value =
            FieldsSection.isTyped(node)
            ? FieldsSection(reader: reader, scope: scope).value(node, of: name, usual: nil).value
            : ValueSection.read(node, reader)
        switch value {
        case .bytes(let bytes)?: return .constant(bytes)
        case .generated(let definition)?: return .changing(definition)
        case nil: return nil
        }
    }
}

extension AdvertisingKinds {
    fileprivate static var company: Kind<Int> { .integer(0...0xFFFF, "companyNumber") }
}

extension AdvertisingKinds {
    /// The format of values by key: a mapping, or a list of mappings with one key and one value each.
    fileprivate static func keyedValues(keys: Schema, _ keyName: String) -> Kind<YAMLNode> {
        let value = Schema.anyOf([.ref("bytes"), .ref("value")])
        return .node(
            "bytes or `value` by \(keyName), or a list of `\(keyName)` and `value`",
            .anyOf([
                .map(keys: keys, to: value),
                .list(
                    of: .object([(keyName, keys), ("value", value)], required: [keyName, "value"])),
            ]))
    }
}
