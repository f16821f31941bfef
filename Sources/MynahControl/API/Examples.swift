import MynahSupport

/// The examples of the OpenAPI document that several requests share.
enum Examples {
    static let instance = JSON.object(
        [
            .init("mynah", "1"), .init("radios", .array(["virtual radio"])),
            .init("devices", .array(["lock"])),
        ] + clockMembers)

    static let clockMembers: [JSON.Member] = [
        .init("clock", "manual"), .init("now", "2026-01-01T00:15:00.000000Z"),
    ]

    static let clock = JSON.object(clockMembers)

    static let device = JSON.object([
        .init("device", "lock"), .init("radio", "virtual radio"), .init("address", "C0:11:22:33:44:55"),
        .init("state", "poweredOn"), .init("app", .null),
        .init(
            "advertising",
            .object([
                .init("on", .bool(true)), .init("data", "02010603030A18"), .init("scanResponse", ""),
                .init("intervalMilliseconds", .number(100)), .init("omitted", .array([])),
                .init("structures", structures),
            ])),
        .init("centrals", .array([])), .init("variables", .object([])), .init("faults", .array([fault])),
        .init(
            "scenarios",
            .array([.object([.init("name", "drop out"), .init("playing", .bool(false))])])),
        .init("attributes", .array([value])),
    ])

    private static let structures = JSON.object([
        .init(
            "data",
            .array([
                .object([
                    .init("type", .integer(1)), .init("name", "Flags"), .init("data", "06"),
                    .init("text", "general discoverable, no BR/EDR"),
                ]),
                .object([
                    .init("type", .integer(3)), .init("name", "16-bit service UUIDs"), .init("data", "0A18"),
                    .init("text", "Device Information"),
                ]),
            ])), .init("scanResponse", .array([])),
    ])

    /// A value and its fields.
    static let measurement: [JSON.Member] = [
        .init("value", "0048"), .init("fields", .object([.init("heartRate", .integer(72))])),
    ]

    static let value = JSON.object([
        .init("path", "180D/2A39"), .init("handle", .integer(18)), .init("properties", .array(["write"])),
        .init("value", "01"), .init("fields", .object([.init("command", .integer(1))])),
    ])

    static let layout = JSON.object([
        .init("path", "180F/2A19"), .init("names", .array(["Battery", "Battery Level"])),
        .init(
            "fields",
            .array([
                .object([
                    .init("name", "level"), .init("kind", "number"), .init("minimum", .integer(0)),
                    .init("maximum", .integer(255)), .init("step", .integer(1)), .init("unit", "%"),
                ])
            ])),
    ])

    static let fault = JSON.object([
        .init("name", "gone"), .init("off", .bool(true)), .init("applied", .integer(0)),
    ])

    static let match = JSON.object([
        .init("event", "write"), .init("of", "180D/2A39"), .init("value", "01 .."),
    ])

    static let event = JSON.object([
        .init("seq", .integer(7)), .init("time", "2026-01-01T12:00:00.000000Z"), .init("event", "write"),
        .init("device", "lock"), .init("service", "180D"), .init("characteristic", "2A39"),
        .init("value", "01"), .init("fields", .object([.init("command", .integer(1))])),
    ])

    static let events = JSON.object([.init("events", .array([event])), .init("next", .integer(8))])

    static let report = JSON.object([
        .init(
            "cases",
            .array([
                .object([
                    .init("name", "unlocked"), .init("seq", .integer(1)), .init("events", .integer(7)),
                    .init("errors", .array([])),
                ])
            ]))
    ])

    static let problem = JSON.object([
        .init("title", "Not Found"), .init("status", .integer(404)),
        .init("detail", "there is no device \"locc\"; did you mean \"lock\"?"),
    ])

    // MARK: Phones

    static let peripheral: [JSON.Member] = [
        .init("address", "C0:11:22:33:44:55"), .init("name", "Lock"), .init("mtu", .integer(517)),
        .init("paired", .bool(false)),
    ]

    static let phone = JSON.object([
        .init("phone", "Anna"), .init("radio", "virtual radio"), .init("address", "C0:66:77:88:99:AA"),
        .init("io", "noInputNoOutput"), .init("confirm", .bool(true)),
        .init(
            "peripherals",
            .array([.object(peripheral + [.init("subscriptions", .array(["180D/2A37"]))])])),
    ])

    static let heardPeripheral = JSON.object([
        .init("address", "C0:11:22:33:44:55"), .init("name", "Lock"), .init("rssi", .integer(-40)),
        .init("connectable", .bool(true)), .init("services", .array(["180A"])),
        .init("data", "02010603030A18"), .init("scanResponse", ""),
    ])

    static let remoteService = JSON.object([
        .init("uuid", "180F"), .init("primary", .bool(true)), .init("handle", .integer(16)),
        .init(
            "characteristics",
            .array([
                .object([
                    .init("uuid", "2A19"), .init("handle", .integer(18)),
                    .init("properties", .array(["read"])), .init("descriptors", .array([])),
                ])
            ])),
    ])

    static let remoteAttribute: [JSON.Member] = [
        .init("service", "180F"), .init("characteristic", "2A19"),
    ]

    static let remoteValue =
        remoteAttribute + [
            .init("value", "40"), .init("fields", .object([.init("level", .integer(64))])),
        ]

    static let remoteWrite = JSON.object([.init("of", "180D/2A39"), .init("hex", "01")])

    static let latePhone = JSON.object([
        .init("title", "Request Timeout"), .init("status", .integer(408)),
        .init("detail", "the request was not carried out within 30 s"), .init("code", "timedOut"),
    ])

    static let refusedPhone = JSON.object([
        .init("title", "Conflict"), .init("status", .integer(409)),
        .init("detail", "the peripheral answered 0x80 (application error)"), .init("error", "0x80"),
        .init("name", "applicationError"),
    ])
}
