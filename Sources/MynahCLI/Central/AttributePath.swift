import Mynah
import MynahConsole
import MynahCore
import MynahSupport

/// An attribute as it is typed: `2A37`, `heart-rate-measurement`, `180D/2A37`, `2A37/2901`, or `@12` by its handle.
struct AttributePath: Hashable, Sendable {
    /// What it leads to.
    enum Target: Sendable {
        case characteristic(DiscoveredCharacteristic)
        case descriptor(RemoteDescriptor, of: DiscoveredCharacteristic)
    }

    private enum Form: Hashable, Sendable {
        case handle(UInt16)
        case steps([Step])
    }

    /// A step has up to three meanings, of which the place decides.
    private struct Step: Hashable, Sendable {
        var text: String
        var uuids: Set<BluetoothUUID>
    }

    private let form: Form
    let text: String

    init(parsing text: String) throws(ConnectRequest.Problem) {
        self.text = PrintableText.of(text)
        if text.hasPrefix("@") {
            guard let handle = UInt16(text.dropFirst()), handle > 0 else {
                throw ConnectRequest.Problem(message: "\(self.text) is no handle, as @12 is")
            }
            form = .handle(handle)
            return
        }
        var steps: [Step] = []
        for part in text.split(separator: "/", omittingEmptySubsequences: false) {
            let part = String(part)
            let found = Set(
                [
                    BluetoothUUID(part), AssignedNumbers.service(named: part),
                    AssignedNumbers.characteristic(named: part), AssignedNumbers.descriptor(named: part),
                    AssignedNumbers.vendor(named: part),
                ].compactMap { $0 })
            guard !found.isEmpty else {
                let names = AssignedNumbers.characteristicNames + AssignedNumbers.serviceNames
                let near = NearestName.of(part, among: names).map { "; did you mean \"\($0)\"?" } ?? ""
                throw ConnectRequest.Problem(
                    message: "\"\(PrintableText.of(part))\" is neither a UUID nor a name\(near)")
            }
            steps.append(Step(text: part, uuids: found))
        }
        guard steps.count <= 3 else {
            throw ConnectRequest.Problem(
                message: "\(self.text) has more steps than service, characteristic and descriptor")
        }
        form = .steps(steps)
    }

    /// What it leads to among what was discovered.
    func target(in services: [DiscoveredService]) throws(ConnectRequest.Problem) -> Target {
        let targets: [Target]
        switch form {
        case .handle(let handle): targets = Self.all(in: services).filter { $0.handle == handle }
        case .steps(let steps): targets = Self.find(steps, in: services)
        }
        guard let first = targets.first else {
            throw ConnectRequest.Problem(message: "the device has no \(text)")
        }
        guard targets.count == 1 else {
            let handles = targets.map { "@\($0.handle)" }.joined(separator: ", ")
            throw ConnectRequest.Problem(
                message:
                    "the device has \(targets.count) of \(text): name the service before it, or a handle: \(handles)"
            )
        }
        return first
    }

    private static func all(in services: [DiscoveredService]) -> [Target] {
        services.flatMap { service in
            service.characteristics.flatMap { characteristic in
                [.characteristic(characteristic)]
                    + (characteristic.descriptors ?? []).map { .descriptor($0, of: characteristic) }
            }
        }
    }

    private static func find(_ steps: [Step], in services: [DiscoveredService]) -> [Target] {
        var services = services
        var rest = steps[...]
        // The first step is a service where something follows that is in it.
        if rest.count > 1, let first = rest.first {
            let found = services.filter { first.uuids.contains($0.uuid) }
            if !found.isEmpty {
                services = found
                rest = rest.dropFirst()
            }
        }
        guard let step = rest.popFirst() else { return [] }
        let characteristics = services.flatMap(\.characteristics).filter { step.uuids.contains($0.uuid) }
        if rest.isEmpty, !characteristics.isEmpty { return characteristics.map { .characteristic($0) } }
        // A descriptor by itself, or behind its characteristic.
        let owners = rest.isEmpty ? services.flatMap(\.characteristics) : characteristics
        let last = rest.popFirst() ?? step
        guard rest.isEmpty else { return [] }
        return owners.flatMap { owner in
            (owner.descriptors ?? []).filter { last.uuids.contains($0.uuid) }
                .map { .descriptor($0, of: owner) }
        }
    }
}

extension AttributePath.Target {
    var handle: UInt16 {
        switch self {
        case .characteristic(let characteristic): characteristic.id
        case .descriptor(let descriptor, _): descriptor.handle
        }
    }
}
