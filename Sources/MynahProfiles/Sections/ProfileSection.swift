import MynahCore
import MynahSupport

/// The top level of a profile, with all its sections.
enum ProfileSection {
    static let mynah = Field(
        "mynah", .version, missing: "mynah: 1 is missing; it is the version of the format",
        doc: "The version of the format: 1.")
    static let name = Field(
        "name", .text, missing: "name is missing; add one, as in name: Heart rate monitor",
        doc: "A name for people; centrals never see it.")
    static let device = Field("device", .section("device"), doc: "Its GAP name and appearance.")
    static let security = Field("security", .section("security"), doc: "Its pairing.")
    static let advertising = Field(
        "advertising",
        .node(
            "`advertising`, or a list of them",
            .anyOf([.ref("advertising"), .list(of: .ref("advertising"))])),
        doc: "Its advertising, a set or a list of several; left out: it does not advertise.")
    static let connection = Field(
        "connection", .section("connection"),
        doc: "The connection parameters that it requests from each central; left out: none.")
    static let centrals = Field(
        "centrals", .integer(1...255),
        doc: """
            How many centrals it takes: with as many it leaves the air, and comes back after a \
            disconnection; left out: any number. Not on BlueZ.
            """)
    static let mtu = Field(
        "mtu", .integer(GATT.defaultMTU...517),
        doc: "The largest ATT_MTU that it offers, in bytes; left out: 517. Not on BlueZ.")
    static let app = Field(
        "app", .section("app"), doc: "An iOS app plays the device, and Apple's rules hold.")
    static let phone = Field(
        "phone", .section("phone"),
        doc: "The phone that the app is on; left out: the one that all apps without phone share.")
    static let central = Field(
        "central",
        .node("`central`, or a list of them", .anyOf([.ref("central"), .list(of: .ref("central"))])),
        doc: "The app as a central: one manager, or a list of several.")
    static let variables = Field(
        "variables", .node("numbers and texts by their names", VariablesSection.schema),
        doc: "Its own state: numbers or texts by their names.")
    static let on = Field(
        "on", .section("onLink"), doc: "Rules for connections, disconnections and pairings of centrals.")
    static let services = Field("services", .sections("service"), doc: "Its services, in order.")
    static let faults = Field(
        "faults", .sections("fault"), doc: "Faults that a device or a link has on purpose.")
    static let scenarios = Field(
        "scenarios", .sections("scenario"), doc: "Steps that are played, and events that are expected.")
    static let table = Section(
        "profile", what: "a profile",
        [
            mynah, name, device, security, advertising, connection, centrals, mtu, app, phone, central,
            variables,
            on, services, faults, scenarios,
        ],
        rules: [JSON.Member].when(
            .required(["app"]),
            Schema([
                .init(
                    "properties",
                    .object([
                        .init("advertising", Schema.ref("appAdvertising").json),
                        .init("connection", .bool(false)), .init("centrals", .bool(false)),
                        .init("mtu", .bool(false)), .init("on", .bool(false)),
                    ]))
            ])
        ) + phoneNeedsApp.members)

    private static let phoneNeedsApp = Schema.anyOf([
        Schema([.init("not", Schema.required(["phone"]).json)]), .required(["app"]),
    ])

    static func read(_ root: YAMLNode, _ reader: FormatReader) -> Profile? {
        guard let fields = reader.fields(root, table) else { return nil }
        _ = fields.read(mynah)
        let name = fields.read(name)
        var marks = fields.marks
        let (identity, passkey) = identity(fields, name: name, &marks, reader)
        var app = fields[app].map { AppSection.read($0, isCentral: fields[central] != nil, reader) }
        let phone = fields[phone].flatMap { PhoneSection.read($0, isApp: app != nil, reader) }
        PhoneSection.merge(phone, into: &app, reader)
        // Variables come first, because values can refer to them.
        let variables = fields[variables].map { VariablesSection.read($0, reader) } ?? Variables()
        let scope = FieldScope(variables: variables)
        let advertising = fields[advertising].flatMap {
            AdvertisingSection.read($0, identity, isApp: app != nil, in: scope, reader)
        }
        let errorsBefore = reader.errorCount
        let read = fields[services].map { ServicesSection.read($0, in: scope, reader) } ?? .init()
        let isWhole = reader.errorCount == errorsBefore
        let centrals = fields[central].map {
            CentralSection.read($0, of: app, at: fields.mark(of: central), reader)
        }
        var profile = Profile(
            origin: reader.origin, name: name ?? "", device: identity, passkey: passkey,
            advertising: advertising, services: read.services, app: app, centrals: centrals ?? [],
            variables: variables, warnings: [], marks: marks)
        if let app {
            checkUpdates(profile.services, reader)
            warnOfReserved(profile.services, reader)
            warnOfLatency(profile, app, reader)
            warnOfIdentifier(profile, app, reader)
            AppSection.checkRelaunch(
                of: app, at: app.marks["iOS"] ?? phone?.marks["iOS"], profile.centrals, reader)
            AppSection.checkAccessorySetup(
                of: app, hasCentral: fields[central] != nil, hasServices: !profile.services.isEmpty, reader)
            if let channel = app.channel, isWhole {
                let mark = app.marks[AppSection.channel.name] ?? .start
                ChannelSection.check(channel, of: profile, at: mark, reader)
            }
            let iOS = IOSVersion(app.iOS)
            profile.device.largestMTU = iOS.largestMTU
            profile.device.parameterRules = ConnectionParameterRules(iOS.parameterLimits)
        }
        profile.parameterRequest = fields[connection].flatMap {
            ConnectionSection.read($0, isApp: app != nil, reader)
        }
        profile.takeLimits(fields, reader)
        profile.device.confirmsIndications = profile.centrals.allSatisfy(\.confirmsIndications)
        profile.phone = phone
        OnSection.read(read.rules, into: &profile, reader)
        if let node = fields[on] { LinkRulesSection.read(node, into: &profile, reader) }
        RecordedDefinition.complete(&profile, reader)
        let errorsBeforeFaults = reader.errorCount
        if let node = fields[faults] {
            let scope = FaultScope(profile, isWhole: isWhole)
            profile.faults = FaultSection.list(node, in: scope, reader)
        }
        if let node = fields[scenarios] {
            let hasAllFaults = reader.errorCount == errorsBeforeFaults
            let scope = ScenarioScope(profile, isWhole: isWhole, hasAllFaults: hasAllFaults)
            profile.scenarios = ScenarioSection.list(node, in: scope, reader)
        }
        return profile
    }

    /// Reports rules for sending values that only accessories can have.
    ///
    /// For an app, iOS adds the descriptor 0x2902, sends values only to subscribers, and cuts long values.
    private static func checkUpdates(_ services: [Profile.Service], _ reader: FormatReader) {
        for characteristic in services.flatMap(\.characteristics) {
            let marks = characteristic.marks
            if characteristic.updates.subscription != .asked {
                reader.error(
                    at: marks[CharacteristicSection.subscription.name] ?? characteristic.mark,
                    "subscription is for accessories: iOS adds 2902, and sends to subscribers"
                )
            }
            if characteristic.updates.isInPieces {
                reader.error(
                    at: marks[CharacteristicSection.pieces.name] ?? characteristic.mark,
                    "pieces is for accessories: iOS cuts values; an app sends an answer with pieces itself")
            }
        }
    }

    /// Reports services that iOS reserves, and therefore refuses to publish for an app.
    private static func warnOfReserved(_ services: [Profile.Service], _ reader: FormatReader) {
        for service in services {
            guard let reserved = AppleServices.reserved(service.uuid) else { continue }
            reader.warning(
                at: service.marks["uuid"] ?? service.mark,
                """
                iOS keeps the \(reserved.name) service \(service.uuid) for itself: it refuses the app this \
                service with CBError 8 and publishes the others. To play an accessory, delete app
                """)
        }
    }

    /// Reports a connection latency that is never requested, because no central can subscribe.
    private static func warnOfLatency(_ profile: Profile, _ app: Profile.App, _ reader: FormatReader) {
        let hasUpdates = profile.services.flatMap(\.characteristics).contains {
            !$0.properties.isDisjoint(with: .anyUpdate)
        }
        guard app.connectionLatency != nil, !hasUpdates else { return }
        reader.warning(
            at: app.marks[AppSection.connectionLatency.name] ?? .start,
            """
            connectionLatency has no effect without a characteristic that notifies or indicates: a central \
            is asked when it subscribes
            """)
    }

    /// Reports a restore identifier of `app` that has no effect.
    ///
    /// This is so if the profile has no peripheral manager, or if the app lacks the background mode with
    /// which iOS preserves that manager.
    private static func warnOfIdentifier(_ profile: Profile, _ app: Profile.App, _ reader: FormatReader) {
        guard app.restoreIdentifier != nil else { return }
        let mark = app.marks[AppSection.restoreIdentifier.name] ?? .start
        if !profile.isPeripheral {
            reader.warning(
                at: mark,
                """
                restoreIdentifier of app has no effect without services or advertising: it is that of the \
                peripheral manager. For the central manager, give central a restoreIdentifier
                """)
        } else if !app.backgroundModes.contains(.bluetoothPeripheral) {
            reader.warning(
                at: mark,
                """
                restoreIdentifier has no effect without the background mode bluetooth-peripheral: nothing \
                is kept of the peripheral manager
                """)
        }
    }

    /// Parses the sections `device` and `security`.
    private static func identity(
        _ fields: Fields, name: String?, _ marks: inout [String: SourceMark], _ reader: FormatReader
    ) -> (identity: DeviceIdentity, passkey: UInt32?) {
        var identity = DeviceIdentity(name: name ?? "")
        let device = fields[device].flatMap { DeviceSection($0, reader) }
        marks.merge(device?.fields.marks(in: "device.") ?? [:]) { $1 }
        if let own = device?.name { identity.name = own }
        identity.appearance = device?.appearance
        if device?.hasServiceChanged == false {
            identity.hasServiceChanged = fields[app] != nil
            if identity.hasServiceChanged {
                reader.warning(
                    at: device?.fields[DeviceSection.serviceChanged]?.mark,
                    "serviceChanged has no effect with app: an iPhone always has Service Changed")
            }
        }
        checkDeviceName(identity.name, at: device?.fields[DeviceSection.name] ?? fields[Self.name], reader)
        if let name, identity.name != name {
            reader.checkName(name, "the name", at: fields[Self.name])
        }
        let security = fields[security].flatMap {
            SecuritySection($0, usual: identity.ioCapability, reader)
        }
        marks.merge(security?.fields.marks(in: "security.") ?? [:]) { $1 }
        if let security {
            identity.ioCapability = security.io
            if let keySize = security.keySize { identity.largestKeySize = keySize }
        }
        return (identity, security?.passkey)
    }

    private static func checkDeviceName(_ name: String, at node: YAMLNode?, _ reader: FormatReader) {
        let count = name.utf8.count
        // A key without a value was already reported.
        if name.isEmpty, let scalar = node?.scalar, !scalar.isPlain {
            reader.error(at: node, "the device's name is empty; phones show it")
        }
        let limit = DeviceIdentity.longestName
        if count > limit {
            reader.error(at: node, "the device's name has \(count) bytes in UTF-8; it can have \(limit)")
        }
        if !name.isEmpty { reader.checkName(name, "the device's name", at: node) }
    }
}

extension Profile {
    /// Parses the maximum number of centrals and the ATT_MTU of an accessory.
    fileprivate mutating func takeLimits(_ fields: Fields, _ reader: FormatReader) {
        typealias Keys = ProfileSection
        for (key, choice) in [(Keys.centrals, "how many centrals it takes"), (Keys.mtu, "the ATT_MTU")] {
            guard let node = fields[key], app != nil else { continue }
            reader.error(at: node, "\(key.name) is for accessories; with app:, iOS chooses \(choice)")
        }
        device.largestCentralCount = fields.read(Keys.centrals)
        if app == nil { fields.read(Keys.mtu, into: &device.largestMTU) }
    }
}

extension Kind<Void> {
    /// The format of the key `mynah`: the version of the profile format, of which there is only one.
    fileprivate static var version: Kind {
        Kind("`1`", .constants([.integer(1), "1"])) { node, what, reader in
            guard let text = reader.text(node, what), text != "1" else { return }
            reader.error(
                at: node,
                "format version \(Words.quote(text)) is not supported; this program reads mynah: 1")
        }
    }
}
