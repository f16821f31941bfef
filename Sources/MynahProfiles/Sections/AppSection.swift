import MynahCore

/// The section `app`.
enum AppSection {
    static let backgroundModes = Field(
        "backgroundModes",
        .words(BackgroundMode.allCases.map(\.rawValue), each: "background mode") {
            "the background mode \($0) is repeated"
        }, doc: "The background modes of the app.")
    static let restoreIdentifier = Field(
        "restoreIdentifier", .restoreIdentifier, doc: "Opts in to state preservation under this name.")
    static let state = Field(
        "state", called: "app state", .word as Kind<Profile.App.StartState>,
        doc: "The state to start in; the option `--state` wins.")
    static let suspendAfter = Field(
        "suspendAfter", .duration(), doc: "The time without work in the background before it is suspended.")
    static let taskTime = Field(
        "taskTime", .duration(.milliseconds(1)),
        doc: "Its work for each event in the background; left out: 10 s.")
    static let authorization = Field(
        "authorization", .word as Kind<BluetoothAuthorization>,
        doc: "The user's permission to use Bluetooth; `notDetermined` asks for it at the first launch.")
    static let pairing = Field(
        "pairing", .word as Kind<Profile.App.PairingConsent>,
        doc: "The user's answer to a pairing for it; `ask` waits for acceptPairing or declinePairing.")
    static let sceneBased = Field(
        "sceneBased", .bool, doc: "Whether it uses scenes: then app.launched names no managers.")
    static let liveActivity = Field(
        "liveActivity", .bool,
        doc: "Whether it shows a Live Activity in the background, where it scans and advertises as in front.")
    static let accessorySetup = Field(
        "accessorySetup", .sections("accessoryDescriptor", atLeast: 1),
        doc: """
            The accessories that it sets up with AccessorySetupKit, from iOS 18 on; left out: it uses it for \
            none.
            """)
    static let connectionLatency = Field(
        "connectionLatency", .word as Kind<ConnectionLatency>,
        doc: "The connection latency that it asks a central for which subscribes; left out: none.")
    static let channel = Field(
        "channel", .section("channel"), doc: "The L2CAP channel that it publishes; left out: none.")
    // iOS 7 introduced state preservation. Later changes are known up to the current version.
    static let iOS = Field("iOS", .integer(7...99), doc: "iOS's major version.")
    static let foregroundInterval = Field(
        "foregroundInterval", .advertisingInterval,
        doc: "The advertising interval in the foreground, an assumption.")
    static let backgroundInterval = Field(
        "backgroundInterval", .advertisingInterval, doc: "The advertising interval in the background.")
    static let table = Section(
        "app",
        [
            backgroundModes, restoreIdentifier, state, authorization, pairing, suspendAfter, taskTime,
            sceneBased, liveActivity, accessorySetup, iOS, foregroundInterval, backgroundInterval,
            connectionLatency, channel,
        ])

    static func read(_ node: YAMLNode, isCentral: Bool, _ reader: FormatReader) -> Profile.App {
        var app = Profile.App()
        guard let fields = reader.fields(node, table) else { return app }
        app.marks = fields.marks
        for mode in fields.read(backgroundModes) ?? [] {
            if mode.word == BackgroundMode.bluetoothCentral.rawValue, !isCentral {
                reader.warning(
                    at: mode.node.mark,
                    "the background mode bluetooth-central has no effect without a central: section")
            }
            app.backgroundModes += BackgroundMode(rawValue: mode.word).map { [$0] } ?? []
        }
        fields.read(restoreIdentifier, into: &app.restoreIdentifier)
        fields.read(state, into: &app.state)
        fields.read(authorization, into: &app.authorization)
        fields.read(pairing, into: &app.pairing)
        fields.read(suspendAfter, into: &app.suspendAfter)
        fields.read(taskTime, into: &app.taskTime)
        fields.read(sceneBased, into: &app.sceneBased)
        fields.read(liveActivity, into: &app.liveActivity)
        if let node = fields[accessorySetup] {
            app.accessorySetup = AccessoryDescriptorSection.list(node, reader)
        }
        fields.read(iOS, into: &app.iOS)
        fields.read(foregroundInterval, into: &app.foregroundInterval)
        fields.read(backgroundInterval, into: &app.backgroundInterval)
        app.connectionLatency = fields.read(connectionLatency)
        app.channel = fields[channel].flatMap { ChannelSection.read($0, reader) }
        if let node = fields[authorization], app.authorization != .allowedAlways,
            !IOSVersion(app.iOS).hasPermission
        {
            reader.warning(
                at: node.mark,
                "the permission came with iOS \(IOSVersion.permission), and the app has iOS: \(app.iOS)")
        }
        if let node = fields[sceneBased], app.sceneBased, !IOSVersion(app.iOS).hasScenes {
            reader.warning(
                at: node.mark, "scenes came with iOS \(IOSVersion.scenes), and the app has iOS: \(app.iOS)")
        }
        if let node = fields[liveActivity], app.liveActivity, !IOSVersion(app.iOS).hasLiveActivityPrivileges {
            reader.warning(
                at: node.mark,
                """
                a Live Activity changes what an app may do from iOS \(IOSVersion.liveActivityPrivileges) on, \
                and the app has iOS: \(app.iOS)
                """)
        }
        if let time = app.taskTime, let node = fields[taskTime] { check(time, of: app, node, reader) }
        return app
    }

    /// Reports events after which this version of iOS does not relaunch a restorable app, but another
    /// version does.
    static func checkRelaunch(
        of app: Profile.App, at mark: SourceMark?, _ centrals: [Profile.Central], _ reader: FormatReader
    ) {
        guard app.restoreIdentifier != nil || centrals.contains(where: { $0.restoreIdentifier != nil }) else {
            return
        }
        let lost = RelaunchCause.allCases.filter { cause in
            IOSVersion.relaunchVersions.contains { IOSVersion($0).relaunch(after: cause).allowsRelaunch }
                && !IOSVersion(app.iOS).relaunch(after: cause)
                    .allowsRelaunch(withAccessorySetup: app.usesAccessorySetup)
        }
        guard !lost.isEmpty else { return }
        let causes = lost.map(\.rawValue).joined(separator: " and ")
        let exception =
            lost.contains { IOSVersion(app.iOS).relaunch(after: $0) == .accessorySetupKit }
            ? " unless it uses AccessorySetupKit" : ""
        reader.hint(at: mark, "iOS \(app.iOS) does not relaunch an app after \(causes)\(exception)")
    }

    /// Reports features that an app with AccessorySetupKit cannot use.
    ///
    /// The version of iOS may have been set in the section of the phone.
    static func checkAccessorySetup(
        of app: Profile.App, hasCentral: Bool, hasServices: Bool, _ reader: FormatReader
    ) {
        guard !app.accessorySetup.isEmpty else { return }
        let mark = app.marks[accessorySetup.name]
        guard app.usesAccessorySetup else {
            return reader.warning(
                at: mark,
                """
                AccessorySetupKit came with iOS \(IOSVersion.accessorySetup), and the app has \
                iOS: \(app.iOS)
                """)
        }
        if !hasCentral {
            reader.warning(at: mark, "accessorySetup has no effect without a central: section")
        }
        for key in [authorization.name, pairing.name] where app.marks[key] != nil {
            reader.warning(
                at: app.marks[key],
                "\(key) has no effect with accessorySetup: its user is asked for nothing but accessories"
            )
        }
        guard hasServices else { return }
        reader.hint(
            at: mark,
            """
            AccessorySetupKit is for centrals; that the app publishes its services without a permission is \
            an assumption
            """)
    }

    private static func check(
        _ taskTime: Duration, of app: Profile.App, _ node: YAMLNode, _ reader: FormatReader
    ) {
        if app.backgroundModes.isEmpty {
            reader.warning(
                at: node.mark, "taskTime has no effect without a background mode: no event wakes the app")
        } else if taskTime > .seconds(10) {
            reader.hint(
                at: node.mark,
                """
                the app is throttled 10 s after an event and terminated after 20 s, unless another event \
                comes within 10 s
                """
            )
        }
    }
}

extension Kind<String> {
    /// The format of a manager's identifier for state preservation.
    ///
    /// An invalid identifier is reported, but used anyway.
    static var restoreIdentifier: Kind {
        Kind("text", .ref("text")) { node, what, reader in
            guard let text = reader.text(node, what) else { return nil }
            if text.isEmpty || text.utf8.count > 128 {
                reader.error(at: node, "\(what) must have 1 to 128 bytes")
            } else {
                reader.checkName(text, what, at: node)
            }
            return text
        }
    }
}
