import MynahCore

// The sections at the top of a profile.
extension ProfileDecoder {
    mutating func profile(_ root: YAMLNode) -> Profile? {
        guard let fields = fields(root, "a profile", known: ProfileKeys.root) else { return nil }
        version(fields)
        let name = fields["name"].flatMap { text($0, "name") }
        if fields["name"] == nil {
            error(at: fields.mark, "name is missing; add one, as in name: Heart rate monitor")
        }
        var identity = DeviceIdentity(name: name ?? "")
        var marks = fields.marks
        let nameNode = fields["device"].flatMap { self.device($0, &identity, &marks) } ?? fields["name"]
        checkDeviceName(identity.name, at: nameNode)
        if let name, identity.name != name { checkIsPrintable(name, "the name", at: fields["name"]) }
        var passkey: UInt32?
        if let security = fields["security"] { passkey = self.security(security, &identity, &marks) }
        let app = fields["app"].map { self.app($0, isCentral: fields["central"] != nil) }
        let advertising = fields["advertising"].flatMap { self.advertising($0, identity, isApp: app != nil) }
        // Values name them.
        let variables = fields["variables"].map { self.variables($0) } ?? Variables()
        scope = FieldScope(variables: variables)
        let errorsBefore = errorCount
        let services = fields["services"].map { self.services($0) } ?? []
        let isWhole = errorCount == errorsBefore
        let centrals =
            fields["central"].map { self.centrals($0, of: app, at: fields.mark(of: "central")) } ?? []
        var profile = Profile(
            file: file, name: name ?? "", device: identity, passkey: passkey, advertising: advertising,
            services: services, app: app, centrals: centrals, warnings: [], sourceLines: lines, marks: marks)
        profile.variables = variables
        reactions(of: &profile)
        recordings(of: &profile)
        let errorsBeforeFaults = errorCount
        if let node = fields["faults"] {
            profile.faults = faults(node, in: FaultScope(profile, isWhole: isWhole))
        }
        if let node = fields["scenarios"] {
            let hasAllFaults = errorCount == errorsBeforeFaults
            profile.scenarios = scenarios(
                node, in: ScenarioScope(profile, isWhole: isWhole, hasAllFaults: hasAllFaults))
        }
        return profile
    }

    private mutating func version(_ fields: Fields) {
        guard let node = fields["mynah"] else {
            error(at: fields.mark, "mynah: 1 is missing; it is the version of the format")
            return
        }
        guard let text = text(node, "mynah") else { return }
        if text != "1" {
            error(
                at: node, "format version \(Self.quote(text)) is not supported; this program reads mynah: 1")
        }
    }

    /// The position of its name, if it has its own.
    private mutating func device(
        _ node: YAMLNode, _ identity: inout DeviceIdentity, _ marks: inout [String: SourceMark]
    ) -> YAMLNode? {
        guard let fields = fields(node, "device", known: ProfileKeys.device) else { return nil }
        for (key, mark) in fields.marks { marks["device.\(key)"] = mark }
        if let name = fields["name"].flatMap({ text($0, "device.name") }) { identity.name = name }
        let name = fields["name"]
        if let node = fields["appearance"] { identity.appearance = appearance(node) }
        return name
    }

    /// A number or the SIG's name; 0 if it is neither, which is noted.
    mutating func appearance(_ node: YAMLNode) -> UInt16? {
        guard let text = text(node, "appearance") else { return nil }
        if Self.number(text) != nil {
            let number = integer(text, at: node, "appearance", in: 0...0xFFFF) ?? 0
            return UInt16(truncatingIfNeeded: number)
        }
        if let appearance = AssignedNumbers.appearance(named: text) { return appearance }
        error(
            at: node,
            Self.unknown("appearance \(Self.quote(text))", text, among: AssignedNumbers.appearanceNames))
        return 0
    }

    private mutating func checkDeviceName(_ name: String, at node: YAMLNode?) {
        let count = name.utf8.count
        // A key without any value has been reported already.
        if name.isEmpty, let scalar = node?.scalar, !scalar.isPlain {
            error(at: node, "the device's name is empty; phones show it")
        }
        let limit = DeviceIdentity.longestName
        if count > limit {
            error(at: node, "the device's name has \(count) bytes in UTF-8; it can have \(limit)")
        }
        checkIsPrintable(name, "the device's name", at: node)
    }

    /// D-Bus takes no NUL, and a phone or a terminal may act on the others.
    mutating func checkIsPrintable(_ text: String, _ what: String, at node: YAMLNode?) {
        if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            error(at: node, "\(what) has a control character in it")
        }
    }

    private mutating func security(
        _ node: YAMLNode, _ identity: inout DeviceIdentity, _ marks: inout [String: SourceMark]
    ) -> UInt32? {
        guard let fields = fields(node, "security", known: ProfileKeys.security) else { return nil }
        for (key, mark) in fields.marks { marks["security.\(key)"] = mark }
        if let node = fields["io"] {
            guard let io = choice(node, "io", as: IOCapability.self) else { return nil }
            identity.ioCapability = io
        }
        guard let node = fields["passkey"] else { return nil }
        guard identity.ioCapability == .keyboardOnly || identity.ioCapability == .keyboardDisplay else {
            error(
                at: node,
                """
                passkey is entered on the device, and io: \(identity.ioCapability.rawValue) \
                has no keyboard
                """
            )
            return nil
        }
        // Six digits, those in front may be zeros (Core Specification, Vol 3, Part H, 2.3.5.3).
        guard let text = text(node, "passkey") else { return nil }
        guard (1...6).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            error(at: node, "passkey must be up to six digits, not \(Self.quote(text))")
            return nil
        }
        return UInt32(text)
    }

    private mutating func app(_ node: YAMLNode, isCentral: Bool) -> Profile.App {
        var app = Profile.App()
        guard let fields = fields(node, "app", known: ProfileKeys.app) else { return app }
        app.marks = fields.marks
        if let node = fields["backgroundModes"] {
            for element in elements(node, "backgroundModes") {
                guard let mode = choice(element, "background mode", as: BackgroundMode.self)
                else { continue }
                if app.backgroundModes.contains(mode) {
                    error(at: element, "the background mode \(mode.rawValue) is repeated")
                }
                if mode == .bluetoothCentral, !isCentral {
                    warning(
                        at: element.mark,
                        "the background mode bluetooth-central has no effect without a central: section"
                    )
                }
                app.backgroundModes.append(mode)
            }
        }
        if let node = fields["restoreIdentifier"], let text = text(node, "restoreIdentifier") {
            checkRestoreIdentifier(text, at: node)
            app.restoreIdentifier = text
        }
        if let node = fields["state"], let state = choice(node, "app state", as: Profile.App.StartState.self)
        {
            app.state = state
        }
        if let node = fields["suspendAfter"], let time = duration(node, "suspendAfter") {
            app.suspendAfter = time
        }
        if let node = fields["taskTime"] { app.taskTime = taskTime(node, of: app) }
        // iOS 7 brought state preservation; what later versions change is known up to today's numbering.
        if let node = fields["iOS"], let version = integer(node, "iOS", in: 7...99) { app.iOS = version }
        if let node = fields["foregroundInterval"], let time = interval(node, "foregroundInterval") {
            app.foregroundInterval = time
        }
        if let node = fields["backgroundInterval"], let time = interval(node, "backgroundInterval") {
            app.backgroundInterval = time
        }
        return app
    }

    private mutating func taskTime(_ node: YAMLNode, of app: Profile.App) -> Duration? {
        guard let time = duration(node, "taskTime", atLeast: .milliseconds(1)) else { return nil }
        if app.backgroundModes.isEmpty {
            warning(
                at: node.mark,
                "taskTime has no effect without a background mode: no event wakes the app")
        } else if time > .seconds(10) {
            hint(
                at: node.mark,
                """
                the app is throttled 10 s after an event and terminated after 20 s, unless another event \
                comes within 10 s
                """
            )
        }
        return time
    }

    mutating func checkRestoreIdentifier(_ text: String, at node: YAMLNode) {
        if text.isEmpty || text.utf8.count > 128 {
            error(at: node, "restoreIdentifier must have 1 to 128 bytes")
        }
        checkIsPrintable(text, "restoreIdentifier", at: node)
    }

    /// An advertising interval: 20 ms to 10.24 s for legacy advertising (Core Specification, Vol 6, Part B,
    /// 4.4.2.2).
    mutating func interval(_ node: YAMLNode, _ what: String) -> Duration? {
        duration(node, what, atLeast: .milliseconds(20), atMost: .milliseconds(10240))
    }
}
