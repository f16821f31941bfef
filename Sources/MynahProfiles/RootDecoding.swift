import MynahCore
import Yams

// The sections at the top of a profile.
extension ProfileDecoder {
    mutating func profile(_ root: Node) -> Profile? {
        guard let fields = fields(root, "a profile", known: ProfileKeys.root) else { return nil }
        version(fields)
        let name = fields["name"].flatMap { text($0, "name") }
        if fields["name"] == nil {
            error(at: fields.mark, "name is missing; say what the device is, for people")
        }
        var identity = DeviceIdentity(name: name ?? "")
        if let device = fields["device"] { self.device(device, &identity) }
        checkDeviceName(identity.name, at: fields["device"] ?? fields["name"])
        var passkey: UInt32?
        if let security = fields["security"] { passkey = self.security(security, &identity) }
        let app = fields["app"].map { self.app($0) }
        let advertising = fields["advertising"].flatMap { self.advertising($0, identity, isApp: app != nil) }
        let services = fields["services"].map { self.services($0) } ?? []
        return Profile(
            file: file, name: name ?? "", device: identity, passkey: passkey, advertising: advertising,
            services: services, app: app, warnings: [], sourceLines: lines)
    }

    private mutating func version(_ fields: Fields) {
        guard let node = fields["mynah"] else {
            error(at: fields.mark, "mynah: 1 is missing; it says which version of the format this is")
            return
        }
        guard let text = text(node, "mynah") else { return }
        if text != "1" {
            error(at: node, "format version \(text) is not known here; this program reads version 1")
        }
    }

    private mutating func device(_ node: Node, _ identity: inout DeviceIdentity) {
        guard let fields = fields(node, "device", known: ProfileKeys.device) else { return }
        if let name = fields["name"].flatMap({ text($0, "device.name") }) { identity.name = name }
        guard let node = fields["appearance"], let text = text(node, "appearance") else { return }
        if let number = Self.number(text) {
            if let appearance = UInt16(exactly: number) {
                identity.appearance = appearance
            } else {
                error(at: node, "appearance must be between 0 and 65535 (0xFFFF), not \(text)")
            }
        } else if let appearance = AssignedNumbers.appearance(named: text) {
            identity.appearance = appearance
        } else {
            error(
                at: node, Self.unknown("appearance \"\(text)\"", text, among: AssignedNumbers.appearanceNames)
            )
        }
    }

    /// The GAP device name has at most 248 bytes (Core Specification, Vol 3, Part C, 12.1).
    private mutating func checkDeviceName(_ name: String, at node: Node?) {
        let count = name.utf8.count
        if count > 248 { error(at: node, "the device's name has \(count) bytes in UTF-8; it can have 248") }
        if name.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
            error(at: node, "the device's name has a control character in it")
        }
    }

    private mutating func security(_ node: Node, _ identity: inout DeviceIdentity) -> UInt32? {
        guard let fields = fields(node, "security", known: ProfileKeys.security) else { return nil }
        if let io = fields["io"].flatMap({ choice($0, "io", as: IOCapability.self) }) {
            identity.ioCapability = io
        }
        guard let node = fields["passkey"] else { return nil }
        guard identity.ioCapability == .keyboardOnly || identity.ioCapability == .keyboardDisplay else {
            error(
                at: node,
                "passkey is the number typed on the device, and io: \(identity.ioCapability.rawValue) has no keyboard"
            )
            return nil
        }
        return integer(node, "passkey", in: 0...999_999).map { UInt32($0) }
    }

    private mutating func app(_ node: Node) -> Profile.App {
        var app = Profile.App()
        guard let fields = fields(node, "app", known: ProfileKeys.app) else { return app }
        app.marks = fields.marks
        if let node = fields["backgroundModes"] {
            for element in elements(node, "backgroundModes") {
                guard let mode = choice(element, "background mode", as: Profile.App.BackgroundMode.self)
                else { continue }
                if app.backgroundModes.contains(mode) {
                    error(at: element, "the background mode \(mode.rawValue) is there twice")
                }
                app.backgroundModes.append(mode)
            }
        }
        if let node = fields["restoreIdentifier"], let text = text(node, "restoreIdentifier") {
            if text.isEmpty || text.utf8.count > 128 {
                error(at: node, "restoreIdentifier must have 1 to 128 bytes")
            }
            app.restoreIdentifier = text
        }
        if let node = fields["state"], let state = choice(node, "app state", as: Profile.App.StartState.self)
        {
            app.state = state
        }
        if let node = fields["suspendAfter"], let time = duration(node, "suspendAfter") {
            app.suspendAfter = time
        }
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

    /// An advertising interval: 20 ms to 10.24 s for legacy advertising (Core Specification, Vol 6, Part B, 4.4.2.2).
    mutating func interval(_ node: Node, _ what: String) -> Duration? {
        duration(node, what, atLeast: .milliseconds(20), atMost: .milliseconds(10240))
    }
}
