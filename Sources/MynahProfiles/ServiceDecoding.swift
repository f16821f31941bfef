import MynahCore

// `services:` and what they include.
extension ProfileDecoder {
    mutating func services(_ node: YAMLNode) -> [Profile.Service] {
        var services: [Profile.Service] = []
        var includes: [[YAMLNode]] = []
        for element in elements(node, "services") {
            guard let fields = serviceFields(element) else { continue }
            includes.append(fields["includes"].map { elements($0, "includes") } ?? [])
            services.append(service(fields))
        }
        let ordered = ordered(services, including: includes)
        checkHandles(of: ordered, at: node)
        return ordered
    }

    /// A handle has 16 bits, and the radio's own services take some (Core Specification, Vol 3, Part F,
    /// 3.2.2).
    private mutating func checkHandles(of services: [Profile.Service], at node: YAMLNode) {
        let count = services.reduce(0) { count, service in
            service.characteristics.reduce(count + 1 + service.includes.count) { count, characteristic in
                let made: [CharacteristicProperties] = [.anyUpdate, [.reliableWrite, .writableAuxiliaries]]
                let madeCount = made.count { !characteristic.properties.isDisjoint(with: $0) }
                return count + 2 + madeCount + characteristic.descriptors.count
            }
        }
        if count > 65_000 {
            error(
                at: node,
                """
                the services need \(count) attribute handles; there are 65535, some of which the radio \
                needs
                """)
        }
    }

    private mutating func service(_ fields: Fields) -> Profile.Service {
        var uuid = BluetoothUUID(0 as UInt16)
        if let node = fields["uuid"] {
            if let found = serviceUUID(node) {
                uuid = found
                if found == GATT.genericAccess || found == GATT.genericAttribute {
                    error(at: node, "the radio adds the service \(found) itself; leave it out")
                }
            }
        } else {
            error(at: fields.mark, "a service needs a uuid")
        }
        var service = Profile.Service(
            uuid: uuid, isPrimary: fields["primary"].flatMap { bool($0, "primary") } ?? true, includes: [],
            characteristics: fields["characteristics"].map { self.characteristics($0) } ?? [],
            mark: fields.mark, marks: fields.marks)
        behavior(fields, of: &service)
        return service
    }

    private mutating func characteristics(_ node: YAMLNode) -> [Profile.Characteristic] {
        elements(node, "characteristics").compactMap { element in
            fields(element, "a characteristic", known: ProfileKeys.characteristic).flatMap {
                characteristic($0)
            }
        }
    }

    /// Finds what each service includes and puts included services before those that include them.
    private mutating func ordered(_ services: [Profile.Service], including nodes: [[YAMLNode]]) -> [Profile
        .Service]
    {
        var targets: [[Int]] = Array(repeating: [], count: services.count)
        let positions = Dictionary(grouping: services.indices) { services[$0].uuid }
        for (index, list) in nodes.enumerated() {
            for node in list {
                guard let target = includedService(node, in: positions) else { continue }
                if targets[index].contains(target) {
                    error(at: node, "the service is included twice")
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
            noteCycle(walk, services, including: nodes)
            return services
        }
        let order = walk.order
        for index in services.indices where !services[index].isPrimary {
            guard !targets.contains(where: { $0.contains(index) }) else { continue }
            warning(
                at: services[index].mark,
                "no service includes the secondary service \(services[index].uuid), so phones cannot find it"
            )
        }
        let position = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0) })
        return order.map { index in
            var service = services[index]
            service.includes = targets[index].compactMap { position[$0] }
            return service
        }
    }

    private mutating func noteCycle(
        _ walk: IncludeOrder, _ services: [Profile.Service], including nodes: [[YAMLNode]]
    ) {
        let tree = AttributeTree(services.map { .init(uuid: $0.uuid) })
        let names = walk.cycle.map { tree.path(of: .init(service: $0)) }
        for index in walk.cycle.indices.dropLast() {
            let (later, earlier) = (walk.cycle[index], walk.cycle[index + 1])
            guard !walk.targets[later].contains(earlier) else { continue }
            let (first, second) = (names[index + 1], names[index])
            return error(
                at: nodes[earlier].first,
                """
                \(first) includes \(second), and services of one UUID keep the file's order; put \(second) \
                first
                """
            )
        }
        let mark = walk.cycle.first.flatMap { nodes[$0].first }?.mark
        error(at: mark, "a service cannot include itself, and \(names.joined(separator: " includes "))")
    }

    /// The service that an include names: a UUID or the SIG's name, with `~N` if the file has several of it.
    private mutating func includedService(
        _ node: YAMLNode, in positions: [BluetoothUUID: [Int]]
    ) -> Int? {
        guard let text = text(node, "service") else { return nil }
        let (word, ordinal): (String, Int?)
        do throws(AttributeName.Problem) {
            (word, ordinal) = try AttributeName.splitOrdinal(text)
        } catch {
            self.error(
                at: node,
                "a number of at least 1 must follow ~, as in 180F~2, not \(Self.quote(text))")
            return nil
        }
        guard let uuid = serviceUUID(word, at: node) else { return nil }
        let found = positions[uuid] ?? []
        guard !found.isEmpty else {
            error(at: node, "the profile has no service \(uuid) to include; add it to services")
            return nil
        }
        if let ordinal, found.indices.contains(ordinal - 1) { return found[ordinal - 1] }
        if ordinal == nil, found.count == 1 { return found[0] }
        let choices = found.count == 1 ? ["\(uuid)"] : found.indices.map { "\(uuid)~\($0 + 1)" }
        let count = "\(found.count) service\(found.count == 1 ? "" : "s") with UUID \(uuid)"
        error(
            at: node,
            ordinal.map {
                "the profile has \(count), so no \(uuid)~\($0); include \(Self.list(choices, "or"))"
            }
                ?? "the profile has \(count); include \(Self.list(choices, "or"))")
        return nil
    }
}

/// Puts what is included before what includes it, and each as early as it is in the file.
///
/// Services of one UUID keep the file's order, so that `180F~2` is the same one in the file and on the air.
private struct IncludeOrder {
    private enum State { case open, entered, placed }

    let targets: [[Int]]
    /// The services that must precede each service: the previous one with its UUID, and those that it
    /// includes.
    private let earlier: [[Int]]
    private(set) var order: [Int] = []
    /// After a cycle was met: its members, the first once more at the end.
    private(set) var cycle: [Int] = []
    private var states: [State]

    init(targets: [[Int]], predecessors: [Int?]) {
        self.targets = targets
        earlier = zip(targets, predecessors).map { ($1.map { [$0] } ?? []) + $0 }
        states = Array(repeating: .open, count: targets.count)
    }

    /// False: there is a cycle.
    ///
    /// The way down is kept by hand: a chain can be longer than the stack is deep.
    mutating func place(_ index: Int) -> Bool {
        var way: [(service: Int, next: Int)] = []
        func enter(_ service: Int, _ order: inout IncludeOrder) {
            order.states[service] = .entered
            way.append((service, 0))
        }
        if states[index] == .open { enter(index, &self) }
        while let (service, next) = way.last {
            guard next < earlier[service].count else {
                way.removeLast()
                states[service] = .placed
                order.append(service)
                continue
            }
            way[way.count - 1].next += 1
            let target = earlier[service][next]
            switch states[target] {
            case .placed: break
            case .open: enter(target, &self)
            case .entered:
                cycle = way.map(\.service).drop { $0 != target } + [target]
                return false
            }
        }
        return true
    }
}
