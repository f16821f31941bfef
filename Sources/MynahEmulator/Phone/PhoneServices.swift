import MynahCore
package import MynahProfiles

extension EmulatedDevice {
    /// Makes a device with the phone's own services, which belong to no app; `nil` if the phone has none.
    ///
    /// The services are available in every state of the apps, and a request to them wakes no app.
    /// `clockStart` is the start of the phone's clock, in seconds since 1970.
    package init?(_ phone: Profile.PhoneDescription?, label: String, clockStart: Int64) {
        guard let phone, !phone.services.isEmpty else { return nil }
        var table = AttributeTable()
        var services: [ServiceDefinition] = []
        var behaviors: [BehavingService] = []
        for service in phone.services {
            var behaving = service.behavior(of: phone, clockStart).map { BehavingService($0) }
            let characteristics = service.characteristics(of: phone, clockStart).map { each in
                var definition = CharacteristicDefinition(
                    uuid: each.uuid, properties: each.properties, permissions: each.permissions)
                var source = AttributeTable.Source.stored([])
                switch each.value {
                case .constant(let bytes)?: (definition.value, source) = (bytes, .stored(bytes))
                case .generated(let make)?: source = .generated(make)
                case nil: break
                }
                table.add(
                    AttributeTable.Entry(
                        service: service.uuid, characteristic: each.uuid, source: source,
                        maximumLength: definition.maximumLength), as: definition.key)
                behaving?.attributes[each.uuid] = definition.key
                return definition
            }
            services.append(ServiceDefinition(uuid: service.uuid, characteristics: characteristics))
            if let behaving { behaviors.append(behaving) }
        }
        self.init(
            name: label, label: label, identity: DeviceIdentity(name: label), services: services, table: table
        )
        responses.behaviors = behaviors
    }
}

/// A characteristic of a phone's own services.
private struct PhoneCharacteristic {
    enum Value {
        case constant([UInt8])
        case generated(@Sendable (_ tick: UInt64) -> [UInt8])
    }

    var uuid: BluetoothUUID
    var properties: CharacteristicProperties
    var permissions = AttributePermissions(read: .encrypted, write: .encrypted, notify: .encrypted)
    /// The value, or `nil` if the service's behavior provides it.
    var value: Value?
}

extension Profile.PhoneService {
    fileprivate var uuid: BluetoothUUID {
        switch self {
        case .currentTime: "1805"
        case .battery: "180F"
        case .deviceInformation: "180A"
        case .ancs: AppleNotifications.service
        case .ams: AppleMedia.service
        }
    }

    fileprivate func behavior(
        of phone: Profile.PhoneDescription, _ clockStart: Int64
    ) -> (any ServiceBehavior)? {
        switch self {
        case .currentTime, .battery, .deviceInformation: nil
        case .ancs: AppleNotifications(phone.notifications, start: clockStart)
        case .ams: AppleMedia(phone.media)
        }
    }

    /// Returns the characteristics of a service; all but those of Device Information need an encrypted link.
    fileprivate func characteristics(
        of phone: Profile.PhoneDescription, _ clockStart: Int64
    ) -> [PhoneCharacteristic] {
        switch self {
        case .currentTime:
            [
                .init(
                    uuid: "2A2B", properties: [.read, .notify],
                    value: .generated { tick in
                        let date = OctetDate(seconds: clockStart + Int64(clamping: tick))
                        return date.bytes + [date.weekday, 0, 0]
                    }),
                // UTC without daylight saving time.
                .init(uuid: "2A0F", properties: .read, value: .constant([0, 0])),
            ]
        case .battery:
            [
                .init(
                    uuid: "2A19", properties: [.read, .notify],
                    value: .constant([UInt8(clamping: phone.batteryLevel)]))
            ]
        case .deviceInformation:
            [
                .init(
                    uuid: "2A29", properties: .read, permissions: .open,
                    value: .constant(Array("Apple Inc.".utf8))),
                .init(
                    uuid: "2A24", properties: .read, permissions: .open,
                    value: .constant(Array(phone.model.utf8))),
            ]
        case .ancs:
            [
                .init(uuid: AppleNotifications.source, properties: .notify),
                .init(uuid: AppleNotifications.controlPoint, properties: .write),
                .init(uuid: AppleNotifications.dataSource, properties: .notify),
            ]
        case .ams:
            [
                .init(uuid: AppleMedia.remoteCommand, properties: [.write, .notify]),
                .init(uuid: AppleMedia.entityUpdate, properties: [.write, .notify]),
                .init(uuid: AppleMedia.entityAttribute, properties: [.read, .write]),
            ]
        }
    }
}
