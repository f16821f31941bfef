import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport

// Devices, their values, and what is done to them.
extension ControlAPI {
    /// The device of a request, by its name in events or by its profile's file.
    func device(_ call: Call) throws(ControlProblem) -> ControlledDevice {
        try device(named: call.parameter("device"))
    }

    func device(named name: String) throws(ControlProblem) -> ControlledDevice {
        let devices = run.devices
        // The name in events comes first: another device's file may have the same name.
        if let device = devices.first(where: { $0.label == name }) { return device }
        let label: String
        do throws(DeviceNames.Problem) {
            label = try DeviceNames(devices.map(\.names)).device(named: name).label
        } catch {
            throw ControlProblem(404, error.message)
        }
        guard let device = devices.first(where: { $0.label == label }) else {
            throw ControlProblem(404, "the device \"\(label)\" was removed")
        }
        return device
    }

    func listDevices() async throws(ControlProblem) -> HTTPResponse {
        var devices: [JSON] = []
        for device in run.devices {
            // It may have been removed meanwhile.
            if let snapshot = await device.emulator.snapshot(of: device.label) {
                devices.append(snapshot.json)
            }
        }
        return .json(.object([.init("devices", .array(devices))]))
    }

    func response(
        for device: ControlledDevice, status: Int = 200
    ) async throws(ControlProblem) -> HTTPResponse {
        guard let snapshot = await device.emulator.snapshot(of: device.label) else {
            throw ControlProblem(404, "the device \"\(device.label)\" was removed")
        }
        return .json(snapshot.json, status: status)
    }

    func addDevice(_ call: Call) async throws(ControlProblem) -> HTTPResponse {
        let body: ControlBody
        do throws(ControlProblem) {
            body = try call.body()
        } catch {
            let bytes = call.request.body
            let isJSON = (try? JSON(parsing: bytes)) != nil
            throw !isJSON && Self.isYAML(String(decoding: bytes, as: UTF8.self)) ? Self.noYAML : error
        }
        let profile: ProfileSource
        switch body["profile"] {
        case .object(let members)?: profile = .object(.object(members))
        case .string(let path)?:
            guard !Self.isYAML(path) else { throw Self.noYAML }
            guard !path.utf8.contains(0) else { throw ControlProblem(400, "a path has no NUL character") }
            profile = .file(try profiles.resolve(path, isTrusted: call.request.isUnixSocket))
        case nil:
            throw ControlProblem(400, "\"profile\" is missing: a profile as an object, or its file's path")
        case let other?:
            throw ControlProblem(
                400,
                """
                "profile" must be a profile as an object, or its file's path, not \
                \(ControlProblem.shortened(other.text))
                """)
        }
        let label = try await run.add(profile, seed: try body.seed("seed"))
        return try await response(for: try device(named: label), status: 201)
    }

    /// Whether a text is a profile itself.
    private static func isYAML(_ text: String) -> Bool {
        text.split { $0.isWhitespace || $0 == "{" }.contains { $0.hasPrefix("mynah:") }
    }

    private static let noYAML = ControlProblem(
        400,
        """
        a profile in YAML is added by its file's path, as in {"profile": "lock.yaml"}, or as JSON, as in \
        {"profile": {"mynah": 1, "name": "Lock"}}
        """)

    func removeDevice(_ call: Call) async throws(ControlProblem) -> HTTPResponse {
        try await run.remove(try device(call))
        return .json(.object([]))
    }

    // MARK: Values

    private func attribute(_ call: Call) throws(ControlProblem) -> AttributeName {
        do throws(AttributeName.Problem) {
            return try AttributeName(parsing: call.parameter("attribute"))
        } catch {
            throw ControlProblem(404, error.message)
        }
    }

    func getLayout(_ call: Call) async throws(ControlProblem) -> HTTPResponse {
        let device = try device(call)
        let layouts = try await refusing { () async throws(ControlRefusal) in
            try await device.emulator.attributeLayouts(of: device.label)
        }
        return .json(.object([.init("attributes", .array(layouts.map(\.json)))]))
    }

    func getValue(_ call: Call) async throws(ControlProblem) -> HTTPResponse {
        let device = try device(call)
        let name = try attribute(call)
        let members = try await refusing { () async throws(ControlRefusal) in
            JSON.members(
                of: try await device.emulator.value(of: name, in: device.label),
                try await device.emulator.layout(of: name, in: device.label))
        }
        return .json(.object(members))
    }

    func setValue(_ call: Call) async throws(ControlProblem) -> HTTPResponse {
        let device = try device(call)
        let body = try call.body()
        let name = try attribute(call)
        let value = try value(body)
        let notify = try body.bool("notify") ?? false
        let central = try body.text("to")
        if central != nil, !notify {
            throw ControlProblem(400, "\"to\" names who is notified, so it needs \"notify\": true")
        }
        let result = try await refusing { () async throws(ControlRefusal) in
            try await device.emulator.setValue(
                value, of: name, in: device.label, notify: notify, to: central)
        }
        return .json(result.json)
    }

    /// The value of `hex`, `text` or `fields`.
    func value(_ body: ControlBody) throws(ControlProblem) -> WrittenValue {
        // 512 bytes, with spaces between them.
        let hex = try body.text("hex", longest: 2048)
        let text = try body.text("text")
        switch (hex, text, body["fields"]) {
        case (let hex?, nil, nil):
            guard let bytes = Hex.decode(hex) else {
                throw ControlProblem(
                    400,
                    "\"hex\" must be hexadecimal, as in \"01 ff\", not \(ControlProblem.shortened(hex))"
                )
            }
            return .bytes(bytes)
        case (nil, let text?, nil): return .bytes(Array(text.utf8))
        case (nil, nil, let fields?): return .fields(fields)
        case (nil, nil, nil):
            throw ControlProblem(400, "there is no value: give \"hex\", \"text\" or \"fields\"")
        default: throw ControlProblem(400, "only one of \"hex\", \"text\" and \"fields\" is allowed")
        }
    }

    func setVariable(_ call: Call) async throws(ControlProblem) -> HTTPResponse {
        let device = try device(call)
        let body = try call.body()
        guard let json = body["value"] else {
            throw ControlProblem(400, "\"value\" is missing: a number or a text")
        }
        guard let value = VariableValue(json) else {
            throw ControlProblem(
                400, "\"value\" must be a number or a text, not \(ControlProblem.shortened(json.text))")
        }
        let limit = ProfileLimit.variableBytes.count
        if case .text(let text) = value, text.utf8.count > limit {
            throw ControlProblem(
                400, "\"value\" has \(text.utf8.count) bytes; at most \(limit) are allowed")
        }
        let name = call.parameter("name")
        try await refusing { () async throws(ControlRefusal) in
            try await device.emulator.setVariable(name, to: value, in: device.label)
        }
        return try await response(for: device)
    }

    // MARK: Actions

    func disconnect(_ call: Call) async throws(ControlProblem) -> HTTPResponse {
        let device = try device(call)
        let body = try call.body()
        let central = try body.text("central")
        let reason = try Self.reason(body)
        try await refusing { () async throws(ControlRefusal) in
            try await device.emulator.disconnect(central: central, reason: reason, from: device.label)
        }
        return .json(.object([]))
    }

    /// The error code of `reason`, such as `"0x15"`, or `nil` if it is missing.
    private static func reason(_ body: ControlBody) throws(ControlProblem) -> UInt8? {
        guard let text = try body.text("reason") else { return nil }
        guard text.utf8.count == 4, text.hasPrefix("0x"), let bytes = Hex.decode(text.dropFirst(2)),
            bytes.count == 1
        else {
            throw ControlProblem(
                400,
                "\"reason\" must be an error code, as in \"0x15\", not \(ControlProblem.shortened(text))")
        }
        return bytes[0]
    }

    func forget(_ call: Call) async throws(ControlProblem) -> HTTPResponse {
        let device = try device(call)
        let body = try call.body()
        let (central, peripheral) = (try body.text("central"), try body.text("peripheral"))
        guard central == nil || peripheral == nil else {
            throw ControlProblem(400, "only one of \"central\" and \"peripheral\" is allowed")
        }
        try await refusing { () async throws(ControlRefusal) in
            if let peripheral {
                try await device.emulator.forget(peripheral: peripheral, in: device.label)
            } else {
                try await device.emulator.forget(central: central, in: device.label)
            }
        }
        return .json(.object([]))
    }

    func advertise(_ call: Call) async throws(ControlProblem) -> HTTPResponse {
        let device = try device(call)
        // Its members are a profile's to read.
        let json = try ControlBody.object(parsing: call.request.body)
        try await refusing { () async throws(ControlRefusal) in
            _ = try await device.emulator.advertise(json, for: device.label)
        }
        return try await response(for: device)
    }

    func setAppState(_ call: Call) async throws(ControlProblem) -> HTTPResponse {
        let name = call.parameter("device")
        let app = try phone(named: name)
        let device = if let app { app } else { try device(named: name) }
        let body = try call.body()
        let (word, peripheral) = (try body.text("state") ?? "", try body.text("peripheral"))
        guard let action = UserAction(word) else {
            throw .unknown("state", word, among: UserAction.words)
        }
        guard app == nil || action.isForPhone else {
            throw ControlProblem(
                409, "\"\(name)\" is a phone, and \(word) is for an app on it, such as \"\(device.label)\"")
        }
        guard peripheral == nil || action.isOfPeripheral else {
            let words = UserAction.wordsOfPeripherals.joined(separator: ", ")
            throw ControlProblem(400, "\"peripheral\" is for \(words), and not for \(word)")
        }
        try await refusing { () async throws(ControlRefusal) in
            try await device.emulator.carryOut(action, of: device.label, peripheral: peripheral)
        }
        return try await response(for: device)
    }

    /// The first app of the phone with a name; `nil` if a device has that name, or no phone.
    private func phone(named name: String) throws(ControlProblem) -> ControlledDevice? {
        let devices = run.devices
        let names = DeviceNames(devices.map(\.names))
        guard names.phones.contains(where: { $0.phone == name }),
            !devices.contains(where: { $0.label == name })
        else { return nil }
        do throws(DeviceNames.Problem) {
            guard case .phone(let app) = try names.meaning(of: name) else { return nil }
            return devices.first { $0.label == app.label }
        } catch {
            throw ControlProblem(409, error.message)
        }
    }

    private static func isPasskey(_ text: String) -> Bool {
        text.utf8.count == 6 && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    func enterPasskey(_ call: Call) async throws(ControlProblem) -> HTTPResponse {
        let device = try device(call)
        let body = try call.body()
        let passkey: UInt32
        switch body["passkey"] {
        case .integer(let number)? where (0...999_999).contains(number): passkey = UInt32(number)
        case .string(let text)? where Self.isPasskey(text): passkey = UInt32(text) ?? 0
        // The number is a secret, and is not repeated.
        default: throw ControlProblem(400, "\"passkey\" is a number of six digits, as in \"042042\"")
        }
        guard let central = try body.text("central") else {
            throw ControlProblem(400, "\"central\" is missing: the address or name in pairing.passkey")
        }
        try await refusing { () async throws(ControlRefusal) in
            try await device.emulator.enter(passkey: passkey, for: central, in: device.label)
        }
        return .json(.object([]))
    }

    /// Calls the emulator, and turns a refusal into a problem.
    func refusing<Value: Sendable>(
        _ body: () async throws(ControlRefusal) -> Value
    ) async throws(ControlProblem) -> Value {
        do throws(ControlRefusal) {
            return try await body()
        } catch {
            throw ControlProblem(error)
        }
    }
}

extension ControlProblem {
    /// The problem of a refused request.
    init(_ refusal: ControlRefusal) {
        switch refusal {
        case .notFound(let detail): self.init(404, detail)
        case .conflict(let detail): self.init(409, detail)
        case .invalid(let detail): self.init(400, detail)
        }
    }
}
