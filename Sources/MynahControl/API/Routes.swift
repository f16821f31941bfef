import MynahEmulator
import MynahProfiles
import MynahSupport

/// All requests of the API.
extension Route {
    static let all: [Route] =
        instance + clock + devices + values + actions + phone + faults + scenarios + requests + phones
        + phoneVerbs + events

    private static let instance: [Route] = [
        Route(
            "GET", "/v1", .getInstance, "The program, its radios and its devices",
            answers: [200: Answer("The instance", .named("Instance"), example: Examples.instance)]),
        Route(
            "GET", "/v1/health", .getHealth, "Whether the instance answers",
            answers: [
                200: Answer(
                    "The server is running", .named("Health"),
                    example: .object([.init("status", "ok"), .init("devices", .integer(1))]))
            ]),
        Route(
            "GET", "/v1/openapi.json", .getOpenAPI, "This document",
            answers: [
                200: Answer(
                    "An OpenAPI 3.1 document", .object([], others: .any),
                    example: .object([.init("openapi", "3.1.0")]))
            ]),
        Route(
            "GET", "/metrics", .getMetrics, "Counters in the text format of Prometheus",
            answers: [
                200: Answer(
                    "Counters", .string(), example: "mynah_events_total{event=\"read\"} 3\n",
                    type: "text/plain; version=0.0.4")
            ]),
    ]

    private static let devices: [Route] = [
        Route(
            "GET", "/v1/devices", .listDevices, "Every device",
            answers: [
                200: Answer(
                    "The devices", .object([.init("devices", .array(.named("Device")), isRequired: true)]),
                    example: .object([.init("devices", .array([Examples.device]))]))
            ]),
        Route(
            "POST", "/v1/devices", .addDevice, "Adds a device and plays it",
            body: Body(
                schema: .object([
                    .init("profile", .either([.object([], others: .written), .string()]), isRequired: true),
                    .init("seed", seed),
                ]), example: .object([.init("profile", "profiles/lock.yaml")])),
            answers: [201: Answer("The device", .named("Device"), example: Examples.device)]),
        Route(
            "GET", "/v1/devices/{device}", .getDevice, "A device",
            answers: [200: Answer("The device", .named("Device"), example: Examples.device)]),
        Route(
            "DELETE", "/v1/devices/{device}", .removeDevice, "Takes a device off the air",
            answers: [200: .empty]),
    ]

    /// The schema of a seed: a whole number of 64 bits.
    private static let seed = Schema.either([.integer(0...Int.max), .string(pattern: "^[0-9]{1,20}$")])

    private static let values: [Route] = [
        Route(
            "GET", "/v1/devices/{device}/layout", .getLayout,
            "The names of a device's attributes, and the fields of their values",
            answers: [
                200: Answer(
                    "The attributes",
                    .object([.init("attributes", .array(.named("AttributeLayout")), isRequired: true)]),
                    example: .object([.init("attributes", .array([Examples.layout]))]))
            ]),
        Route(
            "GET", "/v1/devices/{device}/values/{attribute*}", .getValue, "An attribute's value",
            answers: [
                200: Answer(
                    "The value",
                    .object([
                        .init("value", .named("Bytes"), isRequired: true),
                        .init("fields", .named("Fields")),
                    ]), example: .object(Examples.measurement))
            ]),
        Route(
            "PUT", "/v1/devices/{device}/values/{attribute*}", .setValue, "Sets an attribute's value",
            body: Body(
                schema: .object([
                    .init("hex", .named("Bytes")), .init("text", .string()),
                    .init("fields", .object([], others: .written)), .init("notify", .bool),
                    .init("to", .string()),
                ]), example: .object([.init("hex", "0048"), .init("notify", .bool(true))])),
            answers: [
                200: Answer(
                    "The value, and to how many centrals it was sent if the radio counts them",
                    .object([
                        .init("value", .named("Bytes"), isRequired: true),
                        .init("fields", .named("Fields")),
                        .init("sent", .integer(0...Int.max)),
                    ]), example: .object(Examples.measurement + [.init("sent", .integer(1))]))
            ]),
    ]

    private static let actions: [Route] = [
        Route(
            "PUT", "/v1/devices/{device}/variables/{name}", .setVariable,
            "Sets a variable, until the device is reset",
            body: Body(
                schema: .object([.init("value", .either([.writtenNumber, .string()]), isRequired: true)]),
                example: .object([.init("value", .integer(150))])),
            answers: [200: Answer("The device", .named("Device"), example: Examples.device)]),
        Route(
            "POST", "/v1/devices/{device}/disconnect", .disconnect,
            "Ends the connection of a central, or of all",
            body: Body(
                schema: .object([
                    .init("central", .string()), .init("reason", .string(pattern: "^0x[0-9A-Fa-f]{2}$")),
                ]), example: .object([]), isRequired: false),
            answers: [200: .empty]),
        Route(
            "POST", "/v1/devices/{device}/forget", .forget,
            "Deletes the bond of a central or, for an app, of a peripheral of its profile; or all bonds",
            body: Body(
                schema: .object([.init("central", .string()), .init("peripheral", .string())]),
                example: .object([]), isRequired: false),
            answers: [200: .empty]),
        Route(
            "POST", "/v1/devices/{device}/advertise", .advertise,
            "Changes the advertising of a device, or of one set, until it is reset; the keys are a profile's",
            body: Body(
                schema: .object(
                    [.init("on", .bool), .init("set", .string())]
                        + AdvertisingRequest.fieldKeys.map { .init($0, .named("Written")) }),
                example: .object([.init("on", .bool(false))])),
            answers: [200: Answer("The device", .named("Device"), example: Examples.device)]),
        Route(
            "POST", "/v1/devices/{device}/type", .typeText,
            """
            Types a text on a keyboard: presses and releases each key of a US keyboard, with a gap of 20 ms \
            by default after each report. Answers at once, and the keys follow as time goes on
            """,
            body: Body(
                schema: .object([
                    .init("text", .string(), isRequired: true), .init("gap", .named("Duration")),
                ]),
                example: .object([.init("text", "Hello")])),
            answers: [
                200: Answer(
                    "How many keys are pressed",
                    .object([.init("keys", .integer(0...ActionRequests.longestTyped), isRequired: true)]),
                    example: .object([.init("keys", .integer(5))]))
            ]),
        Route(
            "POST", "/v1/devices/{device}/app", .setAppState,
            """
            Changes the state of the device's app. If the state is about Bluetooth, the lock, the screen, \
            alerts or pairings, the device can also be the name of a phone. poweredOff, poweredOn and forget \
            are for accessories too. With forget, accessory and removeAccessory, peripheral names a \
            peripheral of the app's profile
            """,
            body: Body(
                schema: .object([
                    .init("state", .word(UserAction.words), isRequired: true),
                    .init("peripheral", .string()),
                ]),
                example: .object([.init("state", "background")])),
            answers: [200: Answer("The device", .named("Device"), example: Examples.device)]),
        Route(
            "POST", "/v1/devices/{device}/passkey", .enterPasskey, "Enters the passkey that pairing asks for",
            body: Body(
                schema: .object([
                    .init("central", .string(), isRequired: true),
                    .init(
                        "passkey", .either([.string(pattern: "^[0-9]{6}$"), .integer(0...999_999)]),
                        isRequired: true),
                ]), example: .object([.init("central", "AA:BB:CC:DD:EE:FF"), .init("passkey", "042042")])),
            answers: [200: .empty]),
    ]

    private static let requests: [Route] = [
        Route(
            "POST", "/v1/requests/{id}/answer", .answerRequest,
            "Answers a request: a read with a value, a write with nothing more, or either with an error",
            pathSchemas: ["id": .integer(1...Int.max)],
            body: Body(
                schema: .object([
                    .init("hex", .named("Bytes")), .init("text", .string()),
                    .init("fields", .object([], others: .written)), .init("error", .named("ATTError")),
                ]), example: .object([.init("hex", "0048")]), isRequired: false),
            answers: [200: .empty])
    ]

    private static let events: [Route] = [
        Route(
            "GET", "/v1/events", .listEvents,
            "The events: server-sent events, or a list with Accept: application/json",
            query: [
                Parameter(
                    name: "since", summary: "The number of the first event (default: the last mark's)",
                    schema: .integer(0...Int.max)),
                Parameter(
                    name: "match", summary: "A match, as in read characteristic=2A37", schema: .string()),
                Parameter(
                    name: "last", summary: "Begins with this number of the newest events",
                    schema: .integer(1...10_000)),
                Parameter(
                    name: "limit", summary: "How many events a list has at most (default: 1000)",
                    schema: .integer(1...10_000)),
                Parameter(
                    name: "hold",
                    summary: "A name: phones with this holder end with the last stream that has it",
                    schema: .string(pattern: EventsQuery.holderPattern)),
            ],
            answers: [
                200: Answer(
                    "The events so far, and the number to go on from", .named("Events"),
                    example: Examples.events)
            ]),
        Route(
            "POST", "/v1/mark", .mark, "Names a moment: waits look at what happens after it",
            body: Body(
                schema: .object([.init("name", .string(), isRequired: true)]),
                example: .object([.init("name", "unlocked")])),
            answers: [
                200: Answer(
                    "The number of the next event",
                    .object([.init("seq", .integer(1...Int.max), isRequired: true)]),
                    example: .object([.init("seq", .integer(12))]))
            ]),
        Route(
            "POST", "/v1/wait", .wait, "Waits for events",
            body: Body(
                schema: .object([
                    .init("match", .named("Match"), isRequired: true),
                    .init("count", .integer(1...10_000)),
                    .init("within", .named("Duration")), .init("since", .integer(0...Int.max)),
                ]),
                example: .object([
                    .init("match", Examples.match), .init("count", .integer(1)), .init("within", "2 s"),
                ])),
            answers: [
                200: Answer("The events", .named("Events"), example: Examples.events),
                408: Answer.problem(
                    "The events did not happen in time", .named("WaitProblem"),
                    example: .object([
                        .init("title", "Request Timeout"), .init("status", .integer(408)),
                        .init("detail", "no event matched within 2 s"), .init("nearest", .array([])),
                        .init("seen", .object([.init("read", .integer(3))])),
                    ])),
            ]),
        Route(
            "POST", "/v1/verify", .verify, "Checks what has happened",
            body: Body(
                schema: .object([
                    .init("match", .named("Match")), .init("exactly", .integer(0...Int.max)),
                    .init("atLeast", .integer(0...Int.max)), .init("never", .constant(.bool(true))),
                    .init("since", .integer(0...Int.max)),
                    .init("order", .array(.named("Match"), longest: 1000)),
                ]), example: .object([.init("match", Examples.match), .init("exactly", .integer(1))])),
            answers: [
                200: Answer(
                    "The verification holds",
                    .object([
                        .init("count", .integer(0...Int.max), isRequired: true),
                        .init("lost", .integer(1...Int.max)),
                    ]),
                    example: .object([.init("count", .integer(1))])),
                422: Answer.problem(
                    "The verification failed", .named("VerifyProblem"),
                    example: .object([
                        .init("title", "Unprocessable Content"), .init("status", .integer(422)),
                        .init("detail", "write of=180D/2A39 matched 2 events; expected exactly 1"),
                        .init("count", .integer(2)),
                        .init("timeline", .array([])), .init("nearest", .array([])),
                    ])),
            ]),
        Route(
            "POST", "/v1/reset", .reset,
            """
            Resets the parts that are true; if none is, all parts that are not false. With --clock manual a \
            reset of all parts begins a new history: the run is as at its start, at its first instant
            """,
            body: Body(
                schema: .object(
                    EventRequests.resetParts.map { .init($0, .bool) } + [.init("seed", seed)]),
                example: .object([.init("values", .bool(true))]), isRequired: false),
            answers: [200: .empty]),
        Route(
            "GET", "/v1/report", .getReport, "The events by mark, for a test report",
            query: [
                Parameter(
                    name: "format", summary: "json (the default) or junit", schema: .word(["json", "junit"]))
            ],
            answers: [
                200: Answer("A case for each mark", .named("Report"), example: Examples.report)
            ]),
    ]
}
