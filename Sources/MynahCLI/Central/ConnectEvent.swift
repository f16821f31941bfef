import Mynah
import MynahConsole
import MynahCore
import MynahEmulator
import MynahSupport

/// Something that `mynah connect` tells: what a request came to, or what the device did by itself.
struct ConnectEvent: Sendable {
    var time = WallTime.now()
    var name: String
    var fields: [JSON.Member]
    /// For people; several lines for a tree.
    var text: String

    init(_ name: String, _ fields: [JSON.Member] = [], text: String) {
        self.name = name
        self.fields = fields
        self.text = text
    }

    var json: JSON {
        .object([.init("time", .string(time.rfc3339)), .init("event", .string(name))] + fields)
    }

    // MARK: - The link

    static func connected(_ peripheral: Peripheral, name: String?) -> ConnectEvent {
        let address = peripheral.address
        var fields: [JSON.Member] = [
            .init("peripheral", .string(address.description)),
            .init("addressType", .string(address.kind.rawValue)),
        ]
        if let name { fields.append(.init("name", .string(name))) }
        let shown = name.map { " (\(PrintableText.of($0)))" } ?? ""
        return ConnectEvent("connected", fields, text: "connected to \(address)\(shown)")
    }

    static func disconnected(_ error: RadioError?) -> ConnectEvent {
        ConnectEvent(
            "disconnected", error.map { [.init("message", .string($0.message))] } ?? [],
            text: error.map { "disconnected: \($0.message)" } ?? "disconnected")
    }

    static func mtu(_ mtu: Int) -> ConnectEvent {
        ConnectEvent(
            "mtu", [.init("mtu", .integer(mtu))],
            text: "MTU \(mtu): \(mtu - 3) bytes of a value in one packet")
    }

    static func rssi(_ rssi: Int8) -> ConnectEvent {
        ConnectEvent("rssi", [.init("rssi", .integer(Int(rssi)))], text: "\(rssi) dBm")
    }

    static func failed(_ message: String, _ error: ATTError? = nil) -> ConnectEvent {
        var fields: [JSON.Member] = [.init("message", .string(message))]
        if let error { fields.append(.init("code", .integer(Int(error.code)))) }
        return ConnectEvent("error", fields, text: "error: \(message)")
    }

    // MARK: - Values

    /// A value that was written, or sent without anyone saying what became of it.
    static func written(
        _ target: AttributePath.Target, _ value: [UInt8], withResponse: Bool
    ) -> ConnectEvent {
        let fields =
            target.fields + [
                .init("value", .string(Hex.encode(value))), .init("withResponse", .bool(withResponse)),
            ]
        guard !withResponse else {
            return ConnectEvent("written", fields, text: "\(target.name) is written")
        }
        var text = "sent to \(target.name), which answers no command"
        if case .characteristic(let characteristic) = target,
            !characteristic.properties.contains(.writeWithoutResponse)
        {
            text += "; it does not say that it takes any"
        }
        return ConnectEvent("written", fields, text: text)
    }

    /// A value that was read, or sent by the device.
    static func value(_ name: String, _ target: AttributePath.Target, _ value: [UInt8]) -> ConnectEvent {
        let fields = target.fields + [JSON.Member("value", .string(Hex.encode(value)))]
        let shown = EventText.value(Hex.encode(value))
        let text: String
        switch name {
        case "notified", "indicated":
            text = "\(WallTime.now().localClock)  \(target.name)  \(shown)"
        default: text = "\(target.name)  \(shown)"
        }
        return ConnectEvent(name, fields, text: text)
    }

    /// What has no value of its own.
    static func done(_ name: String, _ target: AttributePath.Target, _ text: String) -> ConnectEvent {
        ConnectEvent(name, target.fields, text: "\(target.name) \(text)")
    }

    // MARK: - Services

    static func services(_ services: [DiscoveredService]) -> ConnectEvent {
        ConnectEvent(
            "services", [.init("services", .array(services.map(Self.json)))],
            text: services.flatMap(Self.lines).joined(separator: "\n"))
    }

    private static func json(_ service: DiscoveredService) -> JSON {
        var members: [JSON.Member] = [
            .init("uuid", .string(service.uuid.description)), .init("primary", .bool(service.isPrimary)),
            .init("handle", .handle(service.id)),
        ]
        if !service.includedServices.isEmpty {
            members.append(
                .init("includes", .array(service.includedServices.map { .string($0.uuid.description) })))
        }
        members.append(
            .init(
                "characteristics",
                .array(
                    service.characteristics.map { characteristic in
                        .object([
                            .init("uuid", .string(characteristic.uuid.description)),
                            .init("handle", .handle(characteristic.id)),
                            .init("properties", .array(characteristic.properties.names.map { .string($0) })),
                            .init(
                                "descriptors",
                                .array(
                                    (characteristic.descriptors ?? []).map {
                                        .object([
                                            .init("uuid", .string($0.uuid.description)),
                                            .init("handle", .handle($0.handle)),
                                        ])
                                    })),
                        ])
                    })))
        return .object(members)
    }

    private static func lines(_ service: DiscoveredService) -> [String] {
        var lines = [title(service.uuid) + (service.isPrimary ? "" : "  secondary")]
        for included in service.includedServices { lines.append("  includes \(title(included.uuid))") }
        for characteristic in service.characteristics {
            lines.append(
                "  " + ScreenLine.pad(title(characteristic.uuid), 46) + "  "
                    + ScreenLine.pad("@\(characteristic.id)", 5) + "  "
                    + characteristic.properties.names.joined(separator: ", "))
            for descriptor in characteristic.descriptors ?? [] {
                lines.append("    " + ScreenLine.pad(title(descriptor.uuid), 44) + "  @\(descriptor.handle)")
            }
        }
        return lines
    }

    private static func title(_ uuid: BluetoothUUID) -> String {
        let shown = uuid.shortest.description
        return AssignedNumbers.displayName(of: uuid).map { "\(shown) \($0)" } ?? shown
    }
}

extension AttributePath.Target {
    /// As it is called, or its UUID.
    var name: String {
        switch self {
        case .characteristic(let characteristic): Self.name(of: characteristic.uuid)
        case .descriptor(let descriptor, let characteristic):
            Self.name(of: characteristic.uuid) + " / " + Self.name(of: descriptor.uuid)
        }
    }

    private static func name(of uuid: BluetoothUUID) -> String {
        AssignedNumbers.name(of: uuid) ?? uuid.description
    }

    var fields: [JSON.Member] {
        switch self {
        case .characteristic(let characteristic): Self.fields(of: characteristic)
        case .descriptor(let descriptor, let characteristic):
            Self.fields(of: characteristic) + [.init("descriptor", .string(descriptor.uuid.description))]
        }
    }

    private static func fields(of characteristic: DiscoveredCharacteristic) -> [JSON.Member] {
        [
            .init("service", .string(characteristic.service.description)),
            .init("characteristic", .string(characteristic.uuid.description)),
        ]
    }
}
