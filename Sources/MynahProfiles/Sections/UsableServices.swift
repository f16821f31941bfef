import MynahCore

/// The services that a profile can use: each is the first service of the shipped profile of its name.
struct UsableServices {
    static let names = [
        "heart-rate", "battery", "device-information", "current-time", "health-thermometer", "glucose",
        "cycling-speed-and-cadence", "cycling-power", "fitness-machine", "environmental-sensing",
        "nordic-uart", "hid-keyboard", "hid-mouse", "hid-gamepad", "midi",
    ]

    /// The services that were used, by their names.
    private var nodes: [String: YAMLNode] = [:]

    /// The YAML of a service, or `nil` if there is none of the name.
    private mutating func node(named name: String) -> YAMLNode? {
        if let node = nodes[name] { return node }
        guard let text = ProfileTemplates.text(named: name),
            let source = try? YAMLText(Array(text.utf8)),
            case .mapping(let root)? = YAMLDocument(source).root
        else { return nil }
        nodes[name] = root["services"]?.sequence?.first
        return nodes[name]
    }

    /// The fields of a service, with those of the service that it uses.
    mutating func fields(_ node: YAMLNode, _ reader: FormatReader) -> Fields? {
        guard let own = reader.fields(node, ServicesSection.table) else { return nil }
        guard let use = own[ServicesSection.use] else {
            if own[ServicesSection.omit] != nil {
                reader.error(
                    at: own.mark(of: ServicesSection.omit),
                    "omit has no effect without use: it removes what is used")
            }
            return own
        }
        // A problem in a used part is reported at its `use`.
        guard let name = own.read(ServicesSection.use),
            let used = self.node(named: name)?.moved(to: use.mark),
            let fields = reader.fields(used, ServicesSection.table)
        else { return nil }
        var characteristics = fields[ServicesSection.characteristics]?.sequence?.elements ?? []
        if let node = own[ServicesSection.omit] {
            Self.omit(node, from: &characteristics, of: name, reader)
        }
        if let node = own[ServicesSection.characteristics] {
            characteristics = Self.merged(reader.elements(node, "characteristics"), into: characteristics)
        }
        let list = YAMLNode.sequence(.init(elements: characteristics, mark: use.mark))
        return own.merged(into: fields, ServicesSection.characteristics.name, list)
    }

    private static func characteristicUUID(_ node: YAMLNode) -> BluetoothUUID? {
        guard let text = node.mapping?["uuid"]?.scalar?.string else { return nil }
        return BluetoothUUID(text) ?? AssignedNumbers.characteristic(named: text)
    }

    private static func omit(
        _ node: YAMLNode, from characteristics: inout [YAMLNode], of service: String,
        _ reader: FormatReader
    ) {
        let names = characteristics.compactMap { $0.mapping?["uuid"]?.scalar?.string }
        let known = characteristics.map(characteristicUUID)
        var omitted: Set<BluetoothUUID> = []
        for element in reader.elements(node, "omit") {
            guard let text = reader.text(element, "a characteristic") else { continue }
            guard let uuid = BluetoothUUID(text) ?? AssignedNumbers.characteristic(named: text),
                known.contains(uuid)
            else {
                let what = "characteristic \(Words.quote(text)) of \(service)"
                reader.error(at: element, Words.unknown(what, text, among: names))
                continue
            }
            if !omitted.insert(uuid).inserted {
                reader.error(at: element, "the characteristic is omitted twice")
            }
        }
        characteristics.removeAll { characteristicUUID($0).map(omitted.contains) ?? false }
    }

    /// The used characteristics with the keys that are written beside them, and then those that are new.
    private static func merged(_ own: [YAMLNode], into used: [YAMLNode]) -> [YAMLNode] {
        var characteristics = used
        var open = used.map(characteristicUUID)
        for node in own {
            guard let uuid = characteristicUUID(node), let place = open.firstIndex(of: uuid),
                let written = node.mapping, let other = characteristics[place].mapping
            else {
                characteristics.append(node)
                continue
            }
            // Another one of the same UUID is new.
            open[place] = nil
            let keys = written.compactMap { $0.key.scalar?.string }
            let rest = other.filter { !keys.contains($0.key.scalar?.string ?? "") }
            characteristics[place] = .mapping(.init(pairs: written.pairs + rest, mark: written.mark))
        }
        return characteristics
    }
}

extension Fields {
    /// These fields, and the other fields that these do not have; `value` replaces the value of a key in
    /// both.
    fileprivate func merged(into other: Fields, _ key: String, _ value: YAMLNode) -> Fields {
        let more = other.entries.filter { self[$0.key] == nil }
        let mark = entries.first { $0.key == key }?.mark ?? more.first { $0.key == key }?.mark
        let rest = (entries + more).filter { $0.key != key }
        return Fields(
            reader: reader, mark: self.mark, entries: rest + [Entry(key: key, mark: mark, value: value)])
    }
}

extension Kind<String> {
    /// The name of a service that Mynah provides.
    static var usableService: Kind {
        let names = UsableServices.names
        return Kind(Words.codes(names), .words(names)) { node, what, reader in
            guard let text = reader.text(node, what) else { return nil }
            if names.contains(text) { return text }
            reader.error(at: node, Words.unknown("service \(Words.quote(text)) to use", text, among: names))
            return nil
        }
    }
}
