import MynahCore
import Yams

/// The services that a profile can use: each is the first service of the shipped profile of its name.
enum UsableServices {
    static let names = [
        "heart-rate", "battery", "device-information", "current-time", "health-thermometer", "glucose",
        "cycling-speed-and-cadence", "cycling-power", "fitness-machine", "environmental-sensing",
        "nordic-uart",
    ]

    /// The YAML of a service, or `nil` if there is none of the name.
    static func node(named name: String) -> Node? {
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
    mutating func serviceFields(_ node: Node) -> Fields? {
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
        guard let fields = fields(Self.moved(used, to: use.mark), "a service", known: ProfileKeys.service)
        else {
            return nil
        }
        var characteristics = fields["characteristics"]?.sequence.map(Array.init) ?? []
        if let node = own["omit"] { omit(node, from: &characteristics, of: name) }
        if let node = own["characteristics"] {
            characteristics = merged(elements(node, "characteristics"), into: characteristics)
        }
        let list = Node.sequence(.init(characteristics, .implicit, .any, use.mark))
        return own.merged(into: fields, with: ["characteristics": list])
    }

    /// A node whose parts are all at one place.
    private static func moved(_ node: Node, to mark: Mark?) -> Node {
        switch node {
        case .scalar(let scalar): .scalar(.init(scalar.string, scalar.tag, scalar.style, mark))
        case .sequence(let list):
            .sequence(.init(list.map { moved($0, to: mark) }, list.tag, list.style, mark))
        case .mapping(let mapping):
            .mapping(
                .init(
                    mapping.map { (moved($0.key, to: mark), moved($0.value, to: mark)) }, mapping.tag,
                    mapping.style, mark))
        case .alias: node
        }
    }

    private static func characteristicUUID(_ node: Node) -> BluetoothUUID? {
        guard let text = node.mapping?["uuid"]?.scalar?.string else { return nil }
        return BluetoothUUID(text) ?? AssignedNumbers.characteristic(named: text)
    }

    private mutating func omit(_ node: Node, from characteristics: inout [Node], of service: String) {
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
    private func merged(_ own: [Node], into used: [Node]) -> [Node] {
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
            let pairs = written.map { ($0.key, $0.value) } + rest.map { ($0.key, $0.value) }
            characteristics[place] = .mapping(.init(pairs, written.tag, written.style, written.mark))
        }
        return characteristics
    }
}

extension Fields {
    /// These fields, and of other ones those that these do not have; `whole` replaces both.
    fileprivate func merged(into other: Fields, with whole: [String: Node]) -> Fields {
        var entries = other.entries.merging(entries) { $1 }
        for (key, value) in whole { entries[key] = Entry(mark: entries[key]?.mark, value: value) }
        return Fields(mark: mark, entries: entries)
    }
}
