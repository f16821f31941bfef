import MynahCore
import MynahSupport

// The requests about phones in the central role, and their verbs.
extension Route {
    static let phones: [Route] = [
        Route(
            "GET", "/v1/phones", .listPhones, "Every phone that tests have made",
            answers: [
                200: Answer(
                    "The phones", .object([.init("phones", .array(.named("Phone")), isRequired: true)]),
                    example: .object([.init("phones", .array([Examples.phone]))]))
            ]),
        Route(
            "POST", "/v1/phones", .addPhone,
            """
            Adds a phone in the central role, and starts it. radio is for clients of the Unix socket; \
            stateDirectory is a folder below --state-dir; with confirm: false it confirms no indication; \
            with a holder it ends with the event stream of that name
            """,
            body: Body(
                schema: .object(settings + pairing), example: .object([.init("name", "Anna")]),
                isRequired: false),
            answers: [201: Answer("The phone", .named("Phone"), example: Examples.phone)]),
        Route(
            "GET", "/v1/phones/{phone}", .getPhone, "A phone",
            answers: [200: Answer("The phone", .named("Phone"), example: Examples.phone)]),
        Route(
            "DELETE", "/v1/phones/{phone}", .removePhone, "Ends a phone with its links",
            answers: [200: .empty]),
    ]

    static let phoneVerbs: [Route] = [
        verb(
            "scan", .scanAsPhone, "Scans for the whole time, or until `count` peripherals were heard",
            searchMembers + [.init("count", .integer(1...10_000))],
            .object([.init("services", .array(["180D"]))]),
            "The peripherals that match, in the order in which they were heard",
            [.init("peripherals", .array(.named("HeardPeripheral")), isRequired: true)],
            [.init("peripherals", .array([Examples.heardPeripheral]))]),
        verb(
            "connect", .connectAsPhone,
            "Connects to the first peripheral that has this name, address or one of these services",
            searchMembers, .object([.init("name", "Lock")]), "The peripheral and its services",
            peripheralMembers + [services], Examples.peripheral + [.init("services", .array([]))]),
        verb(
            "disconnect", .disconnectAsPhone, "Ends the link to a peripheral", [peripheral], .object([]),
            "The link has ended", [], []),
        verb(
            "discover", .discoverAsPhone, "Discovers all services, or those of these types",
            [peripheral, servicesToFind], .object([.init("services", .array(["180D"]))]), "The services",
            [services], [.init("services", .array([Examples.remoteService]))]),
        verb(
            "read", .readAsPhone, "Reads a value; a phone pairs if the peripheral requires that",
            attributeMembers, .object([.init("of", "180F/2A19")]), "The value", valueMembers,
            Examples.remoteValue),
        verb(
            "write", .writeAsPhone, "Writes a value, and waits for the response",
            attributeMembers + writtenMembers, Examples.remoteWrite, "The value was written", valueMembers,
            Examples.remoteValue),
        verb(
            "command", .commandAsPhone, "Writes a value without response", attributeMembers + writtenMembers,
            Examples.remoteWrite, "The value was sent", valueMembers, Examples.remoteValue),
        verb(
            "subscribe", .subscribeAsPhone, "Enables notifications, or else indications", attributeMembers,
            .object([.init("of", "180D/2A37")]), "The values are events from this number on",
            uuidMembers + [.init("on", .bool, isRequired: true)],
            Examples.remoteAttribute + [.init("on", .bool(true))]),
        verb(
            "unsubscribe", .unsubscribeAsPhone, "Disables notifications and indications", attributeMembers,
            .object([.init("of", "180D/2A37")]), "There are no more values",
            uuidMembers + [.init("on", .bool, isRequired: true)],
            Examples.remoteAttribute + [.init("on", .bool(false))]),
        verb(
            "pair", .pairAsPhone,
            """
            Pairs, or encrypts the link with the keys of the bond. passkey is entered if the pairing asks \
            for it; accept: false declines
            """, [peripheral] + pairing, .object([.init("passkey", "042042")]), "The link is encrypted", [],
            []),
        verb(
            "passkey", .enterPasskeyAsPhone, "Enters the passkey that a pairing asks for",
            [.init("passkey", passkey, isRequired: true)], .object([.init("passkey", "042042")]),
            "The passkey was entered", [], []),
        verb(
            "forget", .forgetAsPhone, "Deletes the bond with a peripheral", [peripheral], .object([]),
            "The bond is deleted", [], []),
        verb(
            "mtu", .exchangeMTUAsPhone, "Exchanges the ATT_MTU, at most once on a link", [peripheral],
            .object([]), "The ATT_MTU, in bytes", [.init("mtu", .integer(23...527), isRequired: true)],
            [.init("mtu", .integer(517))]),
        verb(
            "parameters", .changeParametersAsPhone, "Changes the connection parameters",
            [
                peripheral, .init("interval", .named("Duration"), isRequired: true),
                .init("intervalMaximum", .named("Duration")), .init("latency", .integer(0...499)),
                .init("supervisionTimeout", .named("Duration")),
            ], .object([.init("interval", "30 ms")]), "The connection parameters",
            [
                .init("intervalMilliseconds", .number, isRequired: true),
                .init("latency", .integer(0...499), isRequired: true),
                .init("supervisionTimeoutMilliseconds", .number, isRequired: true),
            ],
            [
                .init("intervalMilliseconds", .number(30)), .init("latency", .integer(0)),
                .init("supervisionTimeoutMilliseconds", .number(6000)),
            ]),
    ]

    /// Makes the route of a request to a phone, such as `connect` or `read`.
    ///
    /// Every such request may have a time limit, `within`. The response has `seq`, which is the number that
    /// the next event had when the request began.
    private static func verb(
        _ word: String, _ operation: Operation, _ summary: String, _ members: [Schema.Property],
        _ example: JSON, _ result: String, _ answer: [Schema.Property], _ answerExample: [JSON.Member]
    ) -> Route {
        Route(
            "POST", "/v1/phones/{phone}/\(word)", operation, summary,
            body: Body(
                schema: .object(members + [.init("within", .named("Duration"))]), example: example,
                isRequired: members.contains(where: \.isRequired) || operation == .connectAsPhone),
            answers: [
                200: Answer(
                    result, .object(answer + [.init("seq", .integer(1...Int.max), isRequired: true)]),
                    example: .object(answerExample + [.init("seq", .integer(12))])),
                408: Answer.problem(
                    "It was not done in time", .named("PhoneProblem"), example: Examples.latePhone),
                409: Answer.problem(
                    "The peripheral refused it, or the radio could not do it", .named("PhoneProblem"),
                    example: Examples.refusedPhone),
            ])
    }

    private static let passkey = Schema.either([.string(pattern: "^[0-9]{6}$"), .integer(0...999_999)])
    private static let pairing: [Schema.Property] = [.init("passkey", passkey), .init("accept", .bool)]
    private static let settings: [Schema.Property] = [
        .init("name", .string()), .init("radio", .string()), .init("address", .string()),
        .init("io", .word(IOCapability.allCases.map(\.rawValue))), .init("stateDirectory", .string()),
        .init("confirm", .bool), .init("holder", .string(pattern: EventsQuery.holderPattern)),
    ]
    private static let peripheral = Schema.Property("peripheral", .string())
    private static let servicesToFind = Schema.Property("services", .array(.string(), longest: 100))
    private static let services = Schema.Property(
        "services", .array(.named("RemoteService")), isRequired: true)

    private static let searchMembers: [Schema.Property] = [
        .init("name", .string()), .init("address", .string()), servicesToFind,
    ]
    private static let attributeMembers: [Schema.Property] = [
        peripheral, .init("of", .string(), isRequired: true),
    ]
    private static let writtenMembers: [Schema.Property] = [
        .init("hex", .named("Bytes")), .init("text", .string()),
        .init("fields", .object([], others: .written)),
    ]
    private static let uuidMembers: [Schema.Property] = [
        .init("service", .string(), isRequired: true), .init("characteristic", .string(), isRequired: true),
        .init("descriptor", .string()),
    ]
    private static let valueMembers =
        uuidMembers + [.init("value", .named("Bytes"), isRequired: true), .init("fields", .named("Fields"))]

    /// The members of a connected peripheral.
    static let peripheralMembers: [Schema.Property] = [
        .init("address", .string(), isRequired: true), .init("name", .string()),
        .init("mtu", .integer(23...527), isRequired: true), .init("paired", .bool, isRequired: true),
    ]

    /// The schemas of phones, for the components of the document.
    static let phoneSchemas: [(name: String, schema: Schema)] = [
        (
            "Phone",
            .object([
                .init("phone", .string(), isRequired: true), .init("radio", .string(), isRequired: true),
                .init("address", .string()),
                .init("io", .word(IOCapability.allCases.map(\.rawValue)), isRequired: true),
                .init("confirm", .bool, isRequired: true), .init("stateDirectory", .string()),
                .init("holder", .string()),
                .init(
                    "peripherals",
                    .array(
                        .object(
                            peripheralMembers + [
                                .init("subscriptions", .array(.string()), isRequired: true)
                            ])), isRequired: true),
            ])
        ),
        (
            "HeardPeripheral",
            .object([
                .init("address", .string(), isRequired: true), .init("name", .string()),
                .init("rssi", .either([.integer(-128...127), .null]), isRequired: true),
                .init("connectable", .bool, isRequired: true),
                .init("services", .array(.string()), isRequired: true),
                .init("data", .named("Bytes"), isRequired: true),
                .init("scanResponse", .named("Bytes"), isRequired: true),
            ])
        ),
        (
            "RemoteService",
            .object([
                .init("uuid", .string(), isRequired: true), .init("primary", .bool, isRequired: true),
                .init("handle", .integer(1...0xFFFF), isRequired: true),
                .init("includes", .array(.string())),
                .init(
                    "characteristics",
                    .array(
                        .object([
                            .init("uuid", .string(), isRequired: true),
                            .init("handle", .integer(1...0xFFFF), isRequired: true),
                            .init("properties", .array(.string()), isRequired: true),
                            .init(
                                "descriptors",
                                .array(
                                    .object([
                                        .init("uuid", .string(), isRequired: true),
                                        .init("handle", .integer(1...0xFFFF), isRequired: true),
                                    ])), isRequired: true),
                        ])), isRequired: true),
            ])
        ),
        (
            "PhoneProblem",
            .object(
                OpenAPI.problem + [
                    .init("error", .string(pattern: "^0x[0-9A-F]{2}$")), .init("name", .string()),
                    .init("code", .string()), .init("reason", .string(pattern: "^0x[0-9A-F]{2}$")),
                ], others: .any)
        ),
    ]
}
