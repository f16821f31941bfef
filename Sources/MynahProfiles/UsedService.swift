import MynahCore

/// The services that a profile can use: each is the first service of the shipped profile of its name.
enum UsableServices {
    static let names = [
        "heart-rate", "battery", "device-information", "current-time", "health-thermometer", "glucose",
        "cycling-speed-and-cadence", "cycling-power", "fitness-machine", "environmental-sensing",
        "nordic-uart",
    ]

    /// The YAML of a service, or `nil` if there is none of the name.
    static func node(named name: String) -> YAMLNode? {
        guard names.contains(name), let text = ProfileTemplates.text(named: name),
            let source = try? YAMLText(Array(text.utf8)),
            case .mapping(let root)? = YAMLDocument(source).root
        else { return nil }
        return root["services"]?.sequence?.first
    }
}

// `use:` and `omit:`
extension ProfileDecoder {
    /// The fields of a service, with those of the service that it uses.
    mutating func serviceFields(_ node: YAMLNode) -> Fields? {
        guard let own = fields(node, "a service", known: ProfileKeys.service) else { return nil }
        guard let use = own["use"] else {
            if own["omit"] != nil {
                error(at: own.mark(of: "omit"), "omit has no effect without use: it removes what is used")
            }
            return own
        }
        guard let name = text(use, "use") else { return nil }
        guard let used = usedServices[name] ?? UsableServices.node(named: name) else {
            error(
                at: use, Self.unknown("service \(Self.quote(name)) to use", name, among: UsableServices.names)
            )
            return nil
        }
        usedServices[name] = used
        // A problem in a used part is reported at its `use`.
        guard let fields = fields(used.moved(to: use.mark), "a service", known: ProfileKeys.service)
        else {
            return nil
        }
        var characteristics = fields["characteristics"]?.sequence?.elements ?? []
        if let node = own["omit"] { omit(node, from: &characteristics, of: name) }
        if let node = own["characteristics"] {
            characteristics = merged(elements(node, "characteristics"), into: characteristics)
        }
        let list = YAMLNode.sequence(.init(elements: characteristics, mark: use.mark))
        return own.merged(into: fields, with: ["characteristics": list])
    }

    private static func characteristicUUID(_ node: YAMLNode) -> BluetoothUUID? {
        guard let text = node.mapping?["uuid"]?.scalar?.string else { return nil }
        return BluetoothUUID(text) ?? AssignedNumbers.characteristic(named: text)
    }

    private mutating func omit(_ node: YAMLNode, from characteristics: inout [YAMLNode], of service: String) {
        let names = characteristics.compactMap { $0.mapping?["uuid"]?.scalar?.string }
        let known = characteristics.map(Self.characteristicUUID)
        var omitted: Set<BluetoothUUID> = []
        for element in elements(node, "omit") {
            guard let text = text(element, "a characteristic") else { continue }
            guard let uuid = BluetoothUUID(text) ?? AssignedNumbers.characteristic(named: text),
                known.contains(uuid)
            else {
                let what = "characteristic \(Self.quote(text)) of \(service)"
                error(at: element, Self.unknown(what, text, among: names))
                continue
            }
            if !omitted.insert(uuid).inserted { error(at: element, "the characteristic is omitted twice") }
        }
        characteristics.removeAll { Self.characteristicUUID($0).map(omitted.contains) ?? false }
    }

    /// The used characteristics with the keys that are written beside them, and then those that are new.
    private func merged(_ own: [YAMLNode], into used: [YAMLNode]) -> [YAMLNode] {
        var characteristics = used
        var open = used.map(Self.characteristicUUID)
        for node in own {
            guard let uuid = Self.characteristicUUID(node), let place = open.firstIndex(of: uuid),
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
    /// These fields, and of other ones those that these do not have; `whole` replaces both.
    fileprivate func merged(into other: Fields, with whole: [String: YAMLNode]) -> Fields {
        var entries = other.entries.merging(entries) { $1 }
        for (key, value) in whole { entries[key] = Entry(mark: entries[key]?.mark, value: value) }
        return Fields(mark: mark, entries: entries)
    }
}
