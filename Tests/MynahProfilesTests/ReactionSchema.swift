import MynahSupport

@testable import MynahProfiles

/// The schema of reactions.
enum ReactionSchema {
    static let on = ProfileSchema.object(
        ProfileKeys.on,
        [
            ("write", rules("reaction", "The first rule that matches a write is carried out.")),
            (
                "subscribe",
                rules("reaction", "The first rule is carried out; it has neither match nor error.")
            ),
        ])

    static let rule = ProfileSchema.object(ProfileKeys.reaction, keys)

    static let answer = ProfileSchema.object(
        ProfileKeys.answer, required: ["value"],
        [
            (
                "to",
                ProfileSchema.ref("attributeName", "The characteristic; left out: the one that was written.")
            ),
            ("value", ProfileSchema.ref("value", "Its value: hex, text, base64 or fields.")),
            ("after", ProfileSchema.ref("duration", "The time after the response; left out: at once.")),
        ])

    private static let keys: [(String, JSON)] = [
        (
            "match",
            described(
                "The fields of the value, and hex for its bytes (.. is any byte); left out: any value.",
                [.init("type", .string("object"))])
        ),
        (
            "set",
            described(
                "Variables, and a number, a field of the value or a variable for each.",
                [
                    .init("type", .string("object")),
                    .init("additionalProperties", ProfileSchema.types(["string", "number"])),
                ])
        ),
        (
            "answer",
            either(
                "What is sent to the central: a value, {to, value, after}, or a list of these.",
                ["value", "answer"], isListed: true)
        ),
        (
            "notify",
            either(
                "now for this characteristic, or those whose value is sent.", ["attributeName"],
                isListed: true)
        ),
        (
            "error",
            ProfileSchema.types(
                ["string", "integer"], [.init("description", .string("An ATT error, by code or name."))])
        ),
        ("disconnect", ProfileSchema.ref("boolean", "Whether the link is ended.")),
        (
            "advertise",
            described(
                "Whether the device advertises from now on.",
                [
                    .init(
                        "enum", .array([.bool(true), .bool(false), .string("on"), .string("off")]))
                ])
        ),
    ]

    private static func described(_ description: String, _ more: [JSON.Member]) -> JSON {
        .object([.init("description", .string(description))] + more)
    }

    private static func reference(_ name: String) -> JSON {
        .object([.init("$ref", .string("#/$defs/\(name)"))])
    }

    private static func rules(_ name: String, _ description: String) -> JSON {
        described(description, [.init("type", .string("array")), .init("items", reference(name))])
    }

    private static func either(_ description: String, _ names: [String], isListed: Bool) -> JSON {
        let choices = names.map(reference)
        let list: [JSON] =
            isListed
            ? [
                .object([
                    .init("type", .string("array")),
                    .init("items", .object([.init("anyOf", .array(choices))])),
                ])
            ] : []
        return described(description, [.init("anyOf", .array(choices + list))])
    }
}
