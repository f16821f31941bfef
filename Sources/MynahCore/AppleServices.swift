/// The services that iOS treats specially.
package enum AppleServices {
    /// A service that no app may publish.
    package struct Reserved: Hashable, Sendable {
        package let uuid: BluetoothUUID
        package let name: String
        /// A published report of an app whose service was refused.
        ///
        /// The value is `nil` if only Apple's sentence (`reserved`) implies that the service is refused.
        package let seen: String?

        init(_ uuid: BluetoothUUID, _ name: String, seen: String? = nil) {
            (self.uuid, self.name, self.seen) = (uuid, name, seen)
        }
    }

    /// The services that iOS hides from apps, even in the discovery of all services.
    ///
    /// These are GAP, GATT, HID and the Apple Notification Center Service (Accessory Design Guidelines,
    /// Bluetooth), and Bond Management (Apple Developer Forums, 72303).
    package static let hidden: Set<BluetoothUUID> = [
        BluetoothUUID(0x1800 as UInt16), BluetoothUUID(0x1801 as UInt16), BluetoothUUID(0x1812 as UInt16),
        BluetoothUUID(0x181E as UInt16), notificationCenter,
    ]

    package static let notificationCenter: BluetoothUUID = "7905F431-B5CE-4E99-A40F-4B1E122D00D0"

    package static let media: BluetoothUUID = "89D3502B-0F36-433A-8EF4-C502AD55F8DC"

    /// The services that no app can publish: iOS refuses them with CBError 8, `uuidNotAllowed`.
    ///
    /// Apple publishes no list, only a sentence: these are "Apple specific UUIDs, and entries in the GATT
    /// profiles that are otherwise being used by the system" (Apple Developer Forums, 826714).
    package static let reserved = [
        Reserved(BluetoothUUID(0x1800 as UInt16), "Generic Access"),
        Reserved(BluetoothUUID(0x1801 as UInt16), "Generic Attribute"),
        Reserved(BluetoothUUID(0x1805 as UInt16), "Current Time"),
        Reserved(BluetoothUUID(0x180A as UInt16), "Device Information", seen: "noble/bleno, issue 99"),
        Reserved(BluetoothUUID(0x180F as UInt16), "Battery", seen: "Apple Developer Forums, 826714"),
        Reserved(
            BluetoothUUID(0x1812 as UInt16), "Human Interface Device", seen: "angelworm/BLKeyboard, issue 1"),
        Reserved(notificationCenter, "Apple Notification Center", seen: "Stack Overflow, 19968406"),
        Reserved(media, "Apple Media"),
    ]

    /// Returns the reserved service with this UUID, or `nil` if an app may publish the service.
    package static func reserved(_ uuid: BluetoothUUID) -> Reserved? {
        reserved.first { $0.uuid == uuid }
    }

    /// Throws `uuidNotAllowed` for the first reserved service.
    package static func check(_ services: [ServiceDefinition]) throws(RadioError) {
        for service in services {
            guard let reserved = reserved(service.uuid) else { continue }
            throw RadioError(
                .uuidNotAllowed,
                "iOS keeps the \(reserved.name) service \(service.uuid) for itself: no app may publish it")
        }
    }
}
