import MynahCore
import MynahSupport

@testable import MynahProfiles

/// The schema of faults.
enum FaultSchema {
    private static func required(_ keys: [String]) -> JSON {
        .object([.init("required", .array(keys.map { .string($0) }))])
    }

    private static func described(_ description: String, _ schema: JSON) -> JSON {
        .object([.init("description", .string(description))] + (schema.members ?? []))
    }

    /// Once `on` or `after`, and one effect, or a delay alone.
    private static var rules: [JSON.Member] {
        let effects = ProfileKeys.faultEffects.map { required([$0]) }
        let delay = JSON.object([
            .init("required", .array(["delay"])), .init("not", .object([.init("anyOf", .array(effects))])),
        ])
        return [
            .init("anyOf", .array([required(["on"]), required(["after"])])),
            .init("not", required(["on", "after"])), .init("oneOf", .array(effects + [delay])),
        ]
    }

    static var fault: JSON {
        let name = JSON.Member(
            "name", ProfileSchema.ref("text", "What events and tests call it; no other fault has it."))
        return ProfileSchema.object(
            ProfileKeys.fault, required: ["name"],
            [(name.key, name.value)] + trigger + selection + effects + parameters, more: rules)
    }

    private static let trigger: [(String, JSON)] = [
        (
            "on",
            ProfileSchema.words(
                FaultTrigger.Operation.allCases.map(\.rawValue), "The operation that it applies to.")
        ),
        ("after", ProfileSchema.ref("duration", "Once, this long after it was turned on.")),
        (
            "of",
            ProfileSchema.ref("faultyAttribute", "The characteristic or descriptor; left out: every one.")
        ),
    ]

    private static let selection: [(String, JSON)] = [
        (
            "nth",
            described(
                "The operations by their numbers: 3, 1..2 or every 4.",
                ProfileSchema.types(
                    ["integer", "string"],
                    [
                        .init("minimum", .integer(1)),
                        .init(
                            "pattern",
                            .string("^(every +)?[0-9xXA-Fa-f]+$|^[0-9xXA-Fa-f]+\\.\\.[0-9xXA-Fa-f]+$")),
                    ]))
        ),
        ("times", ProfileSchema.ref("count", "How often it applies at most.")),
        (
            "chance",
            described(
                "How likely it applies: 0.05 or 5 %.",
                ProfileSchema.types(
                    ["number", "string"], [.init("minimum", .integer(0)), .init("maximum", .integer(1))]))
        ),
        (
            "central",
            described(
                "The central: its address, or the number of its connection from 1 on.",
                ProfileSchema.types(
                    ["integer", "string"],
                    [
                        .init("minimum", .integer(1)),
                        .init(
                            "pattern",
                            .string("^(0[xX])?[0-9A-Fa-f]+$|^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$")),
                    ]))
        ),
        (
            "when",
            described(
                "The state that the app must be in, or a comparison of a variable, as in power > 200.",
                .object([
                    .init(
                        "anyOf",
                        .array([
                            ProfileSchema.words(FaultScope.appStates),
                            ProfileSchema.types(
                                ["string"],
                                [
                                    .init(
                                        "pattern",
                                        .string("^[A-Za-z][A-Za-z0-9]* +([=!]=|[<>]=?) +[^ ].*$"))
                                ]),
                        ]))
                ]))
        ),
        ("delay", ProfileSchema.ref("duration", "How long the answer or the value is held up.")),
        ("off", ProfileSchema.ref("boolean", "Whether it is off until a test turns it on.")),
    ]

    private static let effects: [(String, JSON)] = [
        (
            "error",
            described(
                "The ATT error that answers: its code or its name.",
                .object([
                    .init(
                        "anyOf",
                        .array([
                            ProfileSchema.words(ATTError.names),
                            .object([.init("$ref", .string("#/$defs/attError"))]),
                        ]))
                ]))
        ),
        ("truncate", ProfileSchema.ref("valueLength", "How many bytes of the value are left.")),
        (
            "corrupt",
            described(
                "Bytes that are changed by exclusive or, and the offset of the first, as in xor FF@2.",
                ProfileSchema.types(
                    ["string"], [.init("pattern", .string("^xor [0-9A-Fa-f :-]+(@[0-9]+)?$"))]))
        ),
        (
            "value",
            ProfileSchema.ref("faultyValue", "Sent instead of the value: hex, text, base64 or fields.")
        ),
        ("mtu", ProfileSchema.ref("mtu", "The MTU that the device answers with, in bytes.")),
        ("do", ProfileSchema.words(DoneEffect.allCases.map(\.rawValue), "What happens.")),
    ]

    private static let parameters: [(String, JSON)] = [
        ("reason", ProfileSchema.ref("attError", "Of disconnect: the error code; left out: 0x13.")),
        (
            "how",
            ProfileSchema.words(
                FaultEffect.LostBond.allCases.map(\.rawValue),
                "Of loseBond: how the central that encrypts learns of it; left out: reject.")
        ),
        ("remove", ProfileSchema.ref("faultyAttribute", "Of changeServices: a service or a characteristic.")),
        ("with", ProfileSchema.ref("faultAdvertising", "Of advertise: the fields that change.")),
        ("for", ProfileSchema.ref("duration", "Of advertise and vanish; left out: until it is turned off.")),
    ]

    static func advertising(_ usual: [(String, JSON)]) -> JSON {
        let own: [(String, JSON)] = [
            (
                "appearance",
                .object([
                    .init("description", .string("The appearance, a number or the SIG's name.")),
                    .init(
                        "anyOf",
                        .array([
                            ProfileSchema.words(AssignedNumbers.appearanceNames),
                            .object([.init("$ref", .string("#/$defs/companyNumber"))]),
                        ])),
                ])
            ),
            ("connectable", ProfileSchema.ref("boolean", "Whether centrals can connect.")),
        ]
        let same = usual.filter { field in
            ProfileKeys.faultAdvertising.contains(field.0) && !own.contains { $0.0 == field.0 }
        }
        return ProfileSchema.object(ProfileKeys.faultAdvertising, same + own)
    }
}
