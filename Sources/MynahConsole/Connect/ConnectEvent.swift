package import Mynah
package import MynahCore
package import MynahEmulator
package import MynahProfiles
import MynahRun
package import MynahSupport

/// An event of `mynah connect`: the result of a command, or an event of the device.
package struct ConnectEvent: Sendable {
    private enum Text: Sendable {
        case line(String)
        /// The value of an attribute; `time` is `nil` if the value was read.
        case value(time: WallTime?, name: String, value: ValueText)
        case services([DiscoveredService])
        case help
    }

    package var time: WallTime
    package var name: ConnectName
    private var payload: EventPayload
    private var content: Text

    package init(_ name: ConnectName, text: String) {
        self.init(name, .none, text: text)
    }

    private init(_ name: ConnectName, _ payload: EventPayload, text: String) {
        self.init(name, payload, .line(text))
    }

    private init(
        _ name: ConnectName, _ payload: EventPayload, _ content: Text, time: WallTime = .now()
    ) {
        self.time = time
        self.name = name
        self.payload = payload
        self.content = content
    }

    package var json: JSON {
        .object(
            [.init("time", .string(time.rfc3339)), .init("event", .string(name.rawValue))]
                + payload.whole(EventTable.fields(of: name)))
    }

    /// The event as text in one or more lines, which fit a terminal of this width if possible.
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

    package static var help: ConnectEvent { ConnectEvent(.help, .none, .help) }

    // MARK: - The link

    package static func connected(_ address: DeviceAddress, name: String?) -> ConnectEvent {
        var connection = EventPayload.Connection()
        connection.address = address
        connection.name = name
        let shown = name.map { " (\(PrintableText.of($0)))" } ?? ""
        return ConnectEvent(.connected, .connection(connection), text: "connected to \(address)\(shown)")
    }

    package static func disconnected(_ error: RadioError?) -> ConnectEvent {
        ConnectEvent(
            .disconnected, .connection(.init(message: error?.message)),
            text: error.map { "disconnected: \($0.message)" } ?? "disconnected")
    }

    package static func mtu(_ mtu: Int) -> ConnectEvent {
        ConnectEvent(
            .mtu, .connection(.init(mtu: mtu)),
            text: "MTU \(mtu): \(mtu - 3) bytes of a value in one packet")
    }

    package static func rssi(_ rssi: Int8) -> ConnectEvent {
        ConnectEvent(.rssi, .connection(.init(rssi: Int(rssi))), text: "\(rssi) dBm")
    }

    package static func failed(_ message: String, _ error: ATTError? = nil) -> ConnectEvent {
        var connection = EventPayload.Connection(message: message)
        connection.code = error.map { Int($0.code) }
        return ConnectEvent(.error, .connection(connection), text: "error: \(message)")
    }

    /// The event of a request that failed or was refused; `hint` is advice for the user.
    package static func failed(_ error: RequestError, hint: String? = nil) -> ConnectEvent {
        let hint = hint.map { "; \($0)" } ?? ""
        return switch error {
        case .refused(let code): .failed("the device answered \(code)\(hint)", code)
        case .failed(let error): .failed("\(error)\(hint)")
        }
    }

    package static func servicesChanged(_ range: ClosedRange<AttributeHandle>) -> ConnectEvent {
        var connection = EventPayload.Connection()
        connection.start = Int(range.lowerBound.rawValue)
        connection.end = Int(range.upperBound.rawValue)
        return ConnectEvent(
            .servicesChanged, .connection(connection),
            text: "the device's services changed; \"services\" discovers them again")
    }

    /// The event of a passkey that the user enters on the device (`display`) or compares (`compare`).
    package static func passkey(_ step: PairingStep) -> ConnectEvent {
        let pairing = EventPayload.Pairing(nil, .init(), step)
        let passkey = pairing.passkey ?? ""
        let isTyped = if case .display = step { true } else { false }
        return ConnectEvent(
            .pairingPasskey, .pairing(pairing),
            text: isTyped ? "type \(passkey) on the device" : "does the device show \(passkey)?")
    }

    // MARK: - Values

    /// The event of a value that was written, with a request or with a command.
    package static func written(
        _ target: AttributePath.Target, _ value: [UInt8], withResponse: Bool
    ) -> ConnectEvent {
        var use = EventPayload.AttributeUse(target.attribute)
        use.value = value
        use.withResponse = withResponse
        guard !withResponse else {
            return ConnectEvent(.written, .attribute(use), text: "\(target.name) is written")
        }
        var text = "sent to \(target.name), without response"
        if case .characteristic(let characteristic) = target,
            !characteristic.properties.contains(.writeWithoutResponse)
        {
            text += "; it lacks the property writeWithoutResponse and may ignore the value"
        }
        return ConnectEvent(.written, .attribute(use), text: text)
    }

    /// The event of a value that was read, or that the device sent: `read`, `notified` or `indicated`.
    package static func value(
        _ name: ConnectName, _ target: AttributePath.Target, _ value: [UInt8], time: WallTime = .now()
    ) -> ConnectEvent {
        var use = EventPayload.AttributeUse(target.attribute)
        use.value = value
        let content = Text.value(
            time: name == .read ? nil : time, name: target.name,
            value: ValueText(value, target.attribute.fields(of: value)))
        return ConnectEvent(name, .attribute(use), content, time: time)
    }

    /// The event of a value that the device sent with an unknown handle.
    package static func value(
        _ name: ConnectName, from handle: AttributeHandle, _ value: [UInt8]
    ) -> ConnectEvent {
        var connection = EventPayload.Connection()
        connection.handle = Int(handle.rawValue)
        connection.value = value
        return ConnectEvent(name, .connection(connection), text: "@\(handle)  \(Hex.encode(value))")
    }

    /// The event of notifications or indications being turned on or off.
    package static func subscription(_ isOn: Bool, _ target: AttributePath.Target) -> ConnectEvent {
        ConnectEvent(
            isOn ? .subscribed : .unsubscribed, .attribute(.init(target.attribute)),
            text: "\(target.name) is \(isOn ? "subscribed" : "no longer subscribed")")
    }

    // MARK: - Services

    package static func services(_ services: [DiscoveredService]) -> ConnectEvent {
        ConnectEvent(
            .services, .connection(.init(services: .array(services.map(\.json)))), .services(services))
    }
}

extension AttributePath.Target {
    /// The SIG's name of the attribute, or its UUID.
    package var name: String { attribute.name }
}
