import MynahCore
package import MynahSupport

// Phones, and the answers to their verbs.
extension ControlText {
    /// The name of the phone in an answer.
    package static func phoneLabel(_ answer: JSON) -> [String] {
        [PrintableText.of(answer["phone"]?.stringValue ?? "")]
    }

    /// The names of the phones in a list.
    package static func phoneLabels(_ answer: JSON) -> [String] {
        (answer["phones"]?.arrayValue ?? []).compactMap { $0["phone"]?.stringValue }
    }

    /// A line for each phone: its name, its address and the devices that it is connected to.
    package static func phones(_ answer: JSON) -> [String] {
        let phones = answer["phones"]?.arrayValue ?? []
        let width = phoneLabels(answer).map(DisplayWidth.of).max() ?? 0
        return phones.map { phone in
            let name = PrintableText.of(phone["phone"]?.stringValue ?? "")
            let devices = (phone["peripherals"]?.arrayValue ?? []).map(title(of:))
            let parts = [
                ScreenLine.pad(name, width), phone["address"]?.stringValue,
                devices.isEmpty ? nil : "connected to \(devices.joined(separator: ", "))",
            ]
            return PrintableText.of(parts.compactMap { $0 }.joined(separator: "  "))
        }
    }

    /// A phone: its radio, and the devices that it is connected to.
    package static func phone(_ phone: JSON) -> [String] {
        let parts = [
            phone["phone"]?.stringValue, phone["address"]?.stringValue, phone["radio"]?.stringValue,
            phone["io"]?.stringValue, phone["confirm"]?.boolValue == false ? "confirms nothing" : nil,
        ]
        return [PrintableText.of(parts.compactMap { $0 }.joined(separator: "  "))]
            + (phone["peripherals"]?.arrayValue ?? []).map { peripheral in
                let subscriptions = (peripheral["subscriptions"]?.arrayValue ?? []).compactMap(\.stringValue)
                let parts = [
                    title(of: peripheral), peripheral["mtu"]?.integerValue.map { "MTU \($0)" },
                    peripheral["paired"]?.boolValue == true ? "paired" : nil,
                    subscriptions.isEmpty ? nil : "subscribed to \(subscriptions.joined(separator: ", "))",
                ]
                return "  " + PrintableText.of(parts.compactMap { $0 }.joined(separator: "  "))
            }
    }

    private static func title(of peripheral: JSON) -> String {
        let address = peripheral["address"]?.stringValue ?? ""
        return peripheral["name"]?.stringValue.map { "\(address) (\($0))" } ?? address
    }

    /// A line for each device that a phone has heard.
    package static func heard(_ answer: JSON) -> [String] {
        (answer["peripherals"]?.arrayValue ?? []).map { peripheral in
            let services = (peripheral["services"]?.arrayValue ?? []).compactMap(\.stringValue)
            let parts = [
                peripheral["address"]?.stringValue, peripheral["name"]?.stringValue,
                peripheral["rssi"]?.integerValue.map(String.init),
                services.isEmpty ? nil : services.joined(separator: ", "),
                peripheral["connectable"]?.boolValue == false ? "not connectable" : nil,
            ]
            return PrintableText.of(parts.compactMap { $0 }.joined(separator: "  "))
        }
    }

    /// The device that a phone has connected to, and its services.
    package static func connected(_ answer: JSON) -> [String] {
        [PrintableText.of("connected to \(title(of: answer))")] + remoteServices(answer)
    }

    /// The services of a device with their characteristics.
    package static func remoteServices(_ answer: JSON) -> [String] {
        (answer["services"]?.arrayValue ?? []).flatMap { service -> [String] in
            let characteristics = service["characteristics"]?.arrayValue ?? []
            return [title(ofAttribute: service)]
                + characteristics.map { characteristic in
                    let properties = (characteristic["properties"]?.arrayValue ?? []).compactMap(
                        \.stringValue)
                    let handle = characteristic["handle"].map { "@\($0.text)" } ?? ""
                    return "  " + ScreenLine.pad(title(ofAttribute: characteristic), 46)
                        + ScreenLine.pad(handle, 5) + "  " + properties.joined(separator: ", ")
                }
        }
    }

    private static func title(ofAttribute json: JSON) -> String {
        let text = PrintableText.of(json["uuid"]?.stringValue ?? "")
        let name = BluetoothUUID(text).flatMap { AssignedNumbers.displayName(of: $0) }
        return name.map { "\(text) \($0)" } ?? text
    }

    /// The connection parameters in an answer.
    package static func connectionParameters(_ answer: JSON) -> String {
        """
        interval \(answer["intervalMilliseconds"]?.text ?? "") ms, latency \(answer["latency"]?.text ?? ""), \
        supervision timeout \(answer["supervisionTimeoutMilliseconds"]?.text ?? "") ms
        """
    }
}
