import MynahCore
import MynahSupport

@testable import MynahProfiles

/// The published schema (profiles/profile.schema.json), made of the decoder's own tables.
///
/// It tells an editor the keys and values of a profile. An editor reads YAML in its own way: it makes
/// numbers of values that we read as text. Only the decoder checks counts and references within the
/// file.
enum ProfileSchema {
    static let json: JSON = .object([
        .init("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
        .init("$comment", .string("Made by MYNAH_WRITE_SCHEMA=1 swift test --filter SchemaTests")),
        .init("title", .string("Mynah profile")),
        .init("description", .string("A Bluetooth LE peripheral, written down.")),
        .init("$ref", .string("#/$defs/profile")),
        .init("$defs", .object(definitions)),
    ])

    /// Every key of an object with its value's schema; `nil` means that the table lacks the key, which a
    /// test reports.
    static func object(
        _ keys: [String], required: [String] = [], _ properties: [(String, JSON)], more: [JSON.Member] = []
    ) -> JSON {
        let known = Dictionary(uniqueKeysWithValues: properties)
        let members = keys.map { JSON.Member($0, known[$0] ?? .bool(false)) }
        let extra = properties.filter { !keys.contains($0.0) }.map { JSON.Member($0.0, .bool(false)) }
        var fields: [JSON.Member] = [.init("type", .string("object"))]
        if !required.isEmpty { fields.append(.init("required", .array(required.map { .string($0) }))) }
        fields.append(.init("properties", .object(members + extra)))
        fields.append(.init("additionalProperties", .bool(false)))
        return .object(fields + more)
    }

    static func ref(_ name: String, _ description: String) -> JSON {
        .object([.init("description", .string(description)), .init("$ref", .string("#/$defs/\(name)"))])
    }

    static func words(_ words: [String], _ description: String? = nil) -> JSON {
        let text: [JSON.Member] = description.map { [.init("description", .string($0))] } ?? []
        return .object(text + [.init("enum", .array(words.map { .string($0) }))])
    }

    private static func list(_ items: JSON, _ description: String, atLeast minimum: Int = 0) -> JSON {
        var fields: [JSON.Member] = [
            .init("description", .string(description)), .init("type", .string("array")),
            .init("items", items),
            .init("uniqueItems", .bool(true)),
        ]
        if minimum > 0 { fields.append(.init("minItems", .integer(minimum))) }
        return .object(fields)
    }

    private static func map(keys: String, to values: String, _ description: String) -> JSON {
        .object([
            .init("description", .string(description)), .init("type", .string("object")),
            .init("propertyNames", .object([.init("$ref", .string("#/$defs/\(keys)"))])),
            .init("additionalProperties", .object([.init("$ref", .string("#/$defs/\(values)"))])),
        ])
    }

    static func types(_ types: [String], _ more: [JSON.Member] = []) -> JSON {
        .object([.init("type", .array(types.map { .string($0) }))] + more)
    }

    /// A whole number as an editor reads it, or as text where it is quoted or a key.
    private static func number(_ range: ClosedRange<Int>, _ description: String? = nil) -> JSON {
        var fields: [JSON.Member] = [
            .init("minimum", .integer(range.lowerBound)), .init("maximum", .integer(range.upperBound)),
            .init("pattern", .string("^(0[xX][0-9A-Fa-f]+|0|[1-9][0-9]*)$")),
        ]
        if let description { fields.append(.init("description", .string(description))) }
        return types(["integer", "string"], fields)
    }

    /// A number of any width, or one of the SIG's names.
    ///
    /// `refused` are assigned numbers that are no such thing.
    private static func uuid(
        _ names: [String], except reserved: [String], refusing refused: [UInt16]
    ) -> JSON {
        let pattern =
            "^((0[xX])?[0-9A-Fa-f]{4}|(0[xX])?[0-9A-Fa-f]{8}|[0-9A-Fa-f]{32}"
            + "|[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12})$"
        return .object([
            .init(
                "anyOf",
                .array([
                    words(names.filter { !reserved.contains($0) }),
                    .object([.init("type", .string("string")), .init("pattern", .string(pattern))]),
                    .object([.init("type", .string("number"))]),
                ])),
            .init("not", anySpelling(of: refused)),
        ])
    }

    /// Assigned numbers in every spelling; an editor reads 2902 as that number, and 0x2902 as 10498.
    private static func anySpelling(of numbers: [UInt16]) -> JSON {
        let digits = numbers.map { Hex.encode([UInt8($0 >> 8), UInt8($0 & 0xFF)]) }
        let spelled = digits.map { text in
            text.map { $0.isLetter ? "[\($0)\($0.lowercased())]" : "\($0)" }.joined()
        }
        let base = "(-?0000-?1000-?8000-?00805[Ff]9[Bb]34[Ff][Bb])?"
        let pattern = "^(0[xX])?(0000)?(\(spelled.joined(separator: "|")))\(base)$"
        let values = digits.compactMap { Int($0) } + numbers.map { Int($0) }
        return .object([
            .init(
                "anyOf",
                .array([
                    .object([.init("enum", .array(values.map { .integer($0) }))]),
                    .object([.init("type", .string("string")), .init("pattern", .string(pattern))]),
                ]))
        ])
    }

    private static let declarations: [UInt16] = (0x2800...0x28FF).filter {
        AssignedNumbers.isDeclaration(BluetoothUUID($0 as UInt16))
    }
    private static let descriptorNumbers: [UInt16] = (0x2900...0x29FF).filter {
        AssignedNumbers.isDescriptor(BluetoothUUID($0 as UInt16))
    }

    private static let definitions: [JSON.Member] = [
        .init("profile", profile), .init("device", device), .init("security", security),
        .init("advertising", advertising), .init("appAdvertising", appAdvertising), .init("app", app),
        .init("central", central), .init("scan", scan), .init("peripheral", peripheral),
        .init("match", match), .init("connect", connect), .init("write", write),
        .init(
            "attributeName",
            types(["string", "number"], [.init("pattern", .string("^[^/@]+(/[^/]+)?$"))])),
        .init("service", service), .init("characteristic", characteristic), .init("descriptor", descriptor),
        .init("permissions", permissions), .init("descriptorPermissions", descriptorPermissions),
        .init("errors", errors), .init("on", ReactionSchema.on), .init("reaction", ReactionSchema.rule),
        .init("answer", ReactionSchema.answer), .init("value", value(forms: ProfileKeys.valueForms)),
        .init(
            "bytesValue",
            value(forms: ProfileKeys.valueForms.filter { !["generate", "fields"].contains($0) })),
        .init("fieldValue", FieldSchema.value), .init("fieldGenerator", FieldSchema.generator),
        .init("fault", FaultSchema.fault), .init("scenario", ScenarioSchema.scenario),
        .init("step", ScenarioSchema.step), .init("eventField", ScenarioSchema.eventField),
        .init(
            "faultyValue",
            .object([
                .init(
                    "oneOf",
                    .array([
                        .object([.init("$ref", .string("#/$defs/bytesValue"))]), FieldSchema.fieldsAlone,
                    ]))
            ])),
        .init("faultAdvertising", FaultSchema.advertising(advertisingFields)),
        .init(
            "faultyAttribute",
            types(["string", "number"], [.init("pattern", .string("^[^/@]+(/[^/]+){0,2}$"))])),
        .init("count", number(1...1_000_000_000)), .init("mtu", number(GATT.defaultMTU...0xFFFF)),
        .init("layout", FieldSchema.layout), .init("layoutField", FieldSchema.layoutField),
        .init("permission", words(SecurityRequirement.allCases.map(\.rawValue))),
        .init(
            "serviceUUID",
            uuid(
                AssignedNumbers.serviceNames, except: ["generic-access", "generic-attribute"],
                refusing: declarations + descriptorNumbers)),
        .init(
            "serviceReference",
            .object([
                .init(
                    "anyOf",
                    .array([
                        .object([.init("$ref", .string("#/$defs/serviceUUID"))]),
                        types(["string"], [.init("pattern", .string("^[^~]+~[1-9][0-9]{0,4}$"))]),
                    ]))
            ])),
        .init(
            "characteristicUUID",
            uuid(
                AssignedNumbers.characteristicNames, except: [], refusing: declarations + descriptorNumbers)),
        .init(
            "descriptorUUID",
            uuid(
                AssignedNumbers.descriptorNames,
                except: ["characteristic-extended-properties", "client-characteristic-configuration"],
                refusing: declarations)),
        .init("companyNumber", number(0...0xFFFF)), .init("adType", number(1...0xFF)),
        .init("attError", number(1...0xFF)), .init("valueLength", number(0...GATT.maximumValueLength)),
        .init("beats", number(0...0xFFFF)),
        .init(
            "bytes",
            types(
                ["string", "number", "null"],
                [.init("pattern", .string("^(0x)?[\\s:-]*([0-9A-Fa-f]{2}[\\s:-]*)*$"))])),
        .init(
            "duration",
            types(
                ["string"],
                [.init("pattern", .string("^ *[0-9]+(\\.[0-9]{1,9})? *(us|ms|s|min) *$"))])),
        .init("boolean", .object([.init("enum", .array([.bool(true), .bool(false)]))])),
        .init("text", types(["string", "number", "boolean"])),
    ]

    private static let profile = object(
        ProfileKeys.root, required: ["mynah", "name"],
        [
            (
                "mynah",
                .object([
                    .init("description", .string("The version of the format: 1.")),
                    .init("enum", .array([.integer(1), .string("1")])),
                ])
            ),
            ("name", ref("text", "What the device is, for people.")),
            ("device", ref("device", "How the device presents itself.")),
            ("security", ref("security", "How it pairs.")),
            ("advertising", ref("advertising", "What it advertises; left out: nothing.")),
            ("app", ref("app", "An iOS app plays the device, and Apple's rules hold.")),
            (
                "central",
                .object([
                    .init(
                        "description",
                        .string("What the app does as a central: one manager, or a list of several.")),
                    .init(
                        "anyOf",
                        .array([
                            .object([.init("$ref", .string("#/$defs/central"))]),
                            .object([
                                .init("type", .string("array")),
                                .init("items", .object([.init("$ref", .string("#/$defs/central"))])),
                            ]),
                        ])),
                ])
            ),
            (
                "variables",
                .object([
                    .init("description", .string("Its own state: numbers or texts by their names.")),
                    .init("type", .string("object")),
                    .init(
                        "propertyNames",
                        .object([.init("pattern", .string("^[A-Za-z][A-Za-z0-9]{0,63}$"))])),
                    .init("additionalProperties", types(["string", "number", "boolean"])),
                ])
            ),
            (
                "services",
                .object([
                    .init("description", .string("Its services, in order.")), .init("type", .string("array")),
                    .init("items", .object([.init("$ref", .string("#/$defs/service"))])),
                ])
            ),
            (
                "faults",
                .object([
                    .init("description", .string("What goes wrong on purpose.")),
                    .init("type", .string("array")),
                    .init("items", .object([.init("$ref", .string("#/$defs/fault"))])),
                ])
            ),
            (
                "scenarios",
                .object([
                    .init("description", .string("Steps that are played, and events that are expected.")),
                    .init("type", .string("array")),
                    .init("items", .object([.init("$ref", .string("#/$defs/scenario"))])),
                ])
            ),
        ],
        more: [
            .init("if", .object([.init("required", .array([.string("app")]))])),
            .init(
                "then",
                .object([
                    .init(
                        "properties",
                        .object([
                            .init("advertising", .object([.init("$ref", .string("#/$defs/appAdvertising"))]))
                        ]))
                ])),
        ])

    private static let device = object(
        ProfileKeys.device,
        [
            ("name", ref("text", "The GAP device name, up to 248 bytes; left out: the profile's name.")),
            (
                "appearance",
                .object([
                    .init(
                        "description",
                        .string(
                            """
                            The GAP appearance, a number or the SIG's name; advertised only with \
                            advertising.appearance: true.
                            """
                        )),
                    .init("anyOf", .array([words(AssignedNumbers.appearanceNames), number(0...0xFFFF)])),
                ])
            ),
        ])

    private static let security = object(
        ProfileKeys.security,
        [
            (
                "io",
                words(
                    IOCapability.allCases.map(\.rawValue),
                    "What it has to show and type numbers with; left out: noInputNoOutput.")
            ),
            (
                "passkey",
                types(
                    ["integer", "string"],
                    [
                        .init(
                            "description",
                            .string(
                                "The number typed on a device with a keyboard; left out: you are asked.")),
                        .init("pattern", .string("^[0-9]{1,6}$")), .init("minimum", .integer(0)),
                        .init("maximum", .integer(999_999)),
                    ])
            ),
        ],
        more: [
            .init("if", .object([.init("required", .array([.string("passkey")]))])),
            .init(
                "then",
                .object([
                    .init("required", .array([.string("io")])),
                    .init("properties", .object([.init("io", words(["keyboardOnly", "keyboardDisplay"]))])),
                ])),
        ])

    private static let appAdvertising = object(
        ProfileKeys.appAdvertising,
        advertisingFields.filter { ProfileKeys.appAdvertising.contains($0.0) })

    private static let advertising = object(ProfileKeys.advertising, advertisingFields)

    private static let advertisingFields: [(String, JSON)] = [
        ("localName", ref("text", "device.name by default; \"\" advertises no name.")),
        (
            "serviceUUIDs",
            list(
                ref("serviceUUID", "A service."),
                "The services that are advertised, each in the width it is written in.")
        ),
        ("interval", ref("duration", "The advertising interval, minimum and maximum, 20 ms to 10.24 s.")),
        ("manufacturerData", map(keys: "companyNumber", to: "bytes", "A company's number: its bytes.")),
        ("serviceData", map(keys: "serviceUUID", to: "bytes", "A service: its bytes.")),
        (
            "solicitedServiceUUIDs",
            list(ref("serviceUUID", "A service."), "The services that it looks for in the other.")
        ),
        ("appearance", ref("boolean", "Whether device.appearance is advertised.")),
        ("txPower", ref("boolean", "Whether the transmit power is advertised.")),
        ("raw", map(keys: "adType", to: "bytes", "Any other AD type: its bytes.")),
    ]

    private static let app = object(
        ProfileKeys.app,
        [
            (
                "backgroundModes",
                list(
                    words(BackgroundMode.allCases.map(\.rawValue)),
                    "What iOS lets the app do in the background.")
            ),
            ("restoreIdentifier", ref("text", "Opts in to state preservation under this name.")),
            (
                "state",
                words(
                    Profile.App.StartState.allCases.map(\.rawValue), "The state to start in; --state wins.")
            ),
            ("suspendAfter", ref("duration", "How long it runs in the background with nothing to do.")),
            (
                "taskTime",
                ref(
                    "duration",
                    "How long it works for each event that reaches it in the background; left out: 10 s.")
            ),
            ("iOS", number(7...99, "iOS's major version.")),
            (
                "foregroundInterval",
                ref("duration", "The advertising interval in the foreground, an assumption.")
            ),
            ("backgroundInterval", ref("duration", "The advertising interval in the background.")),
        ])

    private static let central = object(
        ProfileKeys.central,
        [
            ("restoreIdentifier", ref("text", "Opts in to state preservation under this name.")),
            ("scan", ref("scan", "What it scans for; left out: it never scans.")),
            (
                "reconnect",
                .object([
                    .init(
                        "description",
                        .string(
                            """
                            The ways back to a device, in order, and those of an inner list at once; \
                            left out: known, connected, scan.
                            """
                        )),
                    .init("type", .string("array")),
                    .init(
                        "items",
                        .object([
                            .init(
                                "anyOf",
                                .array([
                                    words(ReconnectWay.allCases.map(\.rawValue)),
                                    .object([
                                        .init("type", .string("array")),
                                        .init("items", words(ReconnectWay.allCases.map(\.rawValue))),
                                    ]),
                                ]))
                        ])),
                ])
            ),
            (
                "peripherals",
                .object([
                    .init(
                        "description",
                        .string("What it does with a device that it finds: the first entry that matches.")),
                    .init("type", .string("array")),
                    .init("items", .object([.init("$ref", .string("#/$defs/peripheral"))])),
                ])
            ),
        ])

    private static let scan = object(
        ProfileKeys.scan,
        [
            (
                "services",
                list(
                    ref("serviceUUID", "A service."),
                    "Left out: every device, in the foreground; none in the background.")
            ),
            ("allowDuplicates", ref("boolean", "Whether each packet is reported, in the foreground.")),
            (
                "solicited",
                list(ref("serviceUUID", "A service."), "A device that looks for one of these is found too.")
            ),
            (
                "until",
                words(
                    Profile.Central.Scan.End.allCases.map(\.rawValue),
                    "When it stops; left out: connected, when every entry that connects has been connected.")
            ),
        ])

    private static let peripheral = object(
        ProfileKeys.peripheral, required: ["name"],
        [
            ("name", ref("text", "What events call it.")),
            ("match", ref("match", "Which device it is; all of it must match. Left out: any.")),
            (
                "connect",
                .object([
                    .init("description", .string("The options of its connection, or never.")),
                    .init(
                        "anyOf",
                        .array([words(["never"]), .object([.init("$ref", .string("#/$defs/connect"))])])),
                ])
            ),
            (
                "discover",
                words(
                    Profile.Central.Peripheral.Discovery.allCases.map(\.rawValue),
                    "What is looked for on a link; left out: needed, which is what is used below.")
            ),
            ("read", names("The characteristics that are read.")),
            ("subscribe", names("The characteristics that are subscribed to.")),
            (
                "write",
                .object([
                    .init("description", .string("What is written on a connection.")),
                    .init("type", .string("array")),
                    .init("items", .object([.init("$ref", .string("#/$defs/write"))])),
                ])
            ),
            (
                "whenDone",
                words(
                    Profile.Central.Peripheral.WhenDone.allCases.map(\.rawValue),
                    "What it does when everything is done; left out: stay.")
            ),
            (
                "onDisconnect",
                words(
                    Profile.Central.Peripheral.OnDisconnect.allCases.map(\.rawValue),
                    "What it does when a connection has ended; left out: connect, which never times out.")
            ),
        ])

    private static func names(_ description: String) -> JSON {
        .object([
            .init("description", .string(description)), .init("type", .string("array")),
            .init("items", .object([.init("$ref", .string("#/$defs/attributeName"))])),
        ])
    }

    private static let match = object(
        ProfileKeys.match,
        [
            ("services", list(ref("serviceUUID", "A service."), "The services that the device advertises.")),
            ("localName", ref("text", "Its whole local name.")),
            (
                "rssi",
                types(
                    ["string"],
                    [
                        .init("description", .string("The weakest signal, as -75 dBm.")),
                        .init("pattern", .string("^ *[+-]?[0-9]{1,3} +dBm *$")),
                    ])
            ),
        ])

    private static let connect = object(
        ProfileKeys.connect,
        [
            ("notifyOnConnection", ref("boolean", "An alert if it is connected while the app is suspended.")),
            (
                "notifyOnDisconnection",
                ref("boolean", "An alert if the link ends while the app is suspended.")
            ),
            ("notifyOnNotification", ref("boolean", "An alert if a value comes while the app is suspended.")),
            ("startDelay", ref("duration", "How long the system waits before it tries to connect.")),
            (
                "autoReconnect",
                ref("boolean", "Whether the system connects again after a loss; from iOS 17 on.")
            ),
        ])

    private static let write = object(
        ProfileKeys.write, required: ["to", "value"],
        [
            ("to", ref("attributeName", "The characteristic.")),
            ("value", ref("bytesValue", "The value: hex, text or base64.")),
            ("withResponse", ref("boolean", "Left out: true.")),
            ("every", ref("duration", "How often, while the app runs; left out: once per connection.")),
        ])

    /// A service with its own UUID, or one that uses another and may have less.
    private static let service = JSON.object([
        .init(
            "oneOf",
            .array([
                object(
                    ProfileKeys.service.filter { !["use", "omit"].contains($0) }, required: ["uuid"],
                    serviceKeys(characteristic: [.init("required", .array([.string("properties")]))])),
                object(
                    ProfileKeys.service, required: ["use"],
                    [
                        ("use", words(UsableServices.names, "A service that it has the parts of.")),
                        (
                            "omit",
                            list(
                                ref("characteristicUUID", "A characteristic of the service that is used."),
                                "Characteristics that it does not have.")
                        ),
                    ] + serviceKeys(characteristic: [])),
            ]))
    ])

    private static func serviceKeys(characteristic: [JSON.Member]) -> [(String, JSON)] {
        [
            ("uuid", ref("serviceUUID", "The SIG's name, or a number of 16, 32 or 128 bits.")),
            (
                "behavior",
                words(ServiceBehaviorName.allCases.map(\.rawValue), "What it does beyond keeping its values.")
            ),
            ("records", number(0...10_000, "How many records a glucose meter has stored; 10 unless said.")),
            ("primary", ref("boolean", "Left out: true.")),
            (
                "includes",
                list(
                    ref("serviceReference", "A service; 180F~2 is the second 180F of the file."),
                    "Services of this file.")
            ),
            (
                "characteristics",
                .object([
                    .init("type", .string("array")),
                    .init(
                        "items",
                        .object([.init("$ref", .string("#/$defs/characteristic"))] + characteristic)),
                ])
            ),
        ]
    }

    private static let characteristic = object(
        ProfileKeys.characteristic, required: ["uuid"],
        [
            ("uuid", ref("characteristicUUID", "The SIG's name, or a number of 16, 32 or 128 bits.")),
            (
                "properties",
                list(
                    words(CharacteristicProperties.named.map(\.name)), "What may be done with it.", atLeast: 1
                )
            ),
            ("permissions", ref("permissions", "What a link must have been through; open unless said.")),
            ("value", ref("value", "Its value: hex, text, base64, generate or fields.")),
            ("every", ref("duration", "How often it is sent to subscribers, from 1 ms up.")),
            (
                "maxLength",
                ref("valueLength", "The longest value that may be written, in bytes; 512 unless said.")
            ),
            ("errors", ref("errors", "ATT errors instead of answers.")),
            (
                "ask",
                list(
                    words(["read", "write"]), "Requests that a test answers over the control API.", atLeast: 1
                )
            ),
            ("on", ref("on", "What it does when a central writes or subscribes.")),
            (
                "descriptors",
                .object([
                    .init(
                        "description",
                        .string("Its descriptors, without 2900 and 2902: the radio makes those.")),
                    .init("type", .string("array")),
                    .init("items", .object([.init("$ref", .string("#/$defs/descriptor"))])),
                ])
            ),
        ])

    private static let descriptor = object(
        ProfileKeys.descriptor, required: ["uuid"],
        [
            ("uuid", ref("descriptorUUID", "The SIG's name, or a number of 16, 32 or 128 bits.")),
            ("properties", list(words(["read", "write"]), "read unless said.", atLeast: 1)),
            (
                "permissions",
                ref("descriptorPermissions", "What a link must have been through; open unless said.")
            ),
            ("value", ref("bytesValue", "Its value: hex, text or base64.")),
            (
                "maxLength",
                ref("valueLength", "The longest value that may be written, in bytes; 512 unless said.")
            ),
        ])

    private static let permissions = object(
        ProfileKeys.permissions,
        [
            ("read", ref("permission", "To read it.")), ("write", ref("permission", "To write it.")),
            ("notify", ref("permission", "To subscribe to it.")),
        ])

    private static let descriptorPermissions = object(
        ProfileKeys.descriptorPermissions,
        [("read", ref("permission", "To read it.")), ("write", ref("permission", "To write it."))])

    private static let errors = object(
        ProfileKeys.errors,
        [
            ("read", ref("attError", "Answers every read; 0x80 to 0x9F are the application's own.")),
            ("write", ref("attError", "Answers every write; 0x80 to 0x9F are the application's own.")),
        ])

    /// The schema of each key of a generator.
    private static let generatorKeys: [String: [(String, JSON)]] = [
        "heart-rate": [
            ("min", ref("beats", "The lowest rate, in beats a minute; 60 unless said.")),
            ("max", ref("beats", "The highest rate, in beats a minute; 100 unless said.")),
            ("period", ref("duration", "How long one swing takes; 30 s unless said.")),
        ],
        "recorded": [
            ("file", ref("text", "A recording by `mynah import`, from the profile's folder; up to 16 MiB.")),
            ("initial", ref("bytes", "Read until the first value is sent; the first value unless said.")),
        ],
    ]

    /// The keys that a generator cannot do without.
    private static let neededGeneratorKeys = ["recorded": ["file"]]

    private static func value(forms: [String]) -> JSON {
        let written: [String: JSON] = [
            "hex": ref("bytes", "Pairs of hexadecimal digits, as 01 FF."),
            "text": types(
                ["string", "number", "boolean", "null"],
                [.init("description", .string("UTF-8, as it is written."))]),
            "base64": types(
                ["string", "number"],
                [
                    .init("description", .string("Bytes in base64, with its padding.")),
                    .init("pattern", .string("^[A-Za-z0-9+/\\s]*(=\\s*){0,2}$")),
                ]),
        ]
        let choices = forms.flatMap { form -> [JSON] in
            if form == "fields" { return FieldSchema.forms }
            guard form == "generate" else {
                return [object([form], required: [form], [(form, written[form] ?? .bool(false))])]
            }
            return Generators.all.map { kind in
                let name: (String, JSON) = (
                    "generate",
                    .object([
                        .init("description", .string("Makes the value anew each time.")),
                        .init("const", .string(kind.name)),
                    ])
                )
                return object(
                    ["generate"] + kind.keys,
                    required: ["generate"] + (neededGeneratorKeys[kind.name] ?? []),
                    [name] + (generatorKeys[kind.name] ?? []))
            }
        }
        return .object([.init("oneOf", .array(choices))])
    }
}
