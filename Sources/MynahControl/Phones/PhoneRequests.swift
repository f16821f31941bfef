import Mynah
import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport

/// Requests that add, list and remove phones, and requests that a phone carries out.
struct PhoneRequests: RunRequests {
    let run: any ControlledRun
    let journal: Journal
    let holders: PhoneHolders
    let clock: RunClock

    /// The default time limit of a request that a phone carries out.
    private static let usualLimit = Duration.seconds(30)
    /// The default time limit of a scan.
    private static let usualScan = Duration.seconds(2)
    /// The default time limit for finding a peripheral and connecting to it.
    private static let usualConnection = Duration.seconds(10)

    // MARK: Phones

    func listPhones() async -> HTTPResponse {
        var phones: [JSON] = []
        for phone in run.phones { phones.append(await json(of: phone)) }
        return .json(.object([.init("phones", .array(phones))]))
    }

    func addPhone(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
        let body = try call.body()
        var settings = PhoneSettings()
        if let name = try body.text("name", longest: DeviceIdentity.longestName) {
            guard PrintableText.isVisible(name) else {
                throw ControlProblem(400, "\"name\" has no visible character; give the phone another name")
            }
            settings.name = name
        }
        if let radio = try body.text("radio") {
            guard call.request.isUnixSocket else {
                throw ControlProblem(
                    403, "a phone of this client has the run's radio; \"radio\" needs the Unix socket")
            }
            settings.radio = radio
        }
        settings.address = try Self.address(body)
        if let word = try body.text("io") {
            guard let io = IOCapability(rawValue: word) else {
                throw .unknown("io", word, among: IOCapability.allCases.map(\.rawValue))
            }
            settings.io = io
        }
        settings.stateDirectory = try Self.folder(body)
        settings.confirms = try body.bool("confirm") ?? true
        settings.pairing = try Self.pairing(body)
        if let holder = try body.text("holder", longest: EventsQuery.longestHolder) {
            guard EventsQuery.isHolder(holder) else { throw EventsQuery.wrongHolder(holder) }
            guard holders.isOpen(holder) else { throw Self.notHeld(holder) }
            settings.holder = holder
        }
        let phone = try await run.addPhone(settings)
        // Its client may have gone meanwhile.
        if let holder = settings.holder, !holders.isOpen(holder) {
            await run.removePhone(phone)
            throw Self.notHeld(holder)
        }
        return .json(await json(of: phone), status: 201)
    }

    private static func notHeld(_ holder: String) -> ControlProblem {
        ControlProblem(
            409,
            "no event stream holds \"\(holder)\"; open GET /v1/events?hold=\(holder) first, and keep it open")
    }

    private static func address(_ body: ControlBody) throws(ControlProblem) -> String {
        guard let text = try body.text("address") else { return PhoneSettings().address }
        if PhoneSettings.addressWords.contains(text) { return text }
        // A static random address begins with two ones (Core Specification, Vol 6, Part B, 1.3.2.1).
        guard let address = DeviceAddress(text, kind: .random), address.value >> 46 == 3 else {
            throw ControlProblem(
                400,
                """
                "address" must be identity, private, or a static random address, as in C0:11:22:33:44:55, \
                not \(ControlProblem.shortened(text))
                """)
        }
        return address.description
    }

    private static func folder(_ body: ControlBody) throws(ControlProblem) -> String? {
        guard let name = try body.text("stateDirectory", longest: 100) else { return nil }
        guard PrintableText.isVisible(name) else {
            throw ControlProblem(400, "\"stateDirectory\" is the name of a folder, and has no character")
        }
        return name
    }

    private static func pairing(_ body: ControlBody) throws(ControlProblem) -> PairingWish {
        PairingWish(
            passkey: try ActionRequests.passkey(body), accepts: try body.bool("accept") ?? true)
    }

    func getPhone(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
        .json(await json(of: try phone(call)))
    }

    func removePhone(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
        await run.removePhone(try phone(call))
        return .json(.object([]))
    }

    private func phone(_ call: APICall) throws(ControlProblem) -> any ControlledPhone {
        let name = call.parameter("phone")
        let phones = run.phones
        if let phone = phones.first(where: { $0.name == name }) { return phone }
        let near = NearestName.of(name, among: phones.map(\.name)).map { "; did you mean \"\($0)\"?" }
        let known =
            phones.isEmpty
            ? "; there are none" : "; the phones are \(NameList.text(phones.map { "\"\($0.name)\"" }))"
        throw ControlProblem(404, "there is no phone \"\(ControlProblem.shortened(name))\"\(near ?? known)")
    }

    private func json(of phone: any ControlledPhone) async -> JSON {
        let settings = phone.settings
        let peripherals = await phone.peripherals().map { peripheral -> JSON in
            let subscriptions = peripheral.services.flatMap { service in
                service.characteristics.filter { $0.delivery != nil }.map { characteristic in
                    JSON.string("\(service.uuid)/\(characteristic.uuid)")
                }
            }
            return .object(
                peripheral.members.filter { $0.key != "services" }
                    + [.init("subscriptions", .array(subscriptions))])
        }
        let address = await phone.address()
        return .object(
            [.init("phone", .string(phone.name)), .init("radio", .string(phone.radioName))]
                + (address.map { [.init("address", .string("\($0)"))] } ?? [])
                + [.init("io", .string(settings.io.rawValue)), .init("confirm", .bool(settings.confirms))]
                + (settings.stateDirectory.map { [.init("stateDirectory", .string($0))] } ?? [])
                + (settings.holder.map { [.init("holder", .string($0))] } ?? [])
                + [.init("peripherals", .array(peripherals))])
    }

    // MARK: Verbs

    func perform(_ call: APICall) async throws(ControlProblem) -> HTTPResponse {
        let phone = try phone(call)
        let body = try call.body()
        let request = try request(call.route.operation, body)
        // The events that the verb causes are in the journal from this number on.
        await run.awaitEvents()
        let seq = journal.kept.upperBound
        let result: PhoneResult
        do throws(PhoneFailure) {
            result = try await phone.carryOut(request)
        } catch {
            throw ControlProblem(error)
        }
        // The events of the answer are in the journal now.
        await run.awaitEvents()
        return .json(.object(result.members + [.init("seq", .integer(Int(clamping: seq)))]))
    }

    private func request(
        _ operation: Operation, _ body: ControlBody
    ) throws(ControlProblem) -> PhoneRequest {
        let peripheral = try body.text("peripheral")
        func verb(_ verb: PhoneVerb) throws(ControlProblem) -> PhoneRequest {
            PhoneRequest(.perform(verb, on: peripheral), within: try limit(body))
        }
        switch operation {
        case .scanAsPhone:
            let count = try body.number("count", in: 1...10_000)
            return PhoneRequest(
                .scan(try search(body), count: count), within: try limit(body, Self.usualScan))
        case .connectAsPhone:
            let search = try search(body)
            guard !search.isEmpty else {
                throw ControlProblem(
                    400, "no peripheral is named: give \"name\", \"address\" or \"services\"")
            }
            return PhoneRequest(.connect(search), within: try limit(body, Self.usualConnection))
        case .discoverAsPhone: return try verb(.discover(try Self.services(body)))
        case .readAsPhone: return try verb(.read(try Self.path(body)))
        case .writeAsPhone, .commandAsPhone:
            return try verb(
                .write(
                    try Self.path(body), try body.writtenValue(), withResponse: operation == .writeAsPhone))
        case .subscribeAsPhone, .unsubscribeAsPhone:
            return try verb(.subscribe(operation == .subscribeAsPhone, try Self.path(body)))
        case .pairAsPhone:
            return PhoneRequest(.pair(try Self.pairing(body), on: peripheral), within: try limit(body))
        case .enterPasskeyAsPhone:
            guard let passkey = try ActionRequests.passkey(body) else { throw ActionRequests.noPasskey }
            return PhoneRequest(.enter(passkey), within: try limit(body))
        case .forgetAsPhone: return try verb(.forget)
        case .exchangeMTUAsPhone: return try verb(.mtu)
        case .changeParametersAsPhone: return try verb(.parameters(try Self.parameters(body)))
        default: return try verb(.disconnect)
        }
    }

    private func limit(
        _ body: ControlBody, _ usual: Duration = PhoneRequests.usualLimit
    ) throws(ControlProblem) -> Duration {
        guard let text = try body.text("within") else { return usual }
        do throws(DurationText.Problem) {
            return try EventWait.duration(text, atMost: EventWait.longest(on: clock))
        } catch {
            throw ControlProblem(400, "\"within\" \(error.message)")
        }
    }

    private func search(_ body: ControlBody) throws(ControlProblem) -> PeripheralSearch {
        var search = PeripheralSearch(name: try body.text("name"), services: try Self.services(body))
        if let text = try body.text("address") {
            guard let address = DeviceAddress(text, kind: .random) else {
                throw ControlProblem(
                    400,
                    "\"address\" must be an address, as in C0:11:22:33:44:55, not "
                        + ControlProblem.shortened(text))
            }
            search.address = address
        }
        return search
    }

    private static func services(_ body: ControlBody) throws(ControlProblem) -> [BluetoothUUID] {
        let names = try body.texts("services", atMost: 100) ?? []
        return try names.map { text throws(ControlProblem) in
            if let uuid = BluetoothUUID(text) ?? AssignedNumbers.service(named: text) { return uuid }
            throw .unknown("service", text, among: AssignedNumbers.serviceNames)
        }
    }

    private static func path(_ body: ControlBody) throws(ControlProblem) -> AttributePath {
        guard let text = try body.text("of") else {
            throw ControlProblem(400, "\"of\" is missing: an attribute, as in {\"of\": \"180F/2A19\"}")
        }
        do throws(AttributePath.Problem) {
            return try AttributePath(parsing: text)
        } catch {
            throw ControlProblem(400, "\"of\": \(error.message)")
        }
    }

    private static func parameters(_ body: ControlBody) throws(ControlProblem) -> ConnectionParameterRange {
        func duration(_ key: String, _ unit: Duration) throws(ControlProblem) -> UInt16? {
            guard let text = try body.text(key) else { return nil }
            do throws(DurationText.Problem) {
                let duration = try DurationText.parse(text)
                guard duration >= .zero, duration <= .seconds(60) else {
                    throw DurationText.Problem(message: "is \(duration.text); at most 60 s are allowed")
                }
                return UInt16((duration / unit).rounded())
            } catch {
                throw ControlProblem(400, "\"\(key)\" \(error.message)")
            }
        }
        let unit = ConnectionParameterRange.intervalUnit
        guard let interval = try duration("interval", unit) else {
            throw ControlProblem(400, "\"interval\" is missing, as in {\"interval\": \"30 ms\"}")
        }
        let range = ConnectionParameterRange(
            minimum: interval, maximum: try duration("intervalMaximum", unit) ?? interval,
            latency: UInt16(try body.number("latency", in: 0...499) ?? 0),
            timeout: try duration("supervisionTimeout", ConnectionParameterRange.timeoutUnit) ?? 600)
        guard range.isValid else {
            throw ControlProblem(
                400,
                """
                the Core Specification does not allow these connection parameters: intervals from 7.5 ms to \
                4 s, and a supervision timeout of 100 ms to 32 s, and more than twice the interval × \
                (latency + 1)
                """)
        }
        return range
    }
}
