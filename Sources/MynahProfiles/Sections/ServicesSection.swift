import MynahCore
import MynahSupport

/// The section `services`.
struct ServicesSection {
    static let uuid = Field(
        "uuid", .uuid(of: .service), doc: "The SIG's name, or a number of 16, 32 or 128 bits.")
    static let use = Field(
        "use", .usableService,
        doc: "A service of Mynah: its characteristics, values and behavior, as mynah new prints them.")
    static let omit = Field(
        "omit",
        .node(
            "list of characteristics",
            .list(
                of: .ref("characteristicUUID").described("A characteristic of the service that is used."),
                isUnique: true)), doc: "Characteristics of the used service that it does not have.")
    static let primary = Field("primary", .bool, doc: "Left out: true.")
    static let includes = Field(
        "includes",
        .node(
            "list of services",
            .list(
                of: .ref("serviceReference").described(
                    "A service; 180F~2 is the second 180F of the file."), isUnique: true)),
        doc: "Services of this file.")
    static let behavior = Field(
        "behavior", Kind<ServiceBehaviorName>.word,
        doc: "Its behavior beyond keeping its values; use has it already.")
    static let records = Field(
        "records", .integer(0...10_000),
        doc: "The number of records or measurements that it has stored at the start; left out: 10.")
    static let characteristics = Field(
        "characteristics", .sections("characteristic"),
        doc: """
            Its characteristics. With use, their keys replace those of the used ones, and further ones are \
            appended.
            """)
    static let table = Section(
        "service", what: "a service",
        [uuid, use, omit, primary, includes, behavior, records, characteristics])
    /// The default number of records of a glucose meter.
    static let usualRecords = 10

    /// The schema of a service.
    ///
    /// The service has its own UUID, or it uses a shipped service, and then requires fewer keys.
    static var schema: Schema {
        let needsProperties = Schema.ref("characteristic").with(Schema.required(["properties"]).members)
        let whole = Field("characteristics", .node("", .list(of: needsProperties)), doc: characteristics.doc)
        let shared: [any DeclaredField] = [primary, includes, behavior, records]
        return .oneOf([
            Section("service", [uuid.needed] + shared + [whole]).schema,
            Section("service", [uuid, use.needed, omit] + shared + [characteristics]).schema,
        ])
    }

    /// The services with included ones first, and the rules of their characteristics.
    struct Result {
        var services: [Profile.Service] = []
        var rules: [AttributeTree.Position: YAMLNode] = [:]
    }

    /// A service as written in the file.
    private struct Entry {
        var service: Profile.Service
        var includes: [YAMLNode]
        /// The nodes of the rules, each with the index of its characteristic.
        var reactions: [(characteristic: Int, node: YAMLNode)] = []
    }

    private let reader: FormatReader
    private let scope: FieldScope
    private var entries: [Entry] = []
    private var usable = UsableServices()

    static func read(_ node: YAMLNode, in scope: FieldScope, _ reader: FormatReader) -> Result {
        var section = ServicesSection(reader, scope)
        for element in reader.elements(node, "services") {
            for fields in section.usable.fields(element, reader) {
                section.entries.append(section.entry(fields))
            }
        }
        let result = section.ordered()
        checkHandles(of: result.services, at: node, reader)
        return result
    }

    private init(_ reader: FormatReader, _ scope: FieldScope) {
        self.reader = reader
        self.scope = scope
    }

    /// Reports services that need too many handles.
    ///
    /// A handle has 16 bits, and the radio's own services use some (Core Specification, Vol 3, Part F,
    /// 3.2.2).
    private static func checkHandles(
        of services: [Profile.Service], at node: YAMLNode, _ reader: FormatReader
    ) {
        let count = services.reduce(0) { count, service in
            service.characteristics.reduce(count + 1 + service.includes.count) { count, characteristic in
                let made: [CharacteristicProperties] = [.anyUpdate, [.reliableWrite, .writableAuxiliaries]]
                let madeCount = made.count { !characteristic.properties.isDisjoint(with: $0) }
                return count + 2 + madeCount + characteristic.descriptors.count
            }
        }
        if count > 65_000 {
            reader.error(
                at: node,
                """
                the services need \(count) attribute handles; there are 65535, some of which the radio \
                needs
                """)
        }
    }

    // MARK: A service

    private func entry(_ fields: Fields) -> Entry {
        let includes = fields[Self.includes].map { reader.elements($0, "includes") } ?? []
        let uuid = fields.read(Self.uuid)
        if fields[Self.uuid] == nil { reader.error(at: fields.mark, "a service needs a uuid") }
        if let uuid, uuid == GATT.genericAccess || uuid == GATT.genericAttribute {
            reader.error(at: fields[Self.uuid], "the radio adds the service \(uuid) itself; leave it out")
        }
        var entry = Entry(
            service: Profile.Service(
                uuid: uuid ?? BluetoothUUID(0 as UInt16),
                isPrimary: fields.read(Self.primary) ?? true, includes: [], characteristics: [],
                mark: fields.mark, marks: fields.marks), includes: includes)
        if let node = fields[Self.characteristics] {
            for element in reader.elements(node, "characteristics") {
                guard let read = CharacteristicSection.read(element, in: scope, reader) else { continue }
                if let node = read.rules {
                    entry.reactions.append((entry.service.characteristics.count, node))
                }
                entry.service.characteristics.append(read.characteristic)
            }
        }
        Self.takeBehavior(fields, of: &entry.service, reader)
        return entry
    }

    private static func takeBehavior(
        _ fields: Fields, of service: inout Profile.Service, _ reader: FormatReader
    ) {
        service.behavior = fields.read(behavior)
        if let name = service.behavior, !service.suits(name) {
            // The profile may have omitted the characteristic from a service that it uses.
            service.behavior = nil
            if fields[use] == nil {
                reader.warning(
                    at: fields.mark(of: behavior),
                    """
                    behavior: \(name.rawValue) has no effect: the service has no \
                    \(name.isSent ? "characteristic that indicates," : "writable characteristic") \
                    \(name.mainCharacteristic)
                    """)
            }
        }
        guard let node = fields[records] else { return }
        fields.read(records, into: &service.records)
        if fields[behavior] == nil || service.behavior.map({ !$0.hasRecords }) == true {
            let names = ServiceBehaviorName.allCases.filter(\.hasRecords).map(\.rawValue)
            reader.error(at: node, "records has no effect without behavior: \(Words.list(names, "or"))")
        }
    }

    // MARK: Includes

    /// Resolves the included services of each service, and orders the services with included ones first.
    private func ordered() -> Result {
        let services = entries.map(\.service)
        var targets: [[Int]] = Array(repeating: [], count: services.count)
        let positions = Dictionary(grouping: services.indices) { services[$0].uuid }
        for (index, entry) in entries.enumerated() {
            for node in entry.includes {
                guard let target = Self.includedService(node, in: positions, reader) else { continue }
                if targets[index].contains(target) {
                    reader.error(at: node, "the service is included twice")
                } else {
                    targets[index].append(target)
                }
            }
        }
        let predecessors = services.indices.map { index in
            positions[services[index].uuid]?.last { $0 < index }
        }
        var walk = IncludeOrder(targets: targets, predecessors: predecessors)
        for index in services.indices where !walk.place(index) {
            noteCycle(walk)
            return result(Array(services.indices), targets: targets.map { _ in [] })
        }
        for index in services.indices where !services[index].isPrimary {
            guard !targets.contains(where: { $0.contains(index) }) else { continue }
            reader.warning(
                at: services[index].mark,
                "no service includes the secondary service \(services[index].uuid), so phones cannot find it"
            )
        }
        return result(walk.order, targets: targets)
    }

    /// Returns the services in a new order.
    private func result(_ order: [Int], targets: [[Int]]) -> Result {
        let position = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0) })
        var result = Result()
        for (place, index) in order.enumerated() {
            var service = entries[index].service
            service.includes = targets[index].compactMap { position[$0] }
            result.services.append(service)
            for (number, node) in entries[index].reactions {
                result.rules[.init(service: place, characteristic: number)] = node
            }
        }
        return result
    }

    private func noteCycle(_ walk: IncludeOrder) {
        let tree = AttributeTree(entries.map { .init(uuid: $0.service.uuid) })
        let names = walk.cycle.map { tree.path(of: .init(service: $0)) }
        for index in walk.cycle.indices.dropLast() {
            let (later, earlier) = (walk.cycle[index], walk.cycle[index + 1])
            guard !walk.targets[later].contains(earlier) else { continue }
            let (first, second) = (names[index + 1], names[index])
            return reader.error(
                at: entries[earlier].includes.first,
                """
                \(first) includes \(second), and services of one UUID keep the file's order; put \(second) \
                first
                """
            )
        }
        let mark = walk.cycle.first.flatMap { entries[$0].includes.first }?.mark
        reader.error(
            at: mark, "a service cannot include itself, and \(names.joined(separator: " includes "))")
    }

    /// Resolves the service that an include names.
    ///
    /// The name is a UUID or a SIG name, with `~N` if the file has several such services.
    private static func includedService(
        _ node: YAMLNode, in positions: [BluetoothUUID: [Int]], _ reader: FormatReader
    ) -> Int? {
        guard let text = reader.text(node, "service") else { return nil }
        let (word, ordinal): (String, Int?)
        do throws(AttributeName.Problem) {
            (word, ordinal) = try AttributeName.splitOrdinal(text)
        } catch {
            reader.error(
                at: node, "a number of at least 1 must follow ~, as in 180F~2, not \(Words.quote(text))")
            return nil
        }
        guard let uuid = reader.uuid(word, at: node, .service) else { return nil }
        let found = positions[uuid] ?? []
        guard !found.isEmpty else {
            reader.error(at: node, "the profile has no service \(uuid) to include; add it to services")
            return nil
        }
        if let ordinal, found.indices.contains(ordinal - 1) { return found[ordinal - 1] }
        if ordinal == nil, found.count == 1 { return found[0] }
        let choices = found.count == 1 ? ["\(uuid)"] : found.indices.map { "\(uuid)~\($0 + 1)" }
        let count = found.count.counting("service") + " with UUID \(uuid)"
        let missing = ordinal.map { ", so no \(uuid)~\($0)" } ?? ""
        reader.error(at: node, "the profile has \(count)\(missing); include \(Words.list(choices, "or"))")
        return nil
    }
}

extension Profile.Service {
    /// Whether the service has the characteristic that a behavior requires.
    fileprivate func suits(_ behavior: ServiceBehaviorName) -> Bool {
        let needed: CharacteristicProperties = behavior.isSent ? [.indicate] : .anyWrite
        return characteristics.contains {
            $0.uuid == behavior.mainCharacteristic && !$0.properties.isDisjoint(with: needed)
        }
    }
}
