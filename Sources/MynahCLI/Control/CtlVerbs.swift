import ArgumentParser
import MynahConsole
import MynahControl
import MynahCore
import MynahEmulator
import MynahLifecycle
import MynahProfiles
import MynahSupport
import MynahValues

import Glibc

struct CtlDevices: CtlVerb {
    static let configuration = CommandConfiguration(
        commandName: "devices", abstract: "Lists the devices.")
    @ParentCommand var parent: CtlCommand
    @OptionGroup var options: CtlOptions

    func request() -> ControlClient.Request { Self.request("GET", "/v1/devices") }
    func lines(_ answer: JSON) -> [String] { ControlText.devices(answer) }
}

struct CtlAdd: CtlVerb {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Plays the device of a profile, and prints its name.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: "The profile's file.", completion: .file(extensions: ["yaml", "yml", "json"]))
    var profile: String
    @Option(
        parsing: .unconditional,
        help: "Seed for generated values, a whole number. Default: the instance's.",
        transform: { try Choice.number($0, in: 0...UInt64.max) })
    var seed: UInt64?
    @OptionGroup var options: CtlOptions

    func request() throws -> ControlClient.Request {
        // The path is made absolute, because the instance may run in another directory.
        guard let path = realpath(profile, nil) else {
            throw Exit.failure("\(profile) cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { free(path) }
        var members: [JSON.Member] = [.init("profile", .string(String(cString: path)))]
        if let seed { members.append(.init("seed", .seed(seed))) }
        return Self.request("POST", "/v1/devices", members)
    }

    func lines(_ answer: JSON) -> [String] { [ControlText.name(answer)] }

    // Errors of a profile are reported as `check` reports them, with its exit code.
    var codeOfWrongRequest: ExitCode { Exit.problems }

    func errorLines(_ problem: JSON) -> [String] {
        let issues = ControlText.issues(problem, of: profile)
        return issues.isEmpty ? ControlText.error(problem) : issues
    }
}

struct CtlRemove: CtlVerb {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Takes a device off the air.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlHelp.device, completion: CtlHelp.devices) var device: String
    @OptionGroup var options: CtlOptions

    func request() -> ControlClient.Request { request("DELETE", device: device) }
}

struct CtlShow: CtlVerb {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Prints a device's state, centrals and attributes.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlHelp.device, completion: CtlHelp.devices) var device: String
    @OptionGroup var options: CtlOptions

    func request() -> ControlClient.Request { request("GET", device: device) }
    func lines(_ answer: JSON) -> [String] { ControlText.device(answer) }
}

struct CtlGet: CtlVerb {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Prints an attribute's value in hexadecimal, and its fields.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlHelp.device, completion: CtlHelp.devices) var device: String
    @Argument(help: CtlHelp.attribute, completion: CtlHelp.attributes) var attribute: String
    @OptionGroup var options: CtlOptions

    func request() -> ControlClient.Request {
        request("GET", device: device, ["values"] + CtlHelp.steps(attribute))
    }

    func lines(_ answer: JSON) -> [String] { [ControlText.value(answer, of: attribute)] }
}

struct CtlSet: CtlVerb {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Sets an attribute's value.",
        discussion:
            "Prints the value, and the number of centrals to which it was sent if the radio counts them.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlHelp.device, completion: CtlHelp.devices) var device: String
    @Argument(help: CtlHelp.attribute, completion: CtlHelp.attributes) var attribute: String
    @Argument(help: CtlValue.help) var value: String
    @OptionGroup var form: CtlValue
    @Flag(help: "Sends it to the subscribers.") var notify = false
    @Option(help: ArgumentHelp("Sends it to this subscriber alone.", valueName: "central")) var to: String?
    @OptionGroup var options: CtlOptions

    func request() throws -> ControlClient.Request {
        var members = [try form.member(value)]
        if notify || to != nil { members.append(.init("notify", .bool(true))) }
        if let to { members.append(.init("to", .string(to))) }
        return request("PUT", device: device, ["values"] + CtlHelp.steps(attribute), members)
    }

    func lines(_ answer: JSON) -> [String] { [ControlText.sent(answer, of: attribute)] }
}

struct CtlWait: CtlVerb {
    static let configuration = CommandConfiguration(
        commandName: "wait", abstract: "Waits for an event, which may have happened since the last mark.",
        discussion: "Prints the event. If it does not come in time, prints the closest events.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: "The event and its fields, as in: write characteristic=2A39 value=01.")
    var match: [String]
    @Option(
        parsing: .unconditional, help: "How many events.",
        transform: { try Choice.number($0, in: 1...10_000) })
    var count = 1
    @Option(help: "Time limit, such as 500 ms; at most 10 min, or a day with --clock manual.")
    var within = "2 s"
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The number of the first event that counts.", valueName: "seq"),
        transform: { try Choice.number($0, in: 0...Int.max) })
    var since: Int?
    @OptionGroup var options: CtlOptions

    // No wait takes more than 10 minutes of real time; another client's request may delay it.
    var limit: Duration {
        min((try? EventWait.duration(within)) ?? .zero, EventWait.longest(on: .real)) + .seconds(90)
    }
    var printsEvents: Bool { true }

    func validate() throws {
        try CtlHelp.check(match: match.joined(separator: " "))
        do throws(DurationText.Problem) {
            _ = try EventWait.duration(within)
        } catch {
            throw ValidationError("--within \(error.message)")
        }
    }

    func request() -> ControlClient.Request {
        var members: [JSON.Member] = [
            .init("match", .string(match.joined(separator: " "))), .init("count", .integer(count)),
            .init("within", .string(within)),
        ]
        if let since { members.append(.init("since", .integer(since))) }
        return Self.request("POST", "/v1/wait", members)
    }

    func lines(_ answer: JSON) -> [String] { ControlText.events(answer) }
}

struct CtlVerify: CtlVerb {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Checks what has happened since the last mark.",
        discussion: """
            Without an option at least one event must match. --order takes a match, and is repeated: the \
            events must have happened in this order, with others between them.
            """)
    @ParentCommand var parent: CtlCommand
    @Argument(help: "The event and its fields, as in: write characteristic=2A39 value=01.")
    var match: [String] = []
    @Option(
        parsing: .unconditional,
        help: "Exactly this number of events must match.",
        transform: { try Choice.number($0, in: 0...Int.max) })
    var exactly: Int?
    @Option(
        parsing: .unconditional,
        help: "At least this number of events must match.",
        transform: { try Choice.number($0, in: 0...Int.max) })
    var atLeast: Int?
    @Flag(help: "No event may match.") var never = false
    @Option(help: ArgumentHelp("One event of the order.", valueName: "match")) var order: [String] = []
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The number of the first event that counts.", valueName: "seq"),
        transform: { try Choice.number($0, in: 0...Int.max) })
    var since: Int?
    @OptionGroup var options: CtlOptions

    var printsEvents: Bool { true }

    func validate() throws {
        if !match.isEmpty { try CtlHelp.check(match: match.joined(separator: " ")) }
        for match in order { try CtlHelp.check(match: match, of: "--order \(match): ") }
        let numbers = [exactly != nil, atLeast != nil, never].count { $0 }
        if numbers > 1 { throw ValidationError("only one of --exactly, --at-least and --never is allowed") }
        guard match.isEmpty else { return }
        if numbers > 0 {
            throw ValidationError(
                "no event is named whose number is checked; name one, as in mynah ctl verify write --never")
        }
        if order.isEmpty {
            throw ValidationError(
                "no event is named; name one, as in mynah ctl verify write value=01, or use --order"
            )
        }
    }

    func request() -> ControlClient.Request {
        var members: [JSON.Member] = []
        if !match.isEmpty { members.append(.init("match", .string(match.joined(separator: " ")))) }
        if let exactly { members.append(.init("exactly", .integer(exactly))) }
        if let atLeast { members.append(.init("atLeast", .integer(atLeast))) }
        if never { members.append(.init("never", .bool(true))) }
        if !order.isEmpty { members.append(.init("order", .array(order.map { .string($0) }))) }
        if let since { members.append(.init("since", .integer(since))) }
        return Self.request("POST", "/v1/verify", members)
    }

    func lines(_ answer: JSON) -> [String] { [ControlText.count(answer)] }
}

struct CtlMark: CtlVerb {
    static let configuration = CommandConfiguration(
        commandName: "mark", abstract: "Names this moment, and prints the number of the next event.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: "The name of the mark.") var name: String
    @OptionGroup var options: CtlOptions

    func request() -> ControlClient.Request {
        Self.request("POST", "/v1/mark", [.init("name", .string(name))])
    }

    func lines(_ answer: JSON) -> [String] { [ControlText.seq(answer)] }
}

struct CtlReset: CtlVerb {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: "Resets every device to its state at the start.",
        discussion: """
            Without a flag everything is reset, and apps are in their first state. With --clock manual this \
            begins a new history: the run is as at its start, without devices that were added, and its time \
            is 2026-01-01T00:00:00Z.
            """)
    @ParentCommand var parent: CtlCommand
    @Flag(help: "Values and advertising as in the profiles.") var values = false
    @Flag(help: "Variables as in the profiles.") var variables = false
    @Flag(help: "Faults as in the profiles.") var faults = false
    @Flag(help: "No bonds.") var bonds = false
    @Flag(help: "No connections.") var connections = false
    @Flag(help: "No events and no marks.") var journal = false
    @Option(
        parsing: .unconditional,
        help: "With --clock manual: the seed of the new history. Default: the run's.",
        transform: { try Choice.number($0, in: 0...UInt64.max) })
    var seed: UInt64?
    @OptionGroup var options: CtlOptions

    func request() -> ControlClient.Request {
        let parts = [
            ("values", values), ("variables", variables), ("faults", faults), ("bonds", bonds),
            ("connections", connections),
            ("journal", journal),
        ]
        return Self.request(
            "POST", "/v1/reset",
            parts.filter(\.1).map { JSON.Member($0.0, .bool(true)) }
                + (seed.map { [.init("seed", .seed($0))] } ?? []))
    }
}

struct CtlVariable: CtlVerb {
    static let configuration = CommandConfiguration(
        commandName: "variable", abstract: "Sets a variable of a device.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlHelp.device, completion: CtlHelp.devices) var device: String
    @Argument(help: "The variable.", completion: CtlHelp.variables) var name: String
    @Argument(help: "A number, or any other text.") var value: String
    @Flag(help: "The value is text, also if it is a number.") var text = false
    @OptionGroup var options: CtlOptions

    func validate() throws {
        if !text, let problem = VariableValue.problem(of: value) {
            throw ValidationError("\(problem); --text sends it as text")
        }
    }

    func request() -> ControlClient.Request {
        request(
            "PUT", device: device, ["variables", name],
            [.init("value", text ? .string(value) : Self.json(of: value))])
    }

    /// The value as a JSON number if a profile would interpret the text as a number, or else as a JSON
    /// string.
    static func json(of value: String) -> JSON { VariableValue(written: value)?.json ?? .string(value) }
}

struct CtlDisconnect: CtlVerb {
    static let configuration = CommandConfiguration(
        commandName: "disconnect", abstract: "Ends the connection of a central, or of all.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlHelp.device, completion: CtlHelp.devices) var device: String
    @Argument(help: "The central, as events call it. Default: all.") var central: String?
    @Option(
        help: ArgumentHelp(
            "The reason, an error code as in 0x15. Default: 0x13, Remote User Terminated Connection.",
            valueName: "code"))
    var reason: String?
    @OptionGroup var options: CtlOptions

    func request() -> ControlClient.Request {
        let reason: [JSON.Member] = self.reason.map { [.init("reason", .string($0))] } ?? []
        return request("POST", device: device, ["disconnect"], CtlHelp.central(central) + reason)
    }
}

struct CtlForget: CtlVerb {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Deletes the bond of a central or a peripheral, or all bonds.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlHelp.device, completion: CtlHelp.devices) var device: String
    @Argument(help: "The central, as events call it. Default: all.") var central: String?
    @Option(
        help: "A peripheral of the app's profile, by its name there: its phone forgets it, as in Settings.")
    var peripheral: String?
    @OptionGroup var options: CtlOptions

    func validate() throws {
        if central != nil, peripheral != nil {
            throw ValidationError("give a central or --peripheral, not both")
        }
    }

    func request() -> ControlClient.Request {
        let peripheral: [JSON.Member] = peripheral.map { [.init("peripheral", .string($0))] } ?? []
        return request("POST", device: device, ["forget"], CtlHelp.central(central) + peripheral)
    }
}

struct CtlAdvertise: CtlVerb {
    static let configuration = CommandConfiguration(
        commandName: "advertise", abstract: "Changes what a device advertises, until it is reset.",
        discussion: """
            --with takes any keys of a profile's advertising, as in --with '{flags: none, txPower: 4 dBm}'.
            """)
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlHelp.device, completion: CtlHelp.devices) var device: String
    @Flag(inversion: .prefixedNo, exclusivity: .exclusive, help: "Advertises, or does not.") var on: Bool?
    @Option(help: "The local name; an empty one is not advertised.") var localName: String?
    @Option(
        name: .customLong("service"), help: ArgumentHelp("A service UUID. Repeatable.", valueName: "uuid"))
    var services: [String] = []
    @Option(
        help: ArgumentHelp("Further keys, as a profile has them.", valueName: "keys"),
        transform: CtlAdvertise.keys)
    var with: [JSON.Member] = []
    @Option(
        name: .customLong("set"), help: ArgumentHelp("The set, if the device has several.", valueName: "name")
    )
    var setName: String?
    @OptionGroup var options: CtlOptions

    private static func keys(_ text: String) throws -> [JSON.Member] {
        guard case .object(let members)? = try? WrittenFields.json(parsing: text) else {
            throw ValidationError("the keys are written as in a profile: {flags: none, txPower: 4 dBm}")
        }
        return members
    }

    func validate() throws {
        guard on != nil || localName != nil || !services.isEmpty || !with.isEmpty else {
            throw ValidationError("there is no change: give --on, --no-on, --local-name, --service or --with")
        }
    }

    func request() -> ControlClient.Request {
        var members = with
        if let setName { members.append(.init("set", .string(setName))) }
        if let on { members.append(.init("on", .bool(on))) }
        if let localName { members.append(.init("localName", .string(localName))) }
        if !services.isEmpty { members.append(.init("serviceUUIDs", .array(services.map { .string($0) }))) }
        return request("POST", device: device, ["advertise"], members)
    }
}

struct CtlApp: CtlVerb {
    static let configuration = CommandConfiguration(
        commandName: "app", abstract: "Changes the state of a device's app, or of its phone.",
        discussion: """
            The states of Bluetooth, the lock, the screen, alerts and pairings are for the whole phone: name \
            it as phone: in the profile does, or by an app on it. poweredOff, poweredOn and forget are for \
            accessories too. With BlueZ, nothing turns Bluetooth off. accessory shows the picker of an app \
            with accessorySetup, and accessory.added says what was picked.
            """)
    @ParentCommand var parent: CtlCommand
    @Argument(
        help: "The device: its name in events, or its profile's file without .yaml; or a phone's name.",
        completion: CtlHelp.devicesAndPhones)
    var device: String
    @Argument(
        help: "\(UserAction.words.joined(separator: ", ")).", completion: .list(UserAction.words))
    var state: String
    @Option(
        help: """
            For forget, accessory and removeAccessory, a peripheral of the app's profile. Default: all; for \
            an accessory, its only one.
            """)
    var peripheral: String?
    @OptionGroup var options: CtlOptions

    func request() -> ControlClient.Request {
        let peripheral: [JSON.Member] = peripheral.map { [.init("peripheral", .string($0))] } ?? []
        return request("POST", device: device, ["app"], [.init("state", .string(state))] + peripheral)
    }
}

struct CtlType: CtlVerb {
    static let configuration = CommandConfiguration(
        commandName: "type", abstract: "Types a text on a keyboard.",
        discussion: """
            The device has a service with use: hid-keyboard, and a host that is paired. Presses and releases \
            each key of a US keyboard, and prints how many keys these are. A line feed is Enter.
            """)
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlHelp.device, completion: CtlHelp.devices) var device: String
    @Argument(help: "The text.") var text: String
    @Option(help: "The time after each press and each release, from 1 ms to 1 min. Default: 20 ms.")
    var gap: String?
    @OptionGroup var options: CtlOptions

    func request() -> ControlClient.Request {
        let gap: [JSON.Member] = gap.map { [.init("gap", .string($0))] } ?? []
        return request("POST", device: device, ["type"], [.init("text", .string(text))] + gap)
    }

    func lines(_ answer: JSON) -> [String] {
        [(answer["keys"]?.integerValue ?? 0).counting("key")]
    }
}

struct CtlPasskey: CtlVerb {
    static let configuration = CommandConfiguration(
        commandName: "passkey", abstract: "Enters the passkey that pairing asks for.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlHelp.device, completion: CtlHelp.devices) var device: String
    @Argument(help: "The other device of the pairing, as pairing.passkey names it.") var central: String
    @Argument(help: "The passkey, a number of up to six digits.") var passkey: String
    @OptionGroup var options: CtlOptions

    func request() -> ControlClient.Request {
        request(
            "POST", device: device, ["passkey"],
            [.init("central", .string(central)), .init("passkey", .string(passkey))])
    }
}

struct CtlAnswer: CtlVerb {
    static let configuration = CommandConfiguration(
        commandName: "answer", abstract: "Answers a request of a characteristic with ask.",
        discussion: """
            A read is answered with a value. A write is accepted without one. --error answers either with \
            an ATT error.
            """)
    @ParentCommand var parent: CtlCommand
    @Argument(
        help: "The number of the request: id of its event request.asked.", completion: CtlHelp.requests,
        transform: { try Choice.number($0, in: 1...Int.max) })
    var id: Int
    @Argument(help: CtlValue.help) var value: String?
    @OptionGroup var form: CtlValue
    @Option(
        help: ArgumentHelp(
            "An ATT error: 0x and its code, or its name, as in insufficientAuthorization.",
            valueName: "error"),
        completion: .list(ATTError.names))
    var error: String?
    @OptionGroup var options: CtlOptions

    func validate() throws {
        if error != nil, value != nil { throw ValidationError("A value and --error cannot be combined.") }
        if let flag = form.flag, value == nil { throw ValidationError("\(flag) needs a value.") }
    }

    func request() throws -> ControlClient.Request {
        var members: [JSON.Member] = []
        if let value { members.append(try form.member(value)) }
        if let error { members.append(.init("error", .string(error))) }
        return Self.request("POST", "/v1/requests/\(id)/answer", members)
    }
}

struct CtlReport: CtlVerb {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Prints a test report: a case for each mark.",
        discussion: "The report is JUnit XML, or JSON with --format json.")
    @ParentCommand var parent: CtlCommand
    @OptionGroup var options: CtlOptions

    func request() -> ControlClient.Request {
        let isJSON = options.after(parent.options).format == .json
        return Self.request("GET", "/v1/report?format=\(isJSON ? "json" : "junit")")
    }
}

/// The options for the format of a value.
struct CtlValue: ParsableArguments {
    static let help: ArgumentHelp = "The value in hexadecimal, or as --text or --fields say."

    @Flag(help: "The value is text.") var text = false
    @Flag(help: "The value is fields, as in '{heartRate: 72, contact: true}'.") var fields = false

    /// The flag on the command line, or `nil` if there is none.
    var flag: String? { text ? "--text" : fields ? "--fields" : nil }

    func validate() throws {
        if text, fields { throw ValidationError("--text and --fields cannot be combined.") }
    }

    /// The member of a request that contains the value.
    func member(_ value: String) throws -> JSON.Member {
        guard fields else { return .init(text ? "text" : "hex", .string(value)) }
        do throws(LayoutProblem) {
            return .init("fields", try WrittenFields.json(parsing: value))
        } catch {
            throw ValidationError("\(value): \(error.message)")
        }
    }
}

/// The help and the completion that several verbs share.
enum CtlHelp {
    static let device = ArgumentHelp("The device: its name in events, or its profile's file without .yaml.")
    static let attribute = ArgumentHelp("The attribute, as in 180D/2A37, heart-rate-measurement or @18.")
    static let devices = CompletionKind.custom { words, _, _ in await names(words, attributes: false) }
    static let devicesAndPhones = CompletionKind.custom { words, _, _ in
        await get("/v1/devices", words).map { ControlText.deviceNames($0) + ControlText.phoneNames($0) } ?? []
    }
    static let attributes = CompletionKind.custom { words, _, _ in await names(words, attributes: true) }

    static let variables = CompletionKind.custom { words, _, _ in
        guard let answer = await get("/v1/devices", words) else { return [] }
        return ControlText.variableNames(answer, of: words.map(CompletionWords.unquoted))
    }

    static let faults = CompletionKind.custom { words, _, _ in
        await get("/v1/devices", words).map {
            ControlText.faultNames($0, of: words.map(CompletionWords.unquoted))
        } ?? []
    }

    static let scenarios = CompletionKind.custom { words, _, _ in
        await get("/v1/devices", words).map {
            ControlText.scenarioNames($0, of: words.map(CompletionWords.unquoted))
        } ?? []
    }

    static let requests = CompletionKind.custom { words, _, _ in
        await get("/v1/events", words).map(ControlText.askedRequests) ?? []
    }

    /// The names with which the shell can complete the command line `words`.
    ///
    /// These are the names of the devices or, if `attributes` is `true`, of the named device's attributes.
    private static func names(_ words: [String], attributes: Bool) async -> [String] {
        guard let answer = await get("/v1/devices", words) else { return [] }
        return attributes
            ? ControlText.attributeNames(answer, of: words.map(CompletionWords.unquoted))
            : ControlText.deviceNames(answer)
    }

    /// Sends a GET request for `target` to the instance whose address is in the command line `words`.
    ///
    /// Returns the answer, or `nil` if there is none.
    static func get(_ target: String, _ words: [String]) async -> JSON? {
        let client = try? CtlOptions.client(
            at: CompletionWords.value(of: "--control", in: words),
            tokenFile: CompletionWords.value(of: "--control-token-file", in: words))
        let request = CtlDevices.request("GET", target)
        guard let response = try? await client?.send(request, limit: .seconds(2)) else { return nil }
        return try? JSON(parsing: response.body)
    }

    /// Throws if the event match in `match` is invalid, or if no event can ever satisfy it.
    ///
    /// The error message begins with `place`.
    static func check(match: String, of place: String = "") throws {
        do throws(EventMatch.Problem) {
            if let problem = try EventMatch(parsing: match).problem { throw problem }
        } catch {
            throw ValidationError(place + error.message)
        }
    }

    /// The parts of an attribute's name, which slashes separate.
    static func steps(_ attribute: String) -> [String] {
        attribute.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    }

    static func central(_ central: String?) -> [JSON.Member] {
        central.map { [.init("central", .string($0))] } ?? []
    }
}
