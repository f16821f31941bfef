package import Mynah
package import MynahCore
package import MynahEmulator
import MynahProfiles
package import MynahRun
package import MynahSupport

/// Something that `mynah connect` reports: the result of a command, or what the device did by itself.
package struct ConnectEvent: Sendable {
    private enum Text: Sendable {
        case line(String)
        /// The value of an attribute, with its time if the device sent it.
        case value(time: WallTime?, name: String, value: ValueText)
        case services([DiscoveredService])
        case help
    }

    package var time: WallTime
    package var name: String
    package var fields: [JSON.Member]
    private var content: Text

    package init(_ name: String, _ fields: [JSON.Member] = [], text: String) {
        self.init(name, fields, .line(text))
    }

    private init(_ name: String, _ fields: [JSON.Member], _ content: Text, time: WallTime = .now()) {
        self.time = time
        self.name = name
        self.fields = fields
        self.content = content
    }

    package var json: JSON {
        .object([.init("time", .string(time.rfc3339)), .init("event", .string(name))] + fields)
    }

    /// For people, with lines that fit a terminal of this width if that is possible; `nil` for a pipe.
    package func text(width: Int? = nil) -> String {
        let width = width ?? .max
        return switch content {
        case .line(let text): text
        case .value(let time, let name, let value):
            ConnectText.lines(ofValue: value, of: name, at: time, width: width).joined(separator: "\n")
        case .services(let services):
            ConnectText.lines(of: services, width: width).joined(separator: "\n")
        case .help: ConnectRequest.help(width: width).joined(separator: "\n")
        }
    }

    package static var help: ConnectEvent { ConnectEvent("help", [], .help) }

    // MARK: - The link

    package static func connected(_ address: DeviceAddress, name: String?) -> ConnectEvent {
        var fields: [JSON.Member] = [
            .init("peripheral", .string(address.description)),
            .init("addressType", .string(address.kind.rawValue)),
        ]
        if let name { fields.append(.init("name", .string(name))) }
        let shown = name.map { " (\(PrintableText.of($0)))" } ?? ""
        return ConnectEvent("connected", fields, text: "connected to \(address)\(shown)")
    }

    package static func disconnected(_ error: RadioError?) -> ConnectEvent {
        ConnectEvent(
            "disconnected", error.map { [.init("message", .string($0.message))] } ?? [],
            text: error.map { "disconnected: \($0.message)" } ?? "disconnected")
    }

    package static func mtu(_ mtu: Int) -> ConnectEvent {
        ConnectEvent(
            "mtu", [.init("mtu", .integer(mtu))],
            text: "MTU \(mtu): \(mtu - 3) bytes of a value in one packet")
    }

    package static func rssi(_ rssi: Int8) -> ConnectEvent {
        ConnectEvent("rssi", [.init("rssi", .integer(Int(rssi)))], text: "\(rssi) dBm")
    }

    package static func failed(_ message: String, _ error: ATTError? = nil) -> ConnectEvent {
        var fields: [JSON.Member] = [.init("message", .string(message))]
        if let error { fields.append(.init("code", .integer(Int(error.code)))) }
        return ConnectEvent("error", fields, text: "error: \(message)")
    }

    /// A request that failed, or that the device refused, with a hint for the user.
    package static func failed(_ error: RequestError, hint: String? = nil) -> ConnectEvent {
        let hint = hint.map { "; \($0)" } ?? ""
        return switch error {
        case .refused(let code): .failed("the device answered \(code)\(hint)", code)
        case .failed(let error): .failed("\(error)\(hint)")
        }
    }

    package static func servicesChanged(_ range: ClosedRange<AttributeHandle>) -> ConnectEvent {
        ConnectEvent(
            "services.changed",
            [.init("start", .handle(range.lowerBound)), .init("end", .handle(range.upperBound))],
            text: "the device's services changed; \"services\" discovers them again")
    }

    /// A passkey that a pairing shows: the device's user types it (`display`) or compares it (`compare`).
    package static func passkey(_ step: String, _ number: UInt32) -> ConnectEvent {
        let digits = String(number)
        let passkey = String(repeating: "0", count: max(0, 6 - digits.count)) + digits
        return ConnectEvent(
            "pairing.passkey", [.init("step", .string(step)), .init("passkey", .string(passkey))],
            text: step == "display" ? "type \(passkey) on the device" : "does the device show \(passkey)?")
    }

    // MARK: - Values

    /// A value that was written, or sent without a response.
    package static func written(
        _ target: AttributePath.Target, _ value: [UInt8], withResponse: Bool
    ) -> ConnectEvent {
        let fields =
            target.fields + JSON.members(of: value, target.layout)
            + [.init("withResponse", .bool(withResponse))]
        guard !withResponse else {
            return ConnectEvent("written", fields, text: "\(target.name) is written")
        }
        var text = "sent to \(target.name), without response"
        if case .characteristic(let characteristic) = target,
            !characteristic.properties.contains(.writeWithoutResponse)
        {
            text += "; it lacks the property writeWithoutResponse and may ignore the value"
        }
        return ConnectEvent("written", fields, text: text)
    }

    /// A value that was read, or sent by the device: `read`, `notified` or `indicated`.
    package static func value(
        _ name: String, _ target: AttributePath.Target, _ value: [UInt8], time: WallTime = .now()
    ) -> ConnectEvent {
        let layout = target.layout
        let fields = target.fields + JSON.members(of: value, layout)
        let content = Text.value(
            time: name == "read" ? nil : time, name: target.name,
            value: ValueText(value, layout?.decode(value)))
        return ConnectEvent(name, fields, content, time: time)
    }

    /// A value that was sent from a handle whose characteristic is not known.
    package static func value(_ name: String, from handle: AttributeHandle, _ value: [UInt8]) -> ConnectEvent
    {
        ConnectEvent(
            name, [.init("handle", .handle(handle)), .init("value", .string(Hex.encode(value)))],
            text: "@\(handle)  \(Hex.encode(value))")
    }

    /// That notifications or indications of a characteristic are on or off now.
    package static func subscription(_ isOn: Bool, _ target: AttributePath.Target) -> ConnectEvent {
        ConnectEvent(
            isOn ? "subscribed" : "unsubscribed", target.fields,
            text: "\(target.name) is \(isOn ? "subscribed" : "no longer subscribed")")
    }

    // MARK: - Services

    package static func services(_ services: [DiscoveredService]) -> ConnectEvent {
        ConnectEvent(
            "services", [.init("services", .array(services.map(Self.json)))], .services(services))
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
}

extension AttributePath.Target {
    /// The SIG's name, or the UUID.
    package var name: String {
        switch self {
        case .characteristic(let characteristic): Self.name(of: characteristic.uuid)
        case .descriptor(let descriptor, let characteristic):
            Self.name(of: characteristic.uuid) + " / " + Self.name(of: descriptor.uuid)
        }
    }

    private static func name(of uuid: BluetoothUUID) -> String {
        AssignedNumbers.name(of: uuid) ?? uuid.description
    }

    /// The layout of its value, or `nil` if it is not known.
    var layout: ValueLayout? {
        switch self {
        case .characteristic(let characteristic): KnownLayouts.layout(of: characteristic.uuid)
        case .descriptor: nil
        }
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
