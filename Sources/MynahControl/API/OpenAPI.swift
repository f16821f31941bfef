import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport
import MynahValues

/// Makes the OpenAPI document of the API from its routes.
enum OpenAPI {
    /// The document; `version` is the version of the program.
    static func document(version: String) -> JSON {
        .object([
            .init("openapi", "3.1.0"),
            .init(
                "info",
                .object([
                    .init("title", "Mynah"), .init("version", .string(version)),
                    .init("summary", "Controls the devices of a run"),
                ])),
            .init("paths", .object(paths)),
            .init(
                "components",
                .object([.init("schemas", .object(schemas.map { .init($0.name, $0.schema.json) }))])),
        ])
    }

    private static var paths: [JSON.Member] {
        var paths: [String] = []
        for route in Route.all where !paths.contains(route.path) { paths.append(route.path) }
        return paths.map { path in
            let routes = Route.all.filter { $0.path == path }
            return .init(
                path.replacing("*}", with: "}"),
                .object(routes.map { .init($0.method.lowercased(), operation($0)) }))
        }
    }

    private static func operation(_ route: Route) -> JSON {
        var members: [JSON.Member] = [
            .init("operationId", .string(route.operation.rawValue)),
            .init("summary", .string(route.summary)),
        ]
        let parameters =
            route.segments.compactMap { parameter($0, route.pathSchemas) } + route.query.map(parameter)
        if !parameters.isEmpty { members.append(.init("parameters", .array(parameters))) }
        if let body = route.body {
            members.append(
                .init(
                    "requestBody",
                    .object([
                        .init("required", .bool(body.isRequired)),
                        .init(
                            "content",
                            .object([.init("application/json", content(body.schema, body.example))])),
                    ])))
        }
        members.append(.init("responses", .object(answers(route))))
        return .object(members)
    }

    private static func parameter(_ segment: Route.Segment, _ schemas: [String: Schema]) -> JSON? {
        switch segment {
        case .literal: nil
        case .parameter(let name), .rest(let name):
            .object([
                .init("name", .string(name)), .init("in", "path"), .init("required", .bool(true)),
                .init("schema", schemas[name, default: .string()].json),
            ])
        }
    }

    private static func parameter(_ parameter: Route.Parameter) -> JSON {
        .object([
            .init("name", .string(parameter.name)), .init("in", "query"),
            .init("description", .string(parameter.summary)), .init("schema", parameter.schema.json),
        ])
    }

    private static func answers(_ route: Route) -> [JSON.Member] {
        var answers = route.answers.sorted { $0.key < $1.key }.map { status, answer in
            JSON.Member(
                String(status),
                .object([
                    .init("description", .string(answer.summary)),
                    .init("content", .object(contents(route, answer))),
                ]))
        }
        answers.append(
            .init(
                "default",
                .object([
                    .init("description", "An error"),
                    .init(
                        "content",
                        .object([
                            .init(
                                "application/problem+json",
                                content(.named("Problem"), Examples.problem))
                        ])),
                ])))
        return answers
    }

    private static func contents(_ route: Route, _ answer: Route.Answer) -> [JSON.Member] {
        var contents = [JSON.Member(answer.type, content(answer.schema, answer.example))]
        if route.operation == .listEvents {
            contents.append(
                .init("text/event-stream", content(.string(), "id: 1-7\nevent: write\ndata: {}\n\n")))
        }
        if route.operation == .getReport {
            contents.append(.init("application/xml", content(.string(), "<testsuites/>")))
        }
        return contents
    }

    private static func content(_ schema: Schema, _ example: JSON) -> JSON {
        .object([.init("schema", schema.json), .init("example", example)])
    }

    // MARK: Components

    /// The schemas that several requests share.
    static let schemas: [(name: String, schema: Schema)] = [
        (
            "Instance",
            .object(
                [
                    .init("mynah", .string(), isRequired: true),
                    .init("radios", .array(.string()), isRequired: true),
                    .init("devices", .array(.string()), isRequired: true),
                ] + Route.clockMembers)
        ),
        ("Clock", .object(Route.clockMembers)),
        (
            "Health",
            .object([
                .init("status", .word(["ok"]), isRequired: true),
                .init("devices", .integer(0...Int.max), isRequired: true),
            ])
        ),
        ("Bytes", .string(pattern: "^([0-9A-Fa-f]{2} ?)*$")),
        (
            "ATTError",
            .either([
                .string(pattern: "^0x(0?[1-9A-Fa-f]|[1-9A-Fa-f][0-9A-Fa-f])$"), .word(ATTError.names),
            ])
        ),
        ("Fields", .object([], others: .any)),
        // A request may contain JSON of any form here.
        (
            "Written",
            .either([
                .null, .bool, .writtenNumber, .string(), .array(.named("Written")),
                .object([], others: .written),
            ])
        ),
        ("Duration", .string(pattern: "^\(DurationText.pattern)$")),
        (
            "Match",
            .either([
                .string(),
                .object(
                    [
                        .init(
                            "event", .word(DeviceEvent.Name.allCases.map(\.rawValue)), isRequired: true),
                        .init("fields", .object([], others: .written)),
                    ], others: .written),
            ])
        ),
        (
            "Value",
            .object([
                .init("path", .string(), isRequired: true),
                .init("handle", .integer(1...0xFFFF)),
                .init("properties", .array(.string()), isRequired: true),
                .init("subscription", .word(["none", "always"])), .init("pieces", .word(["mtu"])),
                .init("value", .named("Bytes")), .init("fields", .named("Fields")),
            ])
        ),
        (
            "AttributeLayout",
            .object([
                .init("path", .string(), isRequired: true),
                .init("names", .array(.string()), isRequired: true),
                .init("fields", .array(.named("Field")), isRequired: true),
            ])
        ),
        (
            "Field",
            .object([
                .init("name", .string(), isRequired: true),
                .init("kind", .word(FieldShape.Content.kinds), isRequired: true),
                .init("minimum", .number), .init("maximum", .number), .init("step", .number),
                .init("shortMaximum", .number), .init("names", .array(.string())), .init("list", .bool),
                .init("unit", .string()), .init("optional", .bool),
            ])
        ),
        (
            "Event",
            .object(
                [
                    .init("seq", .integer(1...Int.max), isRequired: true),
                    .init("event", .string(), isRequired: true),
                    .init("fields", .named("Fields")),
                ], others: .any)
        ),
        (
            "Events",
            .object([
                .init("events", .array(.named("Event")), isRequired: true),
                .init("next", .integer(1...Int.max), isRequired: true), .init("lost", .integer(1...Int.max)),
            ])
        ),
        (
            "Advertising",
            .object([
                .init("on", .bool, isRequired: true), .init("data", .named("Bytes")),
                .init("scanResponse", .named("Bytes")),
                .init("intervalMilliseconds", .either([.number, .null])),
                .init("intervalMaximumMilliseconds", .number), .init("connectable", .bool),
                .init("scannable", .bool), .init("primaryPHY", .word(["1M", "coded"])),
                .init("secondaryPHY", .word(["1M", "2M", "coded"])), .init("set", .string()),
                .init("sets", .array(.named("Advertising"))),
                .init("address", .string()),
                .init(
                    "omitted",
                    .array(
                        .object([
                            .init("item", .string(), isRequired: true),
                            .init("reason", .string(), isRequired: true),
                        ]))),
                .init(
                    "structures",
                    .object([
                        .init("data", .array(.named("ADStructure")), isRequired: true),
                        .init("scanResponse", .array(.named("ADStructure")), isRequired: true),
                    ])),
            ])
        ),
        (
            "ADStructure",
            .object([
                .init("type", .integer(0...255), isRequired: true),
                .init("name", .string(), isRequired: true),
                .init("data", .named("Bytes"), isRequired: true),
                .init("text", .string(), isRequired: true),
            ])
        ),
        (
            "Central",
            .object([
                .init("central", .string(), isRequired: true), .init("mtu", .integer(23...527)),
                .init("encrypted", .bool), .init("bonded", .bool), .init("subscriptions", .array(.string())),
            ])
        ),
        (
            "Fault",
            .object([
                .init("name", .string(), isRequired: true), .init("off", .bool, isRequired: true),
                .init("applied", .integer(0...Int.max), isRequired: true),
            ])
        ),
        (
            "Scenario",
            .object([
                .init("name", .string(), isRequired: true), .init("playing", .bool, isRequired: true),
            ])
        ),
        (
            "Device",
            .object([
                .init("device", .string(), isRequired: true), .init("radio", .string(), isRequired: true),
                .init("address", .string()), .init("state", .string(), isRequired: true),
                .init(
                    "app",
                    .either([
                        .object([
                            .init("state", .string(), isRequired: true),
                            .init(
                                "authorization", .word(BluetoothAuthorization.allCases.map(\.rawValue)),
                                isRequired: true),
                        ]), .null,
                    ])),
                .init("phone", .string()),
                .init(
                    "limits",
                    .object([
                        .init("centrals", .integer(1...255)), .init("mtu", .integer(23...517)),
                        .init("keySize", .integer(7...16)),
                    ])),
                .init("advertising", .named("Advertising"), isRequired: true),
                .init("centrals", .array(.named("Central")), isRequired: true),
                .init("variables", .object([], others: .any), isRequired: true),
                .init("faults", .array(.named("Fault")), isRequired: true),
                .init("scenarios", .array(.named("Scenario")), isRequired: true),
                .init("attributes", .array(.named("Value")), isRequired: true),
            ])
        ),
        ("Problem", .object(problem, others: .any)),
        (
            "WaitProblem",
            .object(
                problem + [
                    .init("nearest", .array(.named("Nearest"), longest: 3), isRequired: true),
                    .init("seen", .object([], others: .any), isRequired: true),
                    .init("lost", .integer(1...Int.max)),
                ])
        ),
        ("AdvanceProblem", .object(problem + Route.clockMembers + [Route.advanced])),
        (
            "VerifyProblem",
            .object(
                problem + [
                    .init("count", .integer(0...Int.max), isRequired: true),
                    .init("timeline", .array(.named("Event")), isRequired: true),
                    .init("omitted", .integer(1...Int.max)),
                    .init("nearest", .array(.named("Nearest"), longest: 3), isRequired: true),
                    .init("lost", .integer(1...Int.max)),
                ])
        ),
        (
            "Nearest",
            .object(
                [
                    .init("seq", .integer(1...Int.max), isRequired: true),
                    .init("event", .string(), isRequired: true),
                    .init("differs", .array(.string()), isRequired: true),
                ], others: .any)
        ),
        (
            "Report",
            .object([
                .init(
                    "cases",
                    .array(
                        .object([
                            .init("name", .string(), isRequired: true),
                            .init("seq", .integer(1...Int.max), isRequired: true),
                            .init("events", .integer(0...Int.max), isRequired: true),
                            .init("errors", .array(.string()), isRequired: true),
                        ])), isRequired: true),
                .init("lost", .integer(1...Int.max)),
            ])
        ),
    ]

    private static let problem: [Schema.Property] = [
        .init("title", .string(), isRequired: true), .init("status", .integer(400...599), isRequired: true),
        .init("detail", .string(), isRequired: true),
    ]
}
