import MynahSupport

@testable import MynahProfiles

/// The schema of values that are written as fields, and of their layouts and generators.
enum FieldSchema {
    private static let plain = ProfileSchema.types(["string", "number", "boolean", "null"])
    private static let number = ProfileSchema.types(["string", "number"])

    private static func reference(_ name: String) -> JSON {
        .object([.init("$ref", .string("#/$defs/\(name)"))])
    }

    private static func described(_ description: String, _ schema: JSON) -> JSON {
        .object([.init("description", .string(description))] + (schema.members ?? []))
    }

    private static var fields: (String, JSON) {
        (
            "fields",
            .object([
                .init("description", .string("The fields of its value, by their names.")),
                .init("type", .string("object")), .init("additionalProperties", reference("fieldValue")),
            ])
        )
    }

    /// `fields`, `fields` with `layout`, and `layout` alone.
    static var forms: [JSON] {
        let layout: (String, JSON) = (
            "layout",
            ProfileSchema.ref("layout", "Its fields in order; the SIG's characteristics have theirs.")
        )
        return [
            ProfileSchema.object(["fields", "layout"], required: ["fields"], [fields, layout]),
            ProfileSchema.object(["layout"], required: ["layout"], [layout]),
        ]
    }

    /// `fields` of an attribute whose layout is known.
    static var fieldsAlone: JSON { ProfileSchema.object(["fields"], required: ["fields"], [fields]) }

    static let value: JSON = .object([
        .init(
            "anyOf",
            .array([
                plain, reference("fieldGenerator"), source,
                .object([
                    .init("type", .string("array")),
                    .init(
                        "items",
                        .object([.init("anyOf", .array([plain, reference("fieldGenerator"), source]))])),
                ]),
            ]))
    ])

    private static let source = ProfileSchema.object(
        ["from"], required: ["from"],
        [("from", ProfileSchema.ref("text", "A variable, or in an answer a field of what was written."))])

    /// Of one name after the other; the words beside the name say more about it.
    static let layout: JSON = .object([
        .init("type", .string("array")), .init("minItems", .integer(1)),
        .init("items", reference("layoutField")),
    ])

    static var layoutField: JSON {
        let type: JSON = .object([
            .init(
                "anyOf",
                .array([
                    ProfileSchema.words(ProfileDecoder.layoutTypes.map(\.name)),
                    .object([
                        .init("type", .string("array")), .init("minItems", .integer(1)),
                        .init("items", ProfileSchema.types(["string"])),
                    ]),
                ]))
        ])
        let words: [(String, JSON)] = [
            (
                "when",
                described(
                    "Whether it is there, by a field before it, as in opcode == 2.",
                    ProfileSchema.types(
                        ["string"], [.init("pattern", .string("^[a-z][A-Za-z0-9]* +[=!<>]=? *[^ ]+$"))]))
            ),
            (
                "count",
                described(
                    "How many there are: the name of a field before it, or rest for up to the end.",
                    ProfileSchema.types(["string"]))
            ),
            ("unit", ProfileSchema.ref("text", "The unit of the number.")),
            ("resolution", described("The number that the integer 1 means, as 0.01 or 1/1024.", number)),
            ("bigEndian", ProfileSchema.ref("boolean", "Whether its most significant octet is the first.")),
        ]
        let properties = ProfileKeys.layoutWords.map { word in
            JSON.Member(word, words.first { $0.0 == word }?.1 ?? .bool(false))
        }
        return .object([
            .init("type", .string("object")), .init("properties", .object(properties)),
            .init("propertyNames", .object([.init("pattern", .string("^[a-z][A-Za-z0-9]*$"))])),
            .init("additionalProperties", type),
        ])
    }

    static var generator: JSON {
        let kinds = FieldGeneratorKind.allCases.map { kind in
            let keys = kind.required + kind.optional
            let all = ["generate"] + keys + FieldGeneratorKind.commonKeys.filter { !keys.contains($0) }
            return ProfileSchema.object(
                all, required: ["generate"] + kind.required,
                [
                    (
                        "generate",
                        .object([
                            .init("description", .string(purposes[kind] ?? "")),
                            .init("const", .string(kind.rawValue)),
                        ])
                    )
                ] + all.dropFirst().map { ($0, schemas[$0] ?? .bool(false)) })
        }
        return .object([.init("oneOf", .array(kinds))])
    }

    private static let purposes: [FieldGeneratorKind: String] = [
        .constant: "Always the same, but for noise and outliers.",
        .ramp: "From one number to another in each period.",
        .sine: "Up and down between two numbers in each period.",
        .square: "The smaller number for half of a period, then the larger one.",
        .randomWalk: "By up to a step each tick, between two numbers.",
        .noise: "Any number around another.",
        .uniform: "Any number between two.",
        .normal: "Normally distributed numbers.",
        .counter: "Goes on by each tick, and wraps at its type's width.",
        .list: "One value after the other, and again.",
        .csv: "A column of a file, one row after the other, and again.",
        .clock: "The date and the time, or the seconds since 1970.",
        .toggle: "0 and 1, or false and true, in turn.",
    ]

    private static let schemas: [String: JSON] = [
        "value": described("The value.", plain), "from": described("Where it starts.", number),
        "to": described("Where it ends.", number), "min": described("The smallest number.", number),
        "max": described("The largest number.", number),
        "period": ProfileSchema.ref("duration", "How long it takes until it begins again; 30 s unless said."),
        "step": described("How far it moves in a tick at most.", number),
        "around": described("The number in the middle.", number),
        "by": described("How far it moves in a tick, or from the middle at most.", number),
        "mean": described("The mean.", number), "deviation": described("The standard deviation.", number),
        "values": .object([
            .init("description", .string("The values.")), .init("type", .string("array")),
            .init("minItems", .integer(1)), .init("items", plain),
        ]),
        "file": ProfileSchema.ref("text", "A file, from the profile's folder; up to 1 MiB and 100,000 rows."),
        "column": described("The name in the first row, or the number from 1; 1 unless said.", number),
        "start": described(
            "As 2026-01-31T12:00:00Z; left out: the start of the run, or with --seed 2026-01-01T00:00:00Z.",
            ProfileSchema.types(["string"])),
        "noise": described("What is added at random at most, as a part of the number: 0.02 or 2 %.", number),
        "outliers": described("How likely a number is far off: 0.01 or 1 %.", number),
    ]
}
