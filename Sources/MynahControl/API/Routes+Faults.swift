import MynahSupport

// The requests about faults.
extension Route {
    static let faults: [Route] = [
        Route(
            "GET", "/v1/devices/{device}/faults", .listFaults, "The faults of a device",
            answers: [
                200: Answer(
                    "The faults, and how often each was applied since it was turned on",
                    .object([.init("faults", .array(.named("Fault")), isRequired: true)]),
                    example: .object([.init("faults", .array([Examples.fault]))]))
            ]),
        Route(
            "POST", "/v1/devices/{device}/faults", .addFault,
            "Adds a fault, written as in a profile, until the faults are reset",
            body: Body(
                schema: .object([.init("name", .string(), isRequired: true)], others: .written),
                example: .object([
                    .init("name", "gone"), .init("on", "write"), .init("of", "180D/2A39"),
                    .init("nth", .integer(3)), .init("do", "disconnect"), .init("reason", "0x13"),
                ])),
            answers: [201: Answer("The fault", .named("Fault"), example: Examples.fault)]),
        Route(
            "PATCH", "/v1/devices/{device}/faults/{fault}", .turnFault,
            "Turns a fault on or off; one that is turned on counts from zero",
            body: Body(
                schema: .object([.init("off", .bool, isRequired: true)]),
                example: .object([.init("off", .bool(false))])),
            answers: [200: Answer("The fault", .named("Fault"), example: Examples.fault)]),
        Route(
            "DELETE", "/v1/devices/{device}/faults/{fault}", .removeFault,
            "Removes a fault, until the faults are reset", answers: [200: .empty]),
    ]
}
