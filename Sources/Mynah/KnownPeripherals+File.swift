import MynahCore
import MynahLifecycle
import MynahSupport

// The file of known devices in a phone's state directory.
extension KnownPeripherals: KeptContent {
    static let fileName = "known-peripherals.json"
    static let version = 1

    var fileName: String { Self.fileName }
    var subject: String { "the list of known peripherals" }

    var json: JSON {
        .object([
            .init("mynahState", .integer(Self.version)),
            .init("peripherals", .array(entries.map { .object($0.members) })),
        ])
    }

    /// The devices in the file, the least recently used first.
    static func entries(of json: JSON) throws(PreservedStateProblem) -> [Entry] {
        try json.checkVersion(version)
        guard let devices = json["peripherals"]?.arrayValue else {
            throw .init(description: "peripherals are missing")
        }
        var entries: [Entry] = []
        for device in devices { entries.append(try Entry(device)) }
        return entries
    }
}

extension KnownPeripherals.Entry {
    var members: [JSON.Member] {
        [
            .init("identifier", .string(identifier.description)),
            .init("address", .string(address.description)),
            .init("addressKind", .string(address.kind.rawValue)),
            .init("name", name.map { .string($0) } ?? .null),
        ] + (deviceName.map { [.init("deviceName", .string($0))] } ?? [])
    }

    init(_ json: JSON) throws(PreservedStateProblem) {
        guard let identifier = json["identifier"]?.stringValue.flatMap({ PeripheralIdentifier($0) }) else {
            throw .init(description: "a peripheral has no identifier")
        }
        guard
            let kind = json["addressKind"]?.stringValue.flatMap({ DeviceAddress.Kind(rawValue: $0) }),
            let address = json["address"]?.stringValue.flatMap({ DeviceAddress($0, kind: kind) })
        else { throw .init(description: "the peripheral \(identifier) has no address") }
        self.init(
            identifier: identifier, address: address, name: json["name"]?.stringValue,
            deviceName: json["deviceName"]?.stringValue)
    }
}
