import MynahSupport

@testable import MynahProfiles

/// The schema of scenarios.
enum ScenarioSchema {
    static let scenario = ProfileSchema.object(
        ProfileKeys.scenario, required: ["name", "steps"],
        [
            ("name", ProfileSchema.ref("text", "What the command line calls it; no other scenario has it.")),
            (
                "steps",
                .object([
                    .init("description", .string("What is played, in this order.")),
                    .init("type", .string("array")), .init("minItems", .integer(1)),
                    .init("items", .object([.init("$ref", .string("#/$defs/step"))])),
                ])
            ),
        ])

    /// A step that waits for an event has fields of the event too.
    static let step = JSON.object([
        .init("description", .string("A step: one of \(ProfileKeys.steps.joined(separator: ", "))")),
        .init("oneOf", .array(forms)),
    ])

    /// A value of a field of an event, or comparisons with it.
    static let eventField = JSON.object([
        .init(
            "anyOf",
            .array([
                ProfileSchema.types(["string", "number", "boolean", "null"]),
                .object([.init("type", .string("object"))]),
            ]))
    ])

    private static let forms =
        ProfileKeys.eventSteps.map(event)
        + [
            ProfileSchema.object(
                ["after"], required: ["after"],
                [("after", ProfileSchema.ref("duration", "Waits for this time."))]),
            ProfileSchema.object(
                ["set"], required: ["set"],
                [
                    (
                        "set",
                        .object([
                            .init(
                                "description", .string("Variables, each with a number, a text or a variable.")
                            ),
                            .init("type", .string("object")),
                            .init("additionalProperties", ProfileSchema.types(["string", "number"])),
                        ])
                    )
                ]),
            ProfileSchema.object(
                ["fault", "off"], required: ["fault"],
                [
                    ("fault", ProfileSchema.ref("text", "The fault that is turned on.")),
                    ("off", ProfileSchema.ref("boolean", "Whether the fault is turned off instead.")),
                ]),
            ProfileSchema.object(
                ["app"], required: ["app"],
                [("app", ProfileSchema.words(ScenarioScope.transitions, "The new state of the app."))]),
            ProfileSchema.object(
                ["end"], required: ["end"],
                [("end", ProfileSchema.words(["pass", "fail"], "Ends the scenario with this result."))]),
        ]

    private static func event(_ word: String) -> JSON {
        let limit =
            word == "await"
            ? "The scenario fails after this time; left out: it waits."
            : "The scenario fails after this time; left out: 5 s."
        return .object([
            .init("type", .string("object")), .init("required", .array([.string(word)])),
            .init(
                "properties",
                .object([
                    .init(word, ProfileSchema.words(EventCatalog.names, "The event.")),
                    .init("within", ProfileSchema.ref("duration", limit)),
                    .init(
                        "of",
                        ProfileSchema.ref("faultyAttribute", "The attribute that the event is about.")),
                ])),
            .init(
                "propertyNames",
                .object([
                    .init(
                        "not",
                        .object([
                            .init(
                                "enum",
                                .array(
                                    ProfileKeys.steps.filter { !["fault", "app", word].contains($0) }
                                        .map { .string($0) }))
                        ]))
                ])),
            .init("additionalProperties", .object([.init("$ref", .string("#/$defs/eventField"))])),
        ])
    }
}
