import MynahDBus
import MynahSupport

/// The D-Bus object from which bluetoothd reads the advertisement of one set.
final class AdvertisementObject: DBusObject {
    private static let interfaces = [
        DBusInterface(
            BlueZ.advertisement, methods: [.init("Release")],
            properties: BlueZAdvertising.propertyTypes.map {
                .init($0.name, $0.type, writable: $0.name == "TxPower")
            })
    ]

    private let properties: Lock<[String: DBusValue]>
    private let number: Int
    private let send: BusEventHandler

    init(_ advertising: BlueZAdvertising, number: Int, send: @escaping BusEventHandler) {
        self.number = number
        properties = Lock(advertising.properties)
        self.send = send
    }

    var interfaces: [DBusInterface] { Self.interfaces }

    /// Replaces the properties.
    ///
    /// Returns the changed ones by name, and the names of the removed ones.
    func update(_ advertising: BlueZAdvertising) -> (changed: [(String, DBusValue)], removed: [String]) {
        let after = advertising.properties
        let before = properties.withLock { properties in
            let before = properties
            properties = after
            return before
        }
        let changed = after.filter { before[$0.key] != $0.value }.sorted { $0.key < $1.key }
        return (changed.map { ($0.key, $0.value) }, before.keys.filter { after[$0] == nil }.sorted())
    }

    func handle(_ call: MethodCall, _ method: DBusInterface.Method) {
        call.reply()
        send(.advertisementReleased(number))
    }

    func property(_ name: String, of interface: String) -> DBusValue? {
        properties.withLock { $0[name] }
    }

    /// Ignores a property that bluetoothd sets.
    ///
    /// With `--experimental`, bluetoothd sets the transmit power that it chose.
    func setProperty(_ name: String, of interface: String, to value: DBusValue) throws(DBusError) {}
}
