import MynahCore
import MynahEmulator
import MynahProfiles
package import MynahSupport
import MynahValues

/// Formats responses of the control API for users.
package enum ControlText {
    /// A line for each device: its name, its state, its address and the state of its app.
    package static func devices(_ answer: JSON) -> [String] {
        let devices = answer["devices"]?.arrayValue ?? []
        let width = devices.compactMap { $0["device"]?.stringValue }.map(DisplayWidth.of).max() ?? 0
        return devices.map { device in
            let name = PrintableText.of(device["device"]?.stringValue ?? "")
            return (ScreenLine.pad(name, width) + "  " + summary(device)).trimmingEnd
        }
    }

    private static func summary(_ device: JSON) -> String {
        let centrals = device["centrals"]?.arrayValue?.count ?? 0
        let parts = [
            device["state"]?.stringValue, device["address"]?.stringValue,
            device["app"]?["state"]?.stringValue.map { "app \($0)" },
            device["app"]?["authorization"]?.stringValue.flatMap { word in
                word == BluetoothAuthorization.allowedAlways.rawValue ? nil : "authorization \(word)"
            },
            device["advertising"]?["on"]?.boolValue == true ? "advertising" : nil,
            centrals == 0 ? nil : "\(centrals) connected",
        ]
        return PrintableText.of(parts.compactMap { $0 }.joined(separator: "  "))
    }

    /// The name of a clock and its current time.
    package static func clock(_ answer: JSON) -> String {
        [answer["clock"], answer["now"]].compactMap { $0?.stringValue }.joined(separator: "  ")
    }

    /// The lines about a device: its state, its centrals and its attributes.
    package static func device(_ device: JSON) -> [String] {
        var lines = [PrintableText.of(device["device"]?.stringValue ?? "") + "  " + summary(device)]
        if let data = device["advertising"]?["data"]?.stringValue { lines.append("  data           \(data)") }
        if let data = device["advertising"]?["scanResponse"]?.stringValue, !data.isEmpty {
            lines.append("  scan response  \(data)")
        }
        if case .object(let variables)? = device["variables"], !variables.isEmpty {
            let words = variables.map { "\($0.key) \($0.value.stringValue ?? $0.value.text)" }
            lines.append("  variables  " + PrintableText.of(words.joined(separator: ", ")))
        }
        for central in device["centrals"]?.arrayValue ?? [] {
            let subscriptions = (central["subscriptions"]?.arrayValue ?? []).compactMap(\.stringValue)
            let parts = [
                central["central"]?.stringValue, central["mtu"]?.integerValue.map { "MTU \($0)" },
                central["encrypted"]?.boolValue == true ? "encrypted" : nil,
                central["bonded"]?.boolValue == true ? "bonded" : nil,
                subscriptions.isEmpty ? nil : "subscribed to \(subscriptions.joined(separator: ", "))",
            ]
            lines.append("  central  " + PrintableText.of(parts.compactMap { $0 }.joined(separator: "  ")))
        }
        for attribute in device["attributes"]?.arrayValue ?? [] {
            let properties = (attribute["properties"]?.arrayValue ?? []).compactMap(\.stringValue)
            let handle = attribute["handle"]?.integerValue.map { "@\($0)" } ?? ""
            let value = value(ofAttribute: attribute) ?? "no value while the app does not run"
            lines.append(
                "  \(ScreenLine.pad(handle, 5)) \(attribute["path"]?.stringValue ?? "")  \(value)  "
                    + properties.joined(separator: ", "))
        }
        return lines
    }

    private static func value(ofAttribute attribute: JSON) -> String? {
        guard let bytes = attribute["value"]?.stringValue.flatMap({ Hex.decode($0) }) else { return nil }
        let steps = attribute["path"]?.stringValue?.split(separator: "/") ?? []
        let uuid = steps.count == 2 ? steps[1].split(separator: "~").first.map(String.init) : nil
        return ValueText(bytes, of: uuid.flatMap { BluetoothUUID($0) }, attribute["fields"]).text
    }

    /// A line for each event in a response, after a line with the number of lost events if there are any.
    package static func events(_ answer: JSON) -> [String] {
        (answer["lost"]?.integerValue.map { [lost($0)] } ?? [])
            + (answer["events"]?.arrayValue ?? []).map { event($0, isVirtual: isVirtual(answer)) }
    }

    /// Whether the times in a response are virtual, according to its field `clock`.
    package static func isVirtual(_ answer: JSON) -> Bool {
        answer["clock"].map { $0 != "real" } ?? false
    }

    private static func lost(_ count: Int) -> String {
        count.counting("earlier event is", "earlier events are") + " not kept any more"
    }

    /// The line for an event; an event that this version does not know is shown as JSON.
    ///
    /// In a stream, `{"event": "lost", "count": N}` replaces lost events.
    package static func event(_ json: JSON, isVirtual: Bool = false) -> String {
        if json["event"]?.stringValue == "lost", let count = json["count"]?.integerValue {
            return lost(count)
        }
        guard var event = DeviceEvent(json: json) else { return PrintableText.of(json.text) }
        event.time.isVirtual = isVirtual
        return EventText.line(of: event)
    }

    /// The lines about a problem document: its message, and the events that match best.
    package static func error(_ problem: JSON) -> [String] {
        var lines = ["error: " + PrintableText.of(problem["detail"]?.stringValue ?? problem.text)]
        for near in problem["nearest"]?.arrayValue ?? [] {
            let differs = (near["differs"]?.arrayValue ?? []).compactMap(\.stringValue)
            // Without differences, the event should not have happened, or not in this order.
            let note = differs.isEmpty ? "matches" : "differs in \(differs.joined(separator: ", "))"
            lines.append("  nearest: \(event(near, isVirtual: isVirtual(problem)))  (\(note))")
        }
        if case .object(let seen)? = problem["seen"], !seen.isEmpty {
            lines.append("  seen: " + seen.map { "\($0.value.text) \($0.key)" }.joined(separator: ", "))
        }
        return lines
    }

    /// The issues of a profile in a problem document, in the format of `check`.
    ///
    /// `file` is the path of the profile as written by the user.
    package static func issues(_ problem: JSON, of file: String) -> [String] {
        (problem["issues"]?.arrayValue ?? []).map { issue in
            let severity = issue["severity"]?.stringValue.flatMap(ProfileIssue.Severity.init) ?? .error
            let mark = issue["line"]?.integerValue.map {
                SourceMark(line: $0, column: issue["column"]?.integerValue ?? 1)
            }
            return ProfileIssue(
                severity: severity, file: file, mark: mark, path: issue["path"]?.stringValue,
                message: issue["message"]?.stringValue ?? ""
            ).description
        }
    }
}

extension JSON {
    /// The value of a key, or `nil` if the key is missing or this is not an object.
    subscript(key: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }
}

extension String {
    /// The text without spaces at its end.
    fileprivate var trimmingEnd: String { String(reversed().drop { $0 == " " }.reversed()) }
}

// Responses with one value.
extension ControlText {
    /// The name of the device in an answer.
    package static func name(_ answer: JSON) -> String {
        PrintableText.of(answer["device"]?.stringValue ?? "")
    }

    /// A value in hexadecimal, and its fields in words if it has any.
    ///
    /// `attribute` is the name in the request.
    package static func value(_ answer: JSON, of attribute: String) -> String {
        let hex = PrintableText.of(answer["value"]?.stringValue ?? "")
        guard answer["fields"] != nil else { return hex }
        let types = (try? AttributeName(parsing: attribute))?.types.sorted { $0.description < $1.description }
        let uuid = types?.first { KnownLayouts.layout(of: $0) != nil }
        let words = ValueText(Hex.decode(hex) ?? [], of: uuid, answer["fields"]).words
        return hex + (words.map { "  " + $0 } ?? "")
    }

    /// A value, followed by the number of centrals to which it was sent if the radio counts them.
    package static func sent(_ answer: JSON, of attribute: String) -> String {
        let value = value(answer, of: attribute)
        guard let count = answer["sent"]?.integerValue else { return value }
        return "\(value)  sent to \(count.counting("central"))"
    }

    /// The number of matching events.
    package static func count(_ answer: JSON) -> String {
        (answer["count"]?.integerValue ?? 0).counting("event")
    }

    /// The sequence number of an event.
    package static func seq(_ answer: JSON) -> String { answer["seq"]?.text ?? "" }

    /// The names of the devices in a response.
    package static func deviceNames(_ answer: JSON) -> [String] {
        (answer["devices"]?.arrayValue ?? []).compactMap { $0["device"]?.stringValue }
    }

    /// The names of the phones in a response, without duplicates.
    package static func phoneNames(_ answer: JSON) -> [String] {
        (answer["devices"]?.arrayValue ?? []).compactMap { $0["phone"]?.stringValue }.reduce(into: []) {
            if !$0.contains($1) { $0.append($1) }
        }
    }

    /// The numbers of the requests in a list of events that are not answered yet.
    package static func askedRequests(_ answer: JSON) -> [String] {
        var open: [Int] = []
        for event in answer["events"]?.arrayValue ?? [] {
            guard let id = event["id"]?.integerValue else { continue }
            if event["event"]?.stringValue != DeviceEvent.Name.requestAsked.rawValue {
                open.removeAll { $0 == id }
            } else if !open.contains(id) {
                open.append(id)
            }
        }
        return open.map(String.init)
    }

    /// The paths of the attributes of the devices in a command line, or of all devices if it names none.
    package static func attributeNames(_ answer: JSON, of words: [String]) -> [String] {
        named(answer, words).flatMap { device in
            (device["attributes"]?.arrayValue ?? []).compactMap { $0["path"]?.stringValue }
        }
    }

    /// The variables of the devices in a command line, or of all devices if it names none.
    package static func variableNames(_ answer: JSON, of words: [String]) -> [String] {
        named(answer, words).flatMap { device -> [String] in
            guard case .object(let members)? = device["variables"] else { return [] }
            return members.map(\.key)
        }
    }

    private static func named(_ answer: JSON, _ words: [String]) -> [JSON] {
        let devices = answer["devices"]?.arrayValue ?? []
        let named = devices.filter { $0["device"]?.stringValue.map(words.contains) ?? false }
        return named.isEmpty ? devices : named
    }
}
