import MynahCore
import MynahSupport

/// The format of whole profiles: its JSON Schema and its tables of keys.
///
/// Both are generated from the tables of the sections. With the schema, an editor knows the keys and values
/// of a profile. An editor interprets YAML in its own way, so it may read numbers where the parser reads
/// texts. Only the parser checks limits of counts, and references within the file.
enum ProfileFormat {
    /// The published schema.
    static var schema: JSON {
        .object([
            .init("$schema", "https://json-schema.org/draft/2020-12/schema"),
            .init("$comment", "Made by MYNAH_WRITE_SCHEMA=1 swift test --filter SchemaTests"),
            .init("title", "Mynah profile"),
            .init("description", "A Bluetooth LE peripheral, written down."),
            .init("$ref", "#/$defs/profile"),
            .init("$defs", .object(definitions.map { .init($0.name, $0.schema.json) })),
        ])
    }

    private typealias Definition = (name: String, schema: Schema)

    private static var definitions: [Definition] {
        sections.map { ($0.name, $0.schema) } + forms + attributes + scalars
    }

    /// The sections that have exactly one table, in the order of a profile.
    private static let sections = [
        ProfileSection.table, DeviceSection.table, SecuritySection.table, AdvertisingSection.table,
        AdvertisingSection.appTable, AdvertisedContentsSection.table, AdvertisingSection.intervals,
        AdvertisingSection.extendedTable, AdvertisingSection.serviceLists, ConnectionSection.table,
        ConnectionSection.intervals, AppSection.table,
        AccessoryDescriptorSection.table, PhoneSection.table,
        PhoneNotificationSection.table, PhoneMediaSection.table, PhoneMediaSection.trackTable,
        CentralSection.table,
        ConnectionEventsSection.table, ScanSection.table, PeripheralSection.table, MatchSection.table,
        ConnectSection.table, WriteSection.table, ChannelSection.table, ChannelSection.openedTable,
        CharacteristicSection.table, DescriptorSection.table, PermissionsSection.table,
        PermissionsSection.descriptorTable, ErrorsSection.table, OnSection.table, LinkRulesSection.table,
        ReactionSection.table, AnswerSection.table, FaultSection.table, AdvertisementChangeSection.table,
        AdvertisementChangeSection.askedTable, ScenarioSection.table,
        LayoutSection.table, LayoutSection.bitsTable,
    ]

    /// The sections that have several tables; each value uses one of the tables.
    private static var forms: [Definition] {
        [
            ("service", ServicesSection.schema), ("value", valueSchema),
            ("bytesValue", ValueSection.schema([])),
            ("faultyValue", .oneOf([.ref("bytesValue"), FieldsSection.faultTable.schema])),
            ("fieldValue", FieldsSection.valueSchema), ("fieldGenerator", FieldGeneratorKind.schema),
            ("step", StepSection.schema), ("eventField", EventStepSection.fieldSchema),
            ("layout", .list(of: .ref("layoutField"), atLeast: 1)),
        ]
    }

    private static var valueSchema: Schema {
        ValueSection.schema(
            Generators.all.map { $0.table } + [FieldsSection.table, FieldsSection.layoutTable],
            texts: TextSection.others)
    }

    private static var attributes: [Definition] {
        [
            ("attributeName", .types("string", "number", pattern: "^[^/@]+(/[^/]+)?$")),
            ("faultyAttribute", .types("string", "number", pattern: "^[^/@]+(/[^/]+){0,2}$")),
            ("serviceUUID", AttributeType.service.schema),
            (
                "serviceReference",
                .anyOf([.ref("serviceUUID"), .types("string", pattern: "^[^~]+~[1-9][0-9]{0,4}$")])
            ),
            ("characteristicUUID", AttributeType.characteristic.schema),
            ("descriptorUUID", AttributeType.descriptor.schema),
            ("permission", Kind<SecurityRequirement>.word.schema),
        ]
    }

    private static var scalars: [Definition] {
        [
            ("count", .integer(1...FaultSection.maximumCount)), ("mtu", .integer(GATT.defaultMTU...0xFFFF)),
            ("companyNumber", .integer(0...0xFFFF)), ("adType", .integer(1...0xFF)),
            ("attError", .integer(1...0xFF)), ("valueLength", .integer(0...GATT.maximumValueLength)),
            ("beats", .integer(0...0xFFFF)),
            (
                "bytes",
                .types("string", "number", "null", pattern: "^(0x)?[\\s:-]*([0-9A-Fa-f]{2}[\\s:-]*)*$")
            ),
            ("duration", .types("string", pattern: "^ *\(DurationText.pattern) *$")),
            ("boolean", .constants([.bool(true), .bool(false)])),
            ("text", .types("string", "number", "boolean")),
        ]
    }
}

// The tables of keys for the article about profiles.
extension ProfileFormat {
    /// The lines of each table in Markdown: a header with the section's name, and a row for each key.
    static var keyTables: [[String]] {
        let names = [AdvertisingSection.appTable.name, PermissionsSection.descriptorTable.name]
        let whole = sections.filter { !names.contains($0.name) } + Generators.all.map { $0.table }
        let events: [any DeclaredField] = [
            EventStepSection.awaited, EventStepSection.expected, EventStepSection.within, EventStepSection.of,
        ]
        return whole.map { table($0.name, $0.fields) }
            + [
                table("service", ServicesSection.table.fields), table("value", valueFields, isOneOf: true),
                table("step", events + StepSection.plainTables.flatMap(\.fields), isOneOf: true), generators,
            ]
    }

    private static var valueFields: [any DeclaredField] {
        let names = Words.codes(Generators.all.map { $0.name })
        let generate = Field("generate", .node(names, Schema()), doc: ValueSection.generate("").doc)
        return ValueSection.constants + [generate, FieldsSection.fields, FieldsSection.layout]
    }

    /// Returns the table of keys of a section.
    ///
    /// With `isOneOf`, exactly one of the keys is required.
    private static func table(
        _ name: String, _ fields: [any DeclaredField], isOneOf: Bool = false
    ) -> [String] {
        ["| `\(name)` | value | meaning |", "|---|---|---|"]
            + fields.map { field in
                let need = field.isRequired && !isOneOf ? ", required" : ""
                return "| `\(field.name)` | \(field.form)\(need) | \(field.doc) |"
            }
    }

    private static var generators: [String] {
        ["| `generate` | keys | meaning |", "|---|---|---|"]
            + FieldGeneratorKind.allCases.map { kind in
                "| `\(kind.rawValue)` | \(Words.codes(kind.fields.map(\.name))) | \(kind.purpose) |"
            }
    }
}
