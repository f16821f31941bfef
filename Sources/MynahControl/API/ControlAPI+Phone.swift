import MynahEmulator
import MynahProfiles
import MynahSupport

// The phone of an app.
extension ControlAPI {
    /// An app, or the first app of the phone with a name.
    private func app(_ call: Call) throws(ControlProblem) -> ControlledDevice {
        let name = call.parameter("device")
        let devices = run.devices
        guard case .phone(let first)? = try? DeviceNames(devices.map(\.names)).meaning(of: name),
            let app = devices.first(where: { $0.label == first.label })
        else { return try device(call) }
        return app
    }

    func alert(_ call: Call) async throws(ControlProblem) -> HTTPResponse {
        let device = try app(call)
        let body = try call.body()
        let numbers = 0...Int(UInt32.max)
        let replaced = try body.number("uid", in: numbers).map { UInt32($0) }
        if let removed = try body.number("remove", in: numbers).map({ UInt32($0) }) {
            guard body.keys == ["remove"] else {
                throw ControlProblem(400, "\"remove\" is the UID of a notification, and goes alone")
            }
            try await refusing { () async throws(ControlRefusal) in
                try await device.emulator.removeAlert(removed)
            }
            return Self.response(removed)
        }
        let notification = try notification(body, of: device.label)
        let uid = try await refusing { () async throws(ControlRefusal) in
            try await device.emulator.alert(notification, instead: replaced)
        }
        return Self.response(uid)
    }

    private static func response(_ uid: UInt32) -> HTTPResponse {
        .json(.object([.init("uid", .integer(Int(uid)))]))
    }

    /// The notification of a body, which is written as in a profile; it is the app's unless it names another.
    private func notification(
        _ body: ControlBody, of app: String
    ) throws(ControlProblem) -> Profile.PhoneNotification {
        var members = body.keys.filter { $0 != "uid" }.compactMap { key in
            body[key].map { JSON.Member(key, $0) }
        }
        guard body["message"] != nil || body["title"] != nil else {
            throw ControlProblem(400, "there is no text: give \"message\", \"title\" or \"remove\"")
        }
        if body["app"] == nil {
            let usual = Profile.PhoneNotification.ofApp(app)
            members.append(.init("app", .string(usual.app)))
            if body["appName"] == nil { members.append(.init("appName", .string(usual.displayName))) }
        }
        do throws(ProfileIssues) {
            return try ProfileLoader.notification(.object(members), name: "notification")
        } catch {
            throw ControlProblem(
                400,
                error.issues.first { $0.severity == .error }?.message ?? "the notification cannot be read")
        }
    }
}
