package import MynahSupport

// The scenarios of a device.
extension ControlText {
    /// Whether an event reports the end of a scenario that has passed.
    package static func isPass(_ end: JSON) -> Bool { end["result"]?.stringValue == "pass" }

    /// Whether a device is playing a scenario.
    package static func plays(_ name: String, _ device: JSON) -> Bool {
        scenarios(device).contains { $0["name"]?.stringValue == name && $0["playing"]?.boolValue == true }
    }

    /// The body of the request that waits for the end of a scenario; `begun` is the answer to the request
    /// that started it.
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

    /// The first event of a list.
    package static func firstEvent(_ page: JSON) -> JSON? { page["events"]?.arrayValue?.first }

    /// The names of the scenarios of the devices that a command line names, or of all devices.
    package static func scenarioNames(_ answer: JSON, of words: [String]) -> [String] {
        devices(answer, of: words).flatMap { device in
            scenarios(device).compactMap { $0["name"]?.stringValue }
        }
    }

    private static func scenarios(_ device: JSON) -> [JSON] { device["scenarios"]?.arrayValue ?? [] }
}
