import MynahCore
import Yams

// `services:` and what they include.
extension ProfileDecoder {
    mutating func services(_ node: Node) -> [Profile.Service] {
        var services: [Profile.Service] = []
        var includes: [[Node]] = []
        for element in elements(node, "services") {
            guard let fields = fields(element, "a service", known: ProfileKeys.service) else { continue }
            includes.append(fields["includes"].map { elements($0, "includes") } ?? [])
            services.append(service(fields))
        }
        return ordered(services, including: includes)
    }

    private mutating func service(_ fields: Fields) -> Profile.Service {
        var uuid = BluetoothUUID(0 as UInt16)
        if let node = fields["uuid"] {
            if let found = serviceUUID(node) {
                uuid = found
                if found == GATT.genericAccess || found == GATT.genericAttribute {
                    error(at: node, "the service \(found) is made by the radio itself; leave it out")
                }
            }
        } else {
            error(at: fields.mark, "a service needs a uuid")
        }
        return Profile.Service(
            uuid: uuid, isPrimary: fields["primary"].flatMap { bool($0, "primary") } ?? true, includes: [],
            characteristics: fields["characteristics"].map { self.characteristics($0) } ?? [],
            mark: fields.mark)
    }

    private mutating func characteristics(_ node: Node) -> [Profile.Characteristic] {
        elements(node, "characteristics").compactMap { element in
            fields(element, "a characteristic", known: ProfileKeys.characteristic).flatMap {
                characteristic($0)
            }
        }
    }

    /// Finds what each service includes and puts included services before those that include them.
    private mutating func ordered(_ services: [Profile.Service], including nodes: [[Node]]) -> [Profile
        .Service]
    {
        var targets: [[Int]] = Array(repeating: [], count: services.count)
        for (index, list) in nodes.enumerated() {
            for node in list {
                guard let target = includedService(node, by: index, among: services) else { continue }
                if targets[index].contains(target) {
                    error(at: node, "the service is included twice")
                } else {
                    targets[index].append(target)
                }
            }
        }
        var order: [Int] = []
        var placed: Set<Int> = []
        var isCyclic = false
        // Each round places what only includes placed services, in the file's order; a cycle is what is left.
        while order.count < services.count {
            let ready = services.indices.filter { !placed.contains($0) && placed.isSuperset(of: targets[$0]) }
            guard !ready.isEmpty else {
                isCyclic = true
                break
            }
            // One at a time, so that a service moves no further back than it must.
            order.append(ready[0])
            placed.insert(ready[0])
        }
        if isCyclic, let first = services.indices.first(where: { !placed.contains($0) }) {
            error(
                at: services[first].mark,
                "the service \(services[first].uuid) includes itself, by way of others or directly")
            return services
        }
        let position = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0) })
        return order.map { index in
            var service = services[index]
            service.includes = targets[index].compactMap { position[$0] }
            return service
        }
    }

    private mutating func includedService(
        _ node: Node, by index: Int, among services: [Profile.Service]
    ) -> Int? {
        guard let uuid = serviceUUID(node) else { return nil }
        let found = services.indices.filter { services[$0].uuid == uuid }
        switch found.count {
        case 1: return found[0]
        case 0:
            error(at: node, "the profile has no service \(uuid) to include")
            return nil
        default:
            error(
                at: node,
                "the profile has \(found.count) services \(uuid); which one is included cannot be said")
            return nil
        }
    }
}
