package import MynahSupport

// The scenarios of a device.
extension ControlText {
    /// Whether the event of a scenario's end reports that the scenario has passed.
    package static func isPass(_ end: JSON) -> Bool { end["result"]?.stringValue == "pass" }

    /// Whether a device is playing a scenario.
    package static func plays(_ name: String, _ device: JSON) -> Bool {
        scenarios(device).contains { $0["name"]?.stringValue == name && $0["playing"]?.boolValue == true }
    }

    /// The body of a request that waits for the end of a scenario.
    ///
    /// `begun` is the response to the request that started the scenario.
    package static func wait(forEndOf begun: JSON, within time: String) -> [JSON.Member] {
        let match = JSON.object([
            .init("event", "scenario.ended"), .init("device", begun["device"] ?? .null),
            .init("scenario", begun["scenario"] ?? .null),
        ])
        return [
            .init("match", match), .init("within", .string(time)),
            .init("since", begun["seq"] ?? .integer(1)),
        ]
    }

    /// The first event in a response, or `nil` if there is none.
    package static func firstEvent(_ page: JSON) -> JSON? { page["events"]?.arrayValue?.first }

    /// The names of the scenarios of the devices in a command line, or of all devices if it names none.
    package static func scenarioNames(_ answer: JSON, of words: [String]) -> [String] {
        devices(answer, of: words).flatMap { device in
            scenarios(device).compactMap { $0["name"]?.stringValue }
        }
    }

    private static func scenarios(_ device: JSON) -> [JSON] { device["scenarios"]?.arrayValue ?? [] }
}
