import MynahSupport

// The requests about scenarios.
extension Route {
    static let scenarios: [Route] = [
        Route(
            "POST", "/v1/devices/{device}/scenarios/{scenario}", .playScenario,
            "Plays a scenario of the device; its end is the event scenario.ended",
            body: Body(schema: .object([]), example: .object([]), isRequired: false),
            answers: [
                202: Answer(
                    "The scenario has started; its end is among the events from this number on",
                    .object([
                        .init("device", .string(), isRequired: true),
                        .init("scenario", .string(), isRequired: true),
                        .init("seq", .integer(1...Int.max), isRequired: true),
                    ]),
                    example: .object([
                        .init("device", "lock"), .init("scenario", "drop out"), .init("seq", .integer(12)),
                    ]))
            ])
    ]
}
