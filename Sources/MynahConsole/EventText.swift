import MynahCore
package import MynahEmulator
import MynahProfiles
import MynahSupport

/// Formats events as lines for people.
package enum EventText {
    /// The line of an event: its time, its name and its fields.
    package static func line(of event: DeviceEvent) -> String {
        let detail = detail(of: event)
        let name =
            detail.isEmpty ? event.name.rawValue : ScreenLine.pad(event.name.rawValue, 20) + " " + detail
        return "\(event.time.localClock)  \(name)"
    }

    /// The line of an event, which begins with the name of its device.
    ///
    /// The name is `device` if the event itself has none.
    package static func line(of event: DeviceEvent, device: String) -> String {
        var event = event
        let device = event.device ?? device
        event.device = nil
        return "\(device): \(line(of: event))"
    }

    /// The name and the fields of an event, without columns.
    static func phrase(of event: DeviceEvent) -> String {
        let detail = detail(of: event)
        return event.name.rawValue + (detail.isEmpty ? "" : " " + detail)
    }

    /// The fields of an event, in words.
    package static func detail(of event: DeviceEvent) -> String {
        let device = event.device.map { ["device \(PrintableText.of($0))"] } ?? []
        let parts: [String] =
            switch (event.name, event.payload) {
            case (_, .ready(let ready)):
                // This is one line even if a profile's name contains line breaks.
                [PrintableText.of(parts(of: ready).joined(separator: "  "))]
            case (.advertisingStopped, _): event.fields.map { plain($0) }
            case (_, .advertising(let report)): device + parts(of: report)
            case (_, .scan(let scan)):
                device + parts(of: scan, showsWindow: event.name != .scanStopped) { $0.description }
            case (_, .parameters(let parameters)): device + parts(of: parameters)
            case (_, .channel(let use)): device + parts(of: use)
            case (.appExtraneous, .notice(let notice)) where notice.peripheral.identifier != nil:
                peripheral(event)
            case (.appWoken, _), (.appExtraneous, _): event.fields.map { plain($0) }
            case (_, .attribute), (.error, _): attribute(event)
            case (.pairingPasskey, _): passkey(event)
            case (_, .discovery), (_, .link), (_, .retrieval), (_, .remote): peripheral(event)
            default: event.fields.map { plain($0) }
            }
        return parts.joined(separator: "  ")
    }

    private static func parts(of ready: EventPayload.Ready) -> [String] {
        let address = ready.address.map { " as \($0)" } ?? ""
        let played = ready.profile.map { "\($0) plays on \(ready.radio ?? "")" + address }
        let control = ready.control.map { "control \($0)" }
        let phone = ready.phone.map { "phone \($0)" }
        let places = ready.listening.map { "hosts connect to \($0.joined(separator: ", "))" }
        let adapters = ready.adapters.map { "adapter \($0.joined(separator: ", "))" }
        return [played, phone, control, page(of: ready).map { "page \($0)" }, places, adapters]
            .compactMap { $0 }
    }

    /// The address of the web page, or `nil` if the control API has no HTTP address.
    static func page(of ready: EventPayload.Ready) -> String? {
        ready.control.flatMap { $0.hasPrefix("http://") ? "\($0)/" : nil }
    }

    /// The parts of the text about a passkey.
    ///
    /// The passkey is near the start, because a narrow terminal cuts the end.
    private static func passkey(_ event: DeviceEvent) -> [String] {
        let first = ["device", "step", "passkey", "entered"]
        let fields = first.compactMap { key in event.fields.first { $0.key == key } }
        return (fields + event.fields.filter { !first.contains($0.key) }).map { plain($0) }
    }

    /// The parts of a text about a scan: its services and its scan window; `name` returns the name of a UUID.
    static func parts(
        of scan: EventPayload.Scan, showsWindow: Bool, name: (BluetoothUUID) -> String
    ) -> [String] {
        func names(_ uuids: [BluetoothUUID]) -> String { uuids.map(name).joined(separator: ", ") }
        var parts: [String] = []
        if scan.services.isEmpty {
            parts.append("for every device")
        } else {
            parts.append("for " + names(scan.services))
            if let solicited = scan.solicited { parts.append("or looking for " + names(solicited)) }
        }
        if scan.allowsDuplicates { parts.append("with duplicates") }
        if let interval = scan.interval, let window = scan.window, showsWindow {
            parts.append("\(number(window)) of \(number(interval)) ms")
        }
        return parts + omissions(scan.omitted)
    }

    /// The parts of a text about omitted fields, with the reasons.
    private static func omissions(_ omitted: [AdvertisingReport.Omission]) -> [String] {
        omitted.map { "without \($0.item): \($0.reason)" }
    }

    /// The parts of a text about a peripheral: its name, and fields without their default value.
    private static func peripheral(_ event: DeviceEvent) -> [String] {
        var subject = event.payload.peripheral?.title
        if case .retrieval(let retrieval) = event.payload { subject = retrieval.alias }
        // An alert may concern no device.
        var parts = subject == nil ? [] : [PrintableText.of(subject ?? "")]
        let attribute = event.payload.attribute
        let isOfCharacteristic = attribute?.characteristic != nil
        if let attribute, isOfCharacteristic { parts.append(attribute.name) }
        for field in event.fields {
            switch (field.key, field.value) {
            case ("withResponse", .bool(let isAsked)):
                if !isAsked { parts.append("without response") }
            case ("on", .bool(let isOn)): parts.append(isOn ? "on" : "off")
            case ("name", .string(let name)) where event.name == .nameUpdated:
                parts.append("name \(PrintableText.of(name))")
            case ("peripheral", _), ("as", _), ("name", _), ("characteristic", _), ("data", _),
                ("scanResponse", _), ("coalesced", .integer(1)), (_, .bool(false)), (_, .array([])),
                (_, .string("")):
                break
            case ("service", _) where isOfCharacteristic: break
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
        return parts
    }

    private static func attribute(_ event: DeviceEvent) -> [String] {
        var parts = [event.payload.attribute?.name ?? ""]
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
        return parts
    }

    private static func parts(of report: AdvertisingReport) -> [String] {
        let sets = [report] + report.otherSets
        return sets.flatMap { parts(of: $0, isNamed: sets.count > 1) } + omissions(report.omitted)
    }

    private static func parts(of set: AdvertisingReport, isNamed: Bool) -> [String] {
        let response = set.scanResponse
        return [
            isNamed ? "set \(PrintableText.of(set.set))" : nil, Hex.encode(set.data),
            response.isEmpty ? nil : "scan response \(Hex.encode(response))", interval(of: set),
            set.kindInWords, set.periodic.map { "periodic data \(Hex.encode($0.data))" },
            set.address.map { "from \($0)" },
        ].compactMap { $0 }
    }

    /// The parts of the text about connection parameters, or about a request for them and the answer.
    private static func parts(of parameters: EventPayload.Parameters) -> [String] {
        var intervals = number(parameters.interval)
        if let longest = parameters.longestInterval, longest != parameters.interval {
            intervals += " to \(number(longest))"
        }
        return [
            parameters.central?.description ?? PrintableText.of(parameters.peripheral.title ?? ""),
            "every \(intervals) ms", "latency \(parameters.latency)",
            "timeout \(number(parameters.supervisionTimeout)) ms",
            parameters.isAccepted.map { $0 ? "accepted" : "rejected" }, parameters.rule, parameters.message,
        ].compactMap { $0 }
    }

    /// The parts of the text about an L2CAP channel: the peer, the PSM and an SDU.
    private static func parts(of use: EventPayload.ChannelUse) -> [String] {
        [
            use.central?.description ?? PrintableText.of(use.peripheral.title ?? ""), "psm \(use.psm)",
            use.value.map { Hex.encode($0) },
        ].compactMap { $0 }
    }

    /// The advertising interval in words, or `nil` if the radio does not report it.
    static func interval(of report: AdvertisingReport) -> String? {
        report.interval.map { "every \(number($0.lowerBound)) ms" }
    }

    private static func number(_ time: Duration) -> String { JSON.number(time.milliseconds).text }

    private static func plain(_ field: JSON.Member) -> String {
        switch field.value {
        case .string(let text):
            field.key == "message" ? PrintableText.of(text) : "\(field.key) \(PrintableText.of(text))"
        default: "\(field.key) \(field.value.text)"
        }
    }
}
