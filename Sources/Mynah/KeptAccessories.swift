import MynahCore
import MynahLifecycle
import MynahSupport

/// The accessories of an app that uses AccessorySetupKit, as iOS keeps them over launches and restarts.
struct KeptAccessories: KeptContent, Hashable {
    /// A device that the app's user has picked.
    struct Accessory: Hashable {
        /// The identifier by which the app retrieves the device (bluetoothIdentifier).
        let identifier: PeripheralIdentifier
        /// The device's identity address, or the only known address of the device.
        var address: DeviceAddress
    }

    private static let version = 1

    /// The app's name.
    let app: String
    /// The accessories, in the order in which they were picked.
    private(set) var all: [Accessory] = []

    init(app: String) {
        self.app = app
    }

    func contains(_ address: DeviceAddress) -> Bool { all.contains { $0.address == address } }

    func contains(_ identifier: PeripheralIdentifier) -> Bool { all.contains { $0.identifier == identifier } }

    /// Adds a picked device, or updates the address of one that was picked before.
    mutating func add(_ identifier: PeripheralIdentifier, at address: DeviceAddress) {
        remove(identifier)
        all.append(Accessory(identifier: identifier, address: address))
    }

    /// Removes and returns an accessory, or returns `nil` if none has the identifier.
    @discardableResult
    mutating func remove(_ identifier: PeripheralIdentifier) -> Accessory? {
        all.firstIndex { $0.identifier == identifier }.map { all.remove(at: $0) }
    }

    /// Replaces a device's address by another one of the same device; returns whether the device is an
    /// accessory.
    mutating func moved(from old: DeviceAddress, to new: DeviceAddress) -> Bool {
        guard let index = all.firstIndex(where: { $0.address == old }) else { return false }
        all[index].address = new
        return true
    }

    var fileName: String { "accessories+\(FileNamePart.escape(app, 200)).json" }
    var subject: String { "the accessories of the app \(app)" }

    var json: JSON {
        .object([
            .init("mynahState", .integer(Self.version)), .init("app", .string(app)),
            .init(
                "accessories",
                .array(
                    all.map {
                        .object(
                            KnownPeripherals.Entry(identifier: $0.identifier, address: $0.address).members)
                    })),
        ])
    }

    init(json: JSON, app: String) throws(PreservedStateProblem) {
        try json.checkVersion(Self.version)
        guard json["app"]?.stringValue == app else { throw .init(description: "it belongs to another app") }
        guard let accessories = json["accessories"]?.arrayValue else {
            throw .init(description: "accessories are missing")
        }
        self.init(app: app)
        for accessory in accessories {
            let entry = try KnownPeripherals.Entry(accessory)
            add(entry.identifier, at: entry.address)
        }
    }
}
