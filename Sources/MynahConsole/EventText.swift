import MynahCore
package import MynahEmulator
import MynahSupport

/// Events as lines for people.
package enum EventText {
    /// The time, the event and its fields.
    package static func line(of event: DeviceEvent) -> String {
        let detail = detail(of: event)
        let name =
            detail.isEmpty ? event.name.rawValue : ScreenLine.pad(event.name.rawValue, 20) + " " + detail
        return "\(event.time.localClock)  \(name)"
    }

    /// A line that begins with the device: the one that the event names, else `device`.
    package static func line(of event: DeviceEvent, device: String) -> String {
        var event = event
        let device = event.string("device") ?? device
        event.fields.removeAll { $0.key == "device" }
        return "\(device): \(line(of: event))"
    }

    /// The event and its fields, without columns.
    static func phrase(of event: DeviceEvent) -> String {
        let detail = detail(of: event)
        return event.name.rawValue + (detail.isEmpty ? "" : " " + detail)
    }

    /// The fields of an event, in words.
    package static func detail(of event: DeviceEvent) -> String {
        switch event.name {
        case .ready:
            let address = event.string("address").map { " as \($0)" } ?? ""
            let played = event.string("profile").map {
                "\($0) plays on \(event.string("radio") ?? "")" + address
            }
            let control = event.string("control").map { "control \($0)" }
            let page = page(of: event).map { "page \($0)" }
            return PrintableText.of([played, control, page].compactMap { $0 }.joined(separator: "  "))
        case .advertisingStarted, .advertisingChanged:
            let device = event.string("device").map { "device \(PrintableText.of($0))  " } ?? ""
            return device + advertising(event)
        case .read, .write, .requestRefused, .requestAsked, .requestUnanswered, .notified, .subscribed,
            .unsubscribed, .confirmed, .error:
            return attribute(event)
        case .scanStarted, .scanChanged, .scanPaused, .scanStopped: return scan(event)
        case .pairingPasskey: return passkey(event)
        case .peripheralDiscovered, .peripheralConnecting, .peripheralConnected, .peripheralFailedToConnect,
            .peripheralDisconnected, .peripheralsRetrieved, .servicesDiscovered, .characteristicsDiscovered,
            .servicesChanged,
            .valueRead, .valueUpdated, .valueWritten, .notificationChanged, .linkKept, .linkEnded,
            .alertShown,
            .alertOpened, .alertDismissed:
            return peripheral(event)
        default:
            return event.fields.map { plain($0) }.joined(separator: "  ")
        }
    }

    /// The address of the page for browsers, or `nil` if no browser reaches the control API.
    static func page(of ready: DeviceEvent) -> String? {
        ready.string("control").flatMap { $0.hasPrefix("http://") ? "\($0)/" : nil }
    }

    /// The number comes before the link, because a narrow terminal cuts the end.
    private static func passkey(_ event: DeviceEvent) -> String {
        let first = ["device", "step", "passkey", "entered"]
        let fields = first.compactMap { key in event.fields.first { $0.key == key } }
        return (fields + event.fields.filter { !first.contains($0.key) }).map { plain($0) }.joined(
            separator: "  ")
    }

    private static func scan(_ event: DeviceEvent) -> String {
        let device = event.string("device").map { ["device \(PrintableText.of($0))"] } ?? []
        return (device + scanParts(event) { $0 }).joined(separator: "  ")
    }

    /// The services of a scan and its scan window; `name` returns the name of a UUID.
    static func scanParts(_ event: DeviceEvent, name: (String) -> String) -> [String] {
        func names(_ uuids: [JSON]) -> String {
            uuids.compactMap(\.stringValue).map(name).joined(separator: ", ")
        }
        var parts: [String] = []
        if case .array(let services)? = event["services"], !services.isEmpty {
            parts.append("for " + names(services))
            if case .array(let solicited)? = event["solicited"] {
                parts.append("or looking for " + names(solicited))
            }
        } else {
            parts.append("for every device")
        }
        if event["allowDuplicates"] == .bool(true) { parts.append("with duplicates") }
        if case .number(let interval)? = event["intervalMilliseconds"],
            case .number(let window)? = event["windowMilliseconds"], event.name != .scanStopped
        {
            parts.append("\(JSON.number(window).text) of \(JSON.number(interval).text) ms")
        }
        return parts + omissions(event)
    }

    /// The parts that were omitted, with reasons.
    private static func omissions(_ event: DeviceEvent) -> [String] {
        guard case .array(let omitted)? = event["omitted"] else { return [] }
        return omitted.compactMap { omission in
            guard case .object(let members) = omission else { return nil }
            return "without " + members.compactMap(\.value.stringValue).joined(separator: ": ")
        }
    }

    /// An event of a peripheral: its name, and fields that are not as usual.
    private static func peripheral(_ event: DeviceEvent) -> String {
        let subject = ["as", "name", "address"].lazy.compactMap { event.string($0) }.first
        var parts = [PrintableText.of(subject ?? "")]
        if event.string("characteristic") != nil { parts.append(name(of: event)) }
        for field in event.fields {
            switch (field.key, field.value) {
            case ("withResponse", .bool(let isAsked)):
                if !isAsked { parts.append("without response") }
            case ("on", .bool(let isOn)): parts.append(isOn ? "on" : "off")
            case ("peripheral", _), ("as", _), ("name", _), ("characteristic", _), ("data", _),
                ("scanResponse", _), ("coalesced", .integer(1)), (_, .bool(false)), (_, .array([])),
                (_, .string("")):
                break
            case ("service", _) where event.string("characteristic") != nil: break
            case ("address", .string(let address)):
                if event.name == .peripheralDiscovered { parts.append(address) }
            case (let key, .array(let items)):
                let list = items.compactMap(\.stringValue).map { PrintableText.of($0) }.joined(
                    separator: ", ")
                parts.append(key == "uuids" ? list : "\(key) \(list)")
            case ("rssi", .integer(let rssi)): parts.append("\(rssi) dBm")
            case ("value", .string(let hex)): parts.append(ValueText(event)?.text ?? hex)
            case ("fields", .object): break
            case ("device", .string(let device)): parts.insert("device \(PrintableText.of(device))", at: 0)
            case (_, .bool(true)): parts.append(field.key)
            default: parts.append(plain(field))
            }
        }
        return parts.joined(separator: "  ")
    }

    private static func attribute(_ event: DeviceEvent) -> String {
        var parts = [name(of: event)]
        for field in event.fields {
            switch (field.key, field.value) {
            case ("service", _), ("characteristic", _), ("descriptor", _), ("path", _), ("tick", _),
                ("withResponse", .bool(true)):
                break
            case ("value", .string(let hex)): parts.append(ValueText(event)?.text ?? hex)
            case ("fields", .object): break
            case ("withResponse", _): parts.append("without response")
            case ("central", .string(let central)):
                parts.append(event.name == .notified ? "to \(central)" : "by \(central)")
            default: parts.append(plain(field))
            }
        }
        return parts.joined(separator: "  ")
    }

    /// The characteristic's name, or its UUID, followed by the descriptor's; the path if others have the same
    /// name.
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
        return ([text] + omissions(event)).joined(separator: "  ")
    }

    private static func plain(_ field: JSON.Member) -> String {
        switch field.value {
        case .string(let text):
            field.key == "message" ? PrintableText.of(text) : "\(field.key) \(PrintableText.of(text))"
        default: "\(field.key) \(field.value.text)"
        }
    }
}
