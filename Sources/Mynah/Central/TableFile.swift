import MynahCore
import MynahSupport

/// The attribute tables of bonded devices in a phone's state directory, the most recently used last.
struct TableFile: KeptContent, Hashable {
    private static let version = 1

    /// A device with its table.
    struct Device: Hashable {
        var address: DeviceAddress
        var table: KeptTables.Table
    }

    var devices: [Device] = []

    var fileName: String { "attribute-tables.json" }
    var subject: String { "the attribute tables of bonded devices" }

    var json: JSON {
        .object([
            .init("mynahState", .integer(Self.version)),
            .init(
                "devices",
                .array(
                    devices.map {
                        .object(
                            [
                                .init("address", .string($0.address.description)),
                                .init("addressKind", .string($0.address.kind.rawValue)),
                            ] + $0.table.members)
                    })),
        ])
    }
}

extension TableFile {
    /// Reads the tables; `next` makes an empty table.
    init(json: JSON, _ next: () -> KeptTables.Table) throws(PreservedStateProblem) {
        try json.checkVersion(Self.version)
        guard let devices = json["devices"]?.arrayValue else {
            throw .init(description: "devices are missing")
        }
        for device in devices {
            guard
                let kind = device["addressKind"]?.stringValue.flatMap({ DeviceAddress.Kind(rawValue: $0) }),
                let address = device["address"]?.stringValue.flatMap({ DeviceAddress($0, kind: kind) })
            else { throw .init(description: "a device has no address") }
            var table = next()
            try table.noteAnswers(of: device)
            self.devices.append(Device(address: address, table: table))
        }
    }
}

// To JSON and back.
extension KeptTables.Table {
    fileprivate var members: [JSON.Member] {
        let discoveries = services.map { (asked: $0.key, members: $0.key.members, found: $0.value) }
            .sorted { $0.asked.place < $1.asked.place }
        let characteristics = characteristics.sorted {
            $0.key.handles.lowerBound.rawValue < $1.key.handles.lowerBound.rawValue
        }
        let descriptors = descriptors.sorted { $0.key.handle.rawValue < $1.key.handle.rawValue }
        return [
            .init(
                "discoveries",
                .array(discoveries.map { Self.answer($0.members, $0.found.map { .object($0.members) }) })),
            .init(
                "characteristics",
                .array(
                    characteristics.map {
                        Self.answer(
                            [.init("of", .object($0.key.members))], $0.value.map { .object($0.members) })
                    })),
            .init(
                "descriptors",
                .array(
                    descriptors.map {
                        Self.answer([.init("of", .object($0.key.members))], $0.value.map(\.json))
                    })),
        ]
    }

    private static func answer(_ asked: [JSON.Member], _ found: [JSON]) -> JSON {
        .object(asked + [.init("found", .array(found))])
    }

    /// Adds the answers of a device in the file to the table.
    fileprivate mutating func noteAnswers(of device: JSON) throws(PreservedStateProblem) {
        for (answer, found) in try Self.answers(device, "discoveries") {
            note(
                try Self.read(found) { json throws(PreservedStateProblem) in
                    try RemoteService(preserved: json)
                }, to: try Services(answer))
        }
        for (answer, found) in try Self.answers(device, "characteristics") {
            note(
                try Self.read(found) { json throws(PreservedStateProblem) in
                    try RemoteCharacteristic(preserved: json)
                }, of: try RemoteService(preserved: answer["of"] ?? .null))
        }
        for (answer, found) in try Self.answers(device, "descriptors") {
            note(
                try Self.read(found) { json throws(PreservedStateProblem) in
                    try RemoteDescriptor(preserved: json)
                }, of: try RemoteCharacteristic(preserved: answer["of"] ?? .null))
        }
    }

    private static func answers(
        _ device: JSON, _ key: String
    ) throws(PreservedStateProblem) -> [(answer: JSON, found: [JSON])] {
        guard let list = device[key]?.arrayValue else { throw .init(description: "\(key) are missing") }
        var answers: [(answer: JSON, found: [JSON])] = []
        for answer in list {
            guard let found = answer["found"]?.arrayValue else {
                throw .init(description: "one of \(key) has no answer")
            }
            answers.append((answer, found))
        }
        return answers
    }

    private static func read<Attribute>(
        _ list: [JSON], _ parse: (JSON) throws(PreservedStateProblem) -> Attribute
    ) throws(PreservedStateProblem) -> [Attribute] {
        var attributes: [Attribute] = []
        for json in list { attributes.append(try parse(json)) }
        return attributes
    }
}

extension KeptTables.Table.Services {
    private enum Kind: String {
        case primary, secondary, included

        var member: JSON.Member { .init("of", .string(rawValue)) }
    }

    /// The sort key of a discovery in the file: all primary services, those of one type, secondary services,
    /// or included services.
    fileprivate var place: String {
        switch self {
        case .primary(let type): "0 \(type?.description ?? "")"
        case .secondary: "1"
        case .included(let service): "2 \(100_000 + Int(service.handles.lowerBound.rawValue))"
        }
    }

    fileprivate var members: [JSON.Member] {
        switch self {
        case .primary(let type):
            [Kind.primary.member, .init("uuid", type.map { .string($0.description) } ?? .null)]
        case .secondary: [Kind.secondary.member]
        case .included(let service): [Kind.included.member, .init("in", .object(service.members))]
        }
    }

    fileprivate init(_ json: JSON) throws(PreservedStateProblem) {
        switch json["of"]?.stringValue.flatMap({ Kind(rawValue: $0) }) {
        case .primary?:
            let type = json["uuid"] ?? .null
            guard type != .null else {
                self = .primary(nil)
                return
            }
            guard let uuid = type.stringValue.flatMap({ BluetoothUUID($0) }) else {
                throw .init(description: "the type of a discovery is invalid")
            }
            self = .primary(uuid)
        case .secondary?: self = .secondary
        case .included?: self = .included(in: try RemoteService(preserved: json["in"] ?? .null))
        case nil: throw .init(description: "a discovery is of an unknown kind")
        }
    }
}
