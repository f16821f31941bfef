import ArgumentParser
import MynahConsole
import MynahControl
import MynahCore
import MynahProfiles
import MynahSupport

/// `mynah ctl phone`.
struct CtlPhone: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "phone",
        abstract: "Makes phones, and carries out their verbs.",
        usage: "mynah ctl phone <verb> ... [--control <address>] [--format <format>]",
        discussion: """
            A phone is in the central role, on the radio of the run. It stays until it is removed, or until \
            the run ends or begins a new history. Its actions are in the events, with its name as device:

              mynah ctl phone add Anna
              mynah ctl phone connect Anna Lock
              mynah ctl phone read Anna battery-level
            """,
        subcommands: [
            CtlPhoneAdd.self, CtlPhoneList.self, CtlPhoneShow.self, CtlPhoneRemove.self, CtlPhoneScan.self,
            CtlPhoneConnect.self, CtlPhoneDisconnect.self, CtlPhoneDiscover.self, CtlPhoneRead.self,
            CtlPhoneWrite.self, CtlPhoneCommand.self, CtlPhoneSubscribe.self, CtlPhoneUnsubscribe.self,
            CtlPhonePair.self, CtlPhonePasskey.self, CtlPhoneForget.self, CtlPhoneMTU.self,
            CtlPhoneParameters.self,
        ])
}

/// The help and the completion that the verbs of phones share.
enum CtlPhoneHelp {
    static let phone = ArgumentHelp("The phone: its name in events.")
    static let phones = CompletionKind.custom { words, _, _ in
        await CtlHelp.get("/v1/phones", words).map(ControlText.phoneLabels) ?? []
    }
    static let attribute = ArgumentHelp("The attribute, as in 180F/2A19, battery-level or @18.")
    static let within = ArgumentHelp("Time limit, such as 5s.", valueName: "duration")
}

/// The options of a verb for a peripheral.
struct CtlPeripheralOptions: ParsableArguments {
    @Option(help: "The address or the name of the device, if the phone is connected to several.")
    var peripheral: String?
    @Option(help: ArgumentHelp("Time limit. Default: 30s.", valueName: "duration")) var within: String?

    var members: [JSON.Member] {
        [("peripheral", peripheral), ("within", within)].compactMap { key, value in
            value.map { JSON.Member(key, .string($0)) }
        }
    }

    func validate() throws { try Self.check(within) }

    /// Throws if a time limit is not valid.
    static func check(_ within: String?) throws {
        guard let within else { return }
        do throws(DurationText.Problem) {
            _ = try EventWait.duration(within)
        } catch {
            throw ValidationError("--within \(error.message)")
        }
    }
}

/// A verb of `ctl phone`.
protocol CtlPhoneVerb: CtlVerb {
    var phone: String { get }
    /// The time limit on the command line, or `nil` for the default.
    var within: String? { get }
}

extension CtlPhoneVerb {
    // No request takes more than 10 minutes of real time, and another client's may come before it.
    var limit: Duration {
        let own = within.flatMap { try? EventWait.duration($0) } ?? .seconds(30)
        return min(own, EventWait.longest(on: .real)) + .seconds(90)
    }

    var within: String? { nil }

    /// Makes a request to the path of the phone, followed by `verb`; `members` are those of the JSON body.
    func request(
        _ method: String, _ verb: String? = nil, _ members: [JSON.Member]? = nil
    ) -> ControlClient.Request {
        let path = (["v1", "phones", phone] + (verb.map { [$0] } ?? [])).map(ControlClient.encode)
        return Self.request(method, "/" + path.joined(separator: "/"), members)
    }
}

struct CtlPhoneAdd: CtlVerb {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Makes a phone, and prints its name.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: "Its name in events. Default: Phone.") var name: String?
    @Option(
        help: "Its address: identity (the default), private, or a static random address.",
        completion: .list(PhoneSettings.addressWords))
    var address: String?
    @Option(
        help: "What it has for pairing: \(IOCapability.allCases.map(\.rawValue).joined(separator: ", ")).",
        completion: .list(IOCapability.allCases.map(\.rawValue)))
    var io: String?
    @Option(help: "Another radio than the run's: virtual, netsim or hci:TRANSPORT.") var radio: String?
    @Option(help: ArgumentHelp("A folder for its bonds below --state-dir of the run.", valueName: "name"))
    var stateDirectory: String?
    @Flag(help: "It confirms no indication.") var noConfirm = false
    @Option(help: "The passkey that it enters in pairings, six digits.") var passkey: String?
    @OptionGroup var options: CtlOptions

    func request() -> ControlClient.Request {
        let texts = [
            ("name", name), ("address", address), ("io", io), ("radio", radio),
            ("stateDirectory", stateDirectory), ("passkey", passkey),
        ]
        return Self.request(
            "POST", "/v1/phones",
            texts.compactMap { key, text in text.map { JSON.Member(key, .string($0)) } }
                + (noConfirm ? [.init("confirm", .bool(false))] : []))
    }

    func lines(_ answer: JSON) -> [String] { ControlText.phoneLabel(answer) }
}

struct CtlPhoneList: CtlVerb {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Lists the phones.")
    @ParentCommand var parent: CtlCommand
    @OptionGroup var options: CtlOptions

    func request() -> ControlClient.Request { Self.request("GET", "/v1/phones") }
    func lines(_ answer: JSON) -> [String] { ControlText.phones(answer) }
}

struct CtlPhoneShow: CtlPhoneVerb {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Prints a phone and the devices that it is connected to.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlPhoneHelp.phone, completion: CtlPhoneHelp.phones) var phone: String
    @OptionGroup var options: CtlOptions

    func request() -> ControlClient.Request { request("GET") }
    func lines(_ answer: JSON) -> [String] { ControlText.phone(answer) }
}

struct CtlPhoneRemove: CtlPhoneVerb {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Ends a phone with its links.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlPhoneHelp.phone, completion: CtlPhoneHelp.phones) var phone: String
    @OptionGroup var options: CtlOptions

    func request() -> ControlClient.Request { request("DELETE") }
}

struct CtlPhoneScan: CtlPhoneVerb {
    static let configuration = CommandConfiguration(
        commandName: "scan", abstract: "Prints the devices that a phone hears.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlPhoneHelp.phone, completion: CtlPhoneHelp.phones) var phone: String
    @Option(
        name: .customLong("service"),
        help: ArgumentHelp("Only devices that advertise this service. Repeatable.", valueName: "service"))
    var services: [String] = []
    @Option(
        parsing: .unconditional, help: "Ends when this number of devices was heard.",
        transform: { try Choice.number($0, in: 1...10_000) })
    var count: Int?
    @Option(help: ArgumentHelp("Duration. Default: 2s.", valueName: "duration")) var within: String?
    @OptionGroup var options: CtlOptions

    func validate() throws { try CtlPeripheralOptions.check(within) }

    func request() -> ControlClient.Request {
        request(
            "POST", "scan",
            CtlPhoneConnect.list(services) + (count.map { [.init("count", .integer($0))] } ?? [])
                + (within.map { [.init("within", .string($0))] } ?? []))
    }

    func lines(_ answer: JSON) -> [String] { ControlText.heard(answer) }
}

struct CtlPhoneConnect: CtlPhoneVerb {
    static let configuration = CommandConfiguration(
        commandName: "connect", abstract: "Connects to a device, and prints its services.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlPhoneHelp.phone, completion: CtlPhoneHelp.phones) var phone: String
    @Argument(help: "The device: its whole advertised name, or its address.") var device: String?
    @Option(
        name: .customLong("service"),
        help: ArgumentHelp("A service that the device advertises. Repeatable.", valueName: "service"))
    var services: [String] = []
    @Option(help: ArgumentHelp("Time limit. Default: 10s.", valueName: "duration")) var within: String?
    @OptionGroup var options: CtlOptions

    func validate() throws {
        guard device != nil || !services.isEmpty else {
            throw ValidationError("no device is named: give its name, its address or --service")
        }
        try CtlPeripheralOptions.check(within)
    }

    func request() -> ControlClient.Request {
        let named = device.map { device -> [JSON.Member] in
            let isAddress = DeviceAddress(device, kind: .random) != nil
            return [.init(isAddress ? "address" : "name", .string(device))]
        }
        return request(
            "POST", "connect",
            (named ?? []) + Self.list(services) + (within.map { [.init("within", .string($0))] } ?? []))
    }

    static func list(_ services: [String]) -> [JSON.Member] {
        services.isEmpty ? [] : [.init("services", .array(services.map { .string($0) }))]
    }

    func lines(_ answer: JSON) -> [String] { ControlText.connected(answer) }
}

struct CtlPhoneDisconnect: CtlPhoneVerb {
    static let configuration = CommandConfiguration(
        commandName: "disconnect", abstract: "Ends the link to a device.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlPhoneHelp.phone, completion: CtlPhoneHelp.phones) var phone: String
    @OptionGroup var device: CtlPeripheralOptions
    @OptionGroup var options: CtlOptions

    var within: String? { device.within }
    func request() -> ControlClient.Request { request("POST", "disconnect", device.members) }
}

struct CtlPhoneDiscover: CtlPhoneVerb {
    static let configuration = CommandConfiguration(
        commandName: "discover", abstract: "Discovers the services of a device again, and prints them.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlPhoneHelp.phone, completion: CtlPhoneHelp.phones) var phone: String
    @Option(
        name: .customLong("service"),
        help: ArgumentHelp("Only this service. Repeatable.", valueName: "service"))
    var services: [String] = []
    @OptionGroup var device: CtlPeripheralOptions
    @OptionGroup var options: CtlOptions

    var within: String? { device.within }

    func request() -> ControlClient.Request {
        request("POST", "discover", CtlPhoneConnect.list(services) + device.members)
    }

    func lines(_ answer: JSON) -> [String] { ControlText.remoteServices(answer) }
}

struct CtlPhoneRead: CtlPhoneVerb {
    static let configuration = CommandConfiguration(
        commandName: "read", abstract: "Reads a value, and prints it in hexadecimal with its fields.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlPhoneHelp.phone, completion: CtlPhoneHelp.phones) var phone: String
    @Argument(help: CtlPhoneHelp.attribute) var attribute: String
    @OptionGroup var device: CtlPeripheralOptions
    @OptionGroup var options: CtlOptions

    var within: String? { device.within }

    func request() -> ControlClient.Request {
        request("POST", "read", [.init("of", .string(attribute))] + device.members)
    }

    func lines(_ answer: JSON) -> [String] { [ControlText.value(answer, of: attribute)] }
}

struct CtlPhoneWrite: CtlPhoneVerb {
    static let configuration = CommandConfiguration(
        commandName: "write", abstract: "Writes a value, and waits for the response.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlPhoneHelp.phone, completion: CtlPhoneHelp.phones) var phone: String
    @Argument(help: CtlPhoneHelp.attribute) var attribute: String
    @Argument(help: CtlValue.help) var value: String
    @OptionGroup var form: CtlValue
    @OptionGroup var device: CtlPeripheralOptions
    @OptionGroup var options: CtlOptions

    var within: String? { device.within }

    func request() throws -> ControlClient.Request {
        request(
            "POST", "write", [.init("of", .string(attribute)), try form.member(value)] + device.members)
    }
}

struct CtlPhoneCommand: CtlPhoneVerb {
    static let configuration = CommandConfiguration(
        commandName: "command", abstract: "Writes a value without response.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlPhoneHelp.phone, completion: CtlPhoneHelp.phones) var phone: String
    @Argument(help: CtlPhoneHelp.attribute) var attribute: String
    @Argument(help: CtlValue.help) var value: String
    @OptionGroup var form: CtlValue
    @OptionGroup var device: CtlPeripheralOptions
    @OptionGroup var options: CtlOptions

    var within: String? { device.within }

    func request() throws -> ControlClient.Request {
        request(
            "POST", "command", [.init("of", .string(attribute)), try form.member(value)] + device.members)
    }
}

struct CtlPhoneSubscribe: CtlPhoneVerb {
    static let configuration = CommandConfiguration(
        commandName: "subscribe", abstract: "Enables notifications, or else indications.",
        discussion: """
            Prints the number of the first event that can have a value: mynah ctl wait value.updated \
            --since takes it.
            """)
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlPhoneHelp.phone, completion: CtlPhoneHelp.phones) var phone: String
    @Argument(help: CtlPhoneHelp.attribute) var attribute: String
    @OptionGroup var device: CtlPeripheralOptions
    @OptionGroup var options: CtlOptions

    var within: String? { device.within }

    func request() -> ControlClient.Request {
        request("POST", "subscribe", [.init("of", .string(attribute))] + device.members)
    }

    func lines(_ answer: JSON) -> [String] { [ControlText.seq(answer)] }
}

struct CtlPhoneUnsubscribe: CtlPhoneVerb {
    static let configuration = CommandConfiguration(
        commandName: "unsubscribe", abstract: "Disables notifications and indications.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlPhoneHelp.phone, completion: CtlPhoneHelp.phones) var phone: String
    @Argument(help: CtlPhoneHelp.attribute) var attribute: String
    @OptionGroup var device: CtlPeripheralOptions
    @OptionGroup var options: CtlOptions

    var within: String? { device.within }

    func request() -> ControlClient.Request {
        request("POST", "unsubscribe", [.init("of", .string(attribute))] + device.members)
    }
}

struct CtlPhonePair: CtlPhoneVerb {
    static let configuration = CommandConfiguration(
        commandName: "pair", abstract: "Pairs, or encrypts the link with the keys of the bond.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlPhoneHelp.phone, completion: CtlPhoneHelp.phones) var phone: String
    @Option(help: "The passkey to enter if the pairing asks for it, six digits.") var passkey: String?
    @Flag(help: "Declines a pairing that asks.") var decline = false
    @OptionGroup var device: CtlPeripheralOptions
    @OptionGroup var options: CtlOptions

    var within: String? { device.within }

    func request() -> ControlClient.Request {
        request(
            "POST", "pair",
            (passkey.map { [.init("passkey", .string($0))] } ?? [])
                + (decline ? [.init("accept", .bool(false))] : []) + device.members)
    }
}

struct CtlPhonePasskey: CtlPhoneVerb {
    static let configuration = CommandConfiguration(
        commandName: "passkey", abstract: "Enters the passkey that a pairing asks for.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlPhoneHelp.phone, completion: CtlPhoneHelp.phones) var phone: String
    @Argument(help: "The passkey, six digits.") var passkey: String
    @OptionGroup var options: CtlOptions

    func request() -> ControlClient.Request {
        request("POST", "passkey", [.init("passkey", .string(passkey))])
    }
}

struct CtlPhoneForget: CtlPhoneVerb {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Deletes the bond with a device.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlPhoneHelp.phone, completion: CtlPhoneHelp.phones) var phone: String
    @OptionGroup var device: CtlPeripheralOptions
    @OptionGroup var options: CtlOptions

    var within: String? { device.within }
    func request() -> ControlClient.Request { request("POST", "forget", device.members) }
}

struct CtlPhoneMTU: CtlPhoneVerb {
    static let configuration = CommandConfiguration(
        commandName: "mtu", abstract: "Prints the ATT_MTU of the link to a device, in bytes.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlPhoneHelp.phone, completion: CtlPhoneHelp.phones) var phone: String
    @OptionGroup var device: CtlPeripheralOptions
    @OptionGroup var options: CtlOptions

    var within: String? { device.within }
    func request() -> ControlClient.Request { request("POST", "mtu", device.members) }
    func lines(_ answer: JSON) -> [String] { [answer["mtu"]?.text ?? ""] }
}

struct CtlPhoneParameters: CtlPhoneVerb {
    static let configuration = CommandConfiguration(
        commandName: "parameters", abstract: "Changes the connection parameters, and prints the new ones.")
    @ParentCommand var parent: CtlCommand
    @Argument(help: CtlPhoneHelp.phone, completion: CtlPhoneHelp.phones) var phone: String
    @Argument(help: "The connection interval, such as 30ms.") var interval: String
    @Option(help: ArgumentHelp("The longest interval. Default: the same.", valueName: "duration"))
    var intervalMaximum: String?
    @Option(
        parsing: .unconditional, help: "The connection events that the device may skip. Default: 0.",
        transform: { try Choice.number($0, in: 0...499) })
    var latency: Int?
    @Option(help: ArgumentHelp("Default: 6s.", valueName: "duration")) var supervisionTimeout: String?
    @OptionGroup var device: CtlPeripheralOptions
    @OptionGroup var options: CtlOptions

    var within: String? { device.within }

    func request() -> ControlClient.Request {
        let texts = [
            ("interval", interval), ("intervalMaximum", intervalMaximum),
            ("supervisionTimeout", supervisionTimeout),
        ]
        return request(
            "POST", "parameters",
            texts.compactMap { key, text in text.map { JSON.Member(key, .string($0)) } }
                + (latency.map { [.init("latency", .integer($0))] } ?? []) + device.members)
    }

    func lines(_ answer: JSON) -> [String] { [ControlText.connectionParameters(answer)] }
}
