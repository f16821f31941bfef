import MynahCore
package import MynahEmulator
import MynahSupport

/// Events as lines for people.
package enum EventText {
    /// The time, the event and what belongs to it.
    package static func line(of event: DeviceEvent) -> String {
        let detail = detail(of: event)
        let name =
            detail.isEmpty ? event.name.rawValue : ScreenLine.pad(event.name.rawValue, 20) + " " + detail
        return "\(event.time.localClock)  \(name)"
    }

    /// What belongs to an event.
    package static func detail(of event: DeviceEvent) -> String {
        switch event.name {
        case .ready:
            let address = event.string("address").map { " as \($0)" } ?? ""
            return PrintableText.of(
                "\(event.string("profile") ?? "") plays on \(event.string("radio") ?? "")" + address)
        case .advertisingStarted, .advertisingChanged:
            let device = event.string("device").map { "device \(PrintableText.of($0))  " } ?? ""
            return device + advertising(event)
        case .read, .write, .requestRefused, .notified, .subscribed, .unsubscribed, .confirmed, .error:
            return attribute(event)
        default:
            return event.fields.map { plain($0) }.joined(separator: "  ")
        }
    }

    private static func attribute(_ event: DeviceEvent) -> String {
        var parts = [name(of: event)]
        for field in event.fields {
            switch (field.key, field.value) {
            case ("service", _), ("characteristic", _), ("descriptor", _), ("path", _),
                ("withResponse", .bool(true)):
                break
            case ("value", .string(let hex)): parts.append(value(hex))
            case ("withResponse", _): parts.append("without response")
            case ("central", .string(let central)):
                parts.append(event.name == .notified ? "to \(central)" : "by \(central)")
            default: parts.append(plain(field))
            }
        }
        return parts.joined(separator: "  ")
    }

    /// The characteristic's name, or its UUID, followed by the descriptor's; the path if others have the same name.
    package static func name(of event: DeviceEvent) -> String {
        if let path = event.string("path") { return path }
        return [event.string("characteristic"), event.string("descriptor")].compactMap { $0 }
            .map { uuid in BluetoothUUID(uuid).flatMap { AssignedNumbers.name(of: $0) } ?? uuid }
            .joined(separator: " / ")
    }

    private static func advertising(_ event: DeviceEvent) -> String {
        var text = event.string("data") ?? ""
        if let response = event.string("scanResponse"), !response.isEmpty {
            text += "  scan response \(response)"
        }
        if case .number(let interval)? = event["intervalMilliseconds"] {
            text += "  every \(JSON.number(interval).text) ms"
        }
        if let address = event.string("address") { text += "  from \(address)" }
        if case .array(let omitted)? = event["omitted"] {
            for case .object(let members) in omitted {
                let texts = members.compactMap { member -> String? in
                    guard case .string(let text) = member.value else { return nil }
                    return text
                }
                text += "  without " + texts.joined(separator: ": ")
            }
        }
        return text
    }

    /// Hex, and the text that it spells where that is all printable.
    package static func value(_ hex: String) -> String {
        guard !hex.isEmpty else { return "(empty)" }
        let shown = hex.count > 64 ? hex.prefix(64) + "… (\(hex.count / 2) bytes)" : hex[...]
        guard let bytes = Hex.decode(hex), bytes.count > 1, bytes.allSatisfy({ (0x20...0x7E).contains($0) })
        else {
            return String(shown)
        }
        return "\(shown) \"\(String(decoding: bytes.prefix(32), as: UTF8.self))\""
    }

    private static func plain(_ field: JSON.Member) -> String {
        switch field.value {
        case .string(let text):
            field.key == "message" ? PrintableText.of(text) : "\(field.key) \(PrintableText.of(text))"
        default: "\(field.key) \(field.value.text)"
        }
    }
}
