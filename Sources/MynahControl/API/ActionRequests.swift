import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport

/// Requests that act on a device or its phone, as a user or a test would.
struct ActionRequests: RunRequests {
    let run: any ControlledRun

    func disconnect(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
        let device = try device(call)
        let body = try call.body()
        let central = try body.text("central")
        let reason = try Self.reason(body)
        try await refusing { () async throws(ControlRefusal) in
            try await device.emulator.disconnect(central: central, reason: reason, from: device.label)
        }
        return .json(.object([]))
    }

    /// Returns the error code in the member `reason`, such as `"0x15"`, or `nil` if the member is missing.
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

    func forget(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
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

    func advertise(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
        let device = try device(call)
        // The members are parsed like those of a profile.
        let json = try ControlBody.object(parsing: call.request.body)
        try await refusing { () async throws(ControlRefusal) in
            _ = try await device.emulator.advertise(json, for: device.label)
        }
        return try await response(for: device)
    }

    func typeText(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
        let device = try device(call)
        let body = try call.body()
        guard let text = try body.text("text", longest: Self.longestTyped), !text.isEmpty else {
            throw ControlProblem(400, "\"text\" is missing: what the keys make")
        }
        let gap = try body.text("gap") ?? Self.usualGap.text
        let duration: Duration
        do throws(DurationText.Problem) {
            duration = try DurationText.parse(gap)
        } catch {
            throw ControlProblem(400, "\"gap\" \(error.message)")
        }
        guard Self.gaps.contains(duration) else {
            throw ControlProblem(
                400,
                """
                "gap" is \(duration.text), and must be \(Self.gaps.lowerBound.text) to \
                \(Self.gaps.upperBound.text)
                """)
        }
        let count = try await refusing { () async throws(ControlRefusal) in
            try await device.emulator.type(text, every: duration, on: device.label)
        }
        return .json(.object([.init("keys", .integer(count))]))
    }

    /// The maximum length of a text in one request to type, in bytes.
    static let longestTyped = 4096
    /// The accepted times between two reports of a keyboard, and the default time.
    private static let gaps = Duration.milliseconds(1)...Duration.seconds(60)
    private static let usualGap = Duration.milliseconds(20)

    func setAppState(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
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

    /// Returns the first app of the phone with this name.
    ///
    /// Returns `nil` if a device has the name, or if there is no such phone.
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

    /// The passkey in a body, or `nil` if it has none.
    static func passkey(_ body: ControlBody) throws(ControlProblem) -> UInt32? {
        switch body["passkey"] {
        case nil: nil
        case .integer(let number)? where (0...999_999).contains(number): UInt32(number)
        case .string(let text)? where isPasskey(text): UInt32(text)
        default: throw noPasskey
        }
    }

    // The number is a secret, and is not repeated.
    static let noPasskey = ControlProblem(
        400, "\"passkey\" is a number of six digits, as in \"042042\"")

    func enterPasskey(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
        let device = try device(call)
        let body = try call.body()
        guard let passkey = try Self.passkey(body) else { throw Self.noPasskey }
        guard let central = try body.text("central") else {
            throw ControlProblem(400, "\"central\" is missing: the address or name in pairing.passkey")
        }
        try await refusing { () async throws(ControlRefusal) in
            try await device.emulator.enter(passkey: passkey, for: central, in: device.label)
        }
        return .json(.object([]))
    }

    // MARK: Alerts

    /// Returns the app with this name, or the first app of the phone with this name.
    private func app(_ call: APICall) throws(ControlProblem) -> ControlledDevice {
        let name = call.parameter("device")
        let devices = run.devices
        guard case .phone(let first)? = try? DeviceNames(devices.map(\.names)).meaning(of: name),
            let app = devices.first(where: { $0.label == first.label })
        else { return try device(call) }
        return app
    }

    func alert(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
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

    /// Parses the notification in a body, written as in a profile.
    ///
    /// The notification belongs to `app` unless the body names another app.
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

    // MARK: Requests that a test answers

    func answerRequest(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
        let answer = try answer(try call.body())
        let name = call.parameter("id")
        let unknown = ControlProblem(404, "there is no request \(ControlProblem.shortened(name))")
        // Only the decimal form without leading zeros is valid, as the document says.
        guard let id = Int(name), id >= 1, String(id) == name else { throw unknown }
        var asked: [ControlledDevice] = []
        for device in run.devices where !asked.contains(where: { $0.emulator === device.emulator }) {
            asked.append(device)
            let isAnswered = try await refusing { () async throws(ControlRefusal) in
                try await device.emulator.answer(id, answer)
            }
            if isAnswered { return .json(.object([])) }
        }
        // The request may have ended, and its device may have been removed.
        throw run.requestNumbers?.refusal(of: id).map { ControlProblem($0) } ?? unknown
    }

    private func answer(_ body: ControlBody) throws(ControlProblem) -> RequestAnswer {
        let hasValue = ["hex", "text", "fields"].contains { body[$0] != nil }
        guard let text = try body.text("error") else {
            return hasValue ? .value(try body.writtenValue()) : .accept
        }
        guard !hasValue else {
            throw ControlProblem(400, "\"error\" excludes \"hex\", \"text\" and \"fields\"")
        }
        if let error = ATTError(named: text) { return .error(error) }
        let near = NearestName.of(text, among: ATTError.names).map { "; did you mean \"\($0)\"?" } ?? ""
        throw ControlProblem(
            400,
            """
            "error" must be an ATT error, as in "0x80" or "insufficientAuthorization", not \
            \(ControlProblem.shortened(text))\(near)
            """)
    }
}
