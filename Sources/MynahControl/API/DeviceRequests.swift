import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport

/// Requests about devices and their values.
struct DeviceRequests: RunRequests {
    let run: any ControlledRun
    let profiles: ProfileDirectory

    func listDevices() async throws(ControlProblem) -> HTTPResponse {
        var devices: [JSON] = []
        for device in run.devices {
            // The device may have been removed in the meantime.
            if let snapshot = await device.emulator.snapshot(of: device.label) {
                devices.append(snapshot.json)
            }
        }
        return .json(.object([.init("devices", .array(devices))]))
    }

    func addDevice(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
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

    /// Whether a text is a profile in YAML, and not the path of a profile.
    private static func isYAML(_ text: String) -> Bool {
        text.split { $0.isWhitespace || $0 == "{" }.contains { $0.hasPrefix("mynah:") }
    }

    private static let noYAML = ControlProblem(
        400,
        """
        a profile in YAML is added by its file's path, as in {"profile": "lock.yaml"}, or as JSON, as in \
        {"profile": {"mynah": 1, "name": "Lock"}}
        """)

    func removeDevice(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
        try await run.remove(try device(call))
        return .json(.object([]))
    }

    // MARK: Values

    private func attribute(_ call: APICall) throws(ControlProblem) -> AttributeName {
        do throws(AttributeName.Problem) {
            return try AttributeName(parsing: call.parameter("attribute"))
        } catch {
            throw ControlProblem(404, error.message)
        }
    }

    func getLayout(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
        let device = try device(call)
        let layouts = try await refusing { () async throws(ControlRefusal) in
            try await device.emulator.attributeLayouts(of: device.label)
        }
        return .json(.object([.init("attributes", .array(layouts.map(\.json)))]))
    }

    func getValue(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
        let device = try device(call)
        let name = try attribute(call)
        let members = try await refusing { () async throws(ControlRefusal) in
            JSON.members(
                of: try await device.emulator.value(of: name, in: device.label),
                try await device.emulator.layout(of: name, in: device.label))
        }
        return .json(.object(members))
    }

    func setValue(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
        let device = try device(call)
        let body = try call.body()
        let name = try attribute(call)
        let value = try body.writtenValue()
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

    func setVariable(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
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
}
