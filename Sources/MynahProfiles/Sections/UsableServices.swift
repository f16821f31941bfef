import MynahCore

/// The shipped services that a profile can use.
///
/// A name refers to the first service of the shipped profile with that name. The services of the profile
/// `proximity` can be used one by one or all together.
struct UsableServices {
    static let names =
        [
            "heart-rate", "battery", "device-information", "current-time", "health-thermometer",
            "blood-pressure", "weight-scale", "body-composition", "glucose", "pulse-oximeter",
            "cycling-speed-and-cadence", "cycling-power", "running-speed-and-cadence", "fitness-machine",
            "environmental-sensing", proximity, "nordic-uart", "mcumgr", "nordic-dfu",
            "hid-keyboard", "hid-mouse", "hid-gamepad", "midi",
        ] + partsOfProximity

    private static let proximity = "proximity"
    private static let partsOfProximity = ["link-loss", "immediate-alert", "tx-power"]

    /// The service nodes of the shipped profiles that were used so far, by the names of the profiles.
    private var nodes: [String: [YAMLNode]] = [:]

    /// Returns the shipped profile for a name, and the indices of the services in that profile.
    static func places(of name: String) -> (template: String, places: Range<Int>) {
        if let part = partsOfProximity.firstIndex(of: name) { return (proximity, part..<part + 1) }
        return (name, 0..<(name == proximity ? partsOfProximity.count : 1))
    }

    /// Returns the nodes of the named services: several for `proximity`, and none for an unknown name.
    private mutating func nodes(named name: String) -> ArraySlice<YAMLNode> {
        let (template, places) = Self.places(of: name)
        if nodes[template] == nil, let text = ProfileTemplates.text(named: template),
            let source = try? YAMLText(Array(text.utf8)),
            case .mapping(let root)? = YAMLDocument(source).root
        {
            nodes[template] = root["services"]?.sequence?.elements
        }
        let all = nodes[template] ?? []
        return all[places.clamped(to: all.indices)]
    }

    /// Returns the fields of a service, combined with those of the shipped services that it uses.
    ///
    /// There is one element for each used service, or one if the service uses none.
    mutating func fields(_ node: YAMLNode, _ reader: FormatReader) -> [Fields] {
        guard let own = reader.fields(node, ServicesSection.table) else { return [] }
        guard own[ServicesSection.use]?.scalar?.string == Self.proximity else {
            return fields(own, nil, reader).map { [$0] } ?? []
        }
        if let other = own.entries.first(where: { $0.key != ServicesSection.use.name }) {
            let parts = Words.list(Self.partsOfProximity, "or")
            reader.error(
                at: own.mark(of: other.key),
                "\(Self.proximity) is three services: use \(parts) to change one of them")
            return []
        }
        return nodes(named: Self.proximity).compactMap { fields(own, $0, reader) }
    }

    /// Returns the fields of a service, combined with those of `used`, or else of the service that it names.
    private mutating func fields(_ own: Fields, _ used: YAMLNode?, _ reader: FormatReader) -> Fields? {
        guard let use = own[ServicesSection.use] else {
            if own[ServicesSection.omit] != nil {
                reader.error(
                    at: own.mark(of: ServicesSection.omit),
                    "omit has no effect without use: it removes what is used")
            }
            return own
        }
        // A problem in the shipped service is reported at the key `use`.
        guard let name = own.read(ServicesSection.use),
            let used = (used ?? nodes(named: name).first)?.moved(to: use.mark),
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

    /// Returns the used service's characteristics, changed by the profile's own, and then the additional
    /// ones.
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
            // A second characteristic with the same UUID is an additional one.
            open[place] = nil
            let keys = written.compactMap { $0.key.scalar?.string }
            let rest = other.filter { !keys.contains($0.key.scalar?.string ?? "") }
            characteristics[place] = .mapping(.init(pairs: written.pairs + rest, mark: written.mark))
        }
        return characteristics
    }
}

extension Fields {
    /// Returns these fields with those of `other` that are missing here, and with `value` for `key`.
    fileprivate func merged(into other: Fields, _ key: String, _ value: YAMLNode) -> Fields {
        let more = other.entries.filter { self[$0.key] == nil }
        let mark = entries.first { $0.key == key }?.mark ?? more.first { $0.key == key }?.mark
        let rest = (entries + more).filter { $0.key != key }
        return Fields(
            reader: reader, mark: self.mark, entries: rest + [Entry(key: key, mark: mark, value: value)])
    }
}

extension Kind<String> {
    /// The format of the name of a shipped service.
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
