import Glibc
import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahControl

/// A run of devices on radios without air, which the API controls.
final class FakeRun: ControlledRun {
    let radios = ["fake"]
    let journal = Journal()
    let requestNumbers: RequestNumbers? = RequestNumbers()
    private let played = Lock<[(device: ControlledDevice, radio: FakeRadio)]>([])
    /// Events that wait for a file, or `nil` if none has to.
    private let waiting = Lock<[DeviceEvent]?>(nil)
    private let holdsStarting: Bool

    /// With `holdsStarting`, a device starts when its radio is released.
    init(holdsStarting: Bool = false) {
        self.holdsStarting = holdsStarting
    }

    /// Lets events wait from now on, until somebody awaits them.
    func holdEvents() { waiting.withLock { $0 = [] } }

    func awaitEvents() async {
        let events = waiting.withLock { waiting in
            defer { waiting = waiting.map { _ in [] } }
            return waiting ?? []
        }
        for event in events { journal.append(event) }
    }

    private func take(_ event: DeviceEvent) {
        let waits = waiting.withLock { waiting in
            waiting?.append(event)
            return waiting != nil
        }
        if !waits { journal.append(event) }
    }

    var devices: [ControlledDevice] { played.withLock { $0.map(\.device) } }

    /// The radio of a device.
    func radio(of label: String) -> FakeRadio? {
        played.withLock { $0.first { $0.device.label == label }?.radio }
    }

    func add(_ profile: ProfileSource, seed: UInt64?) async throws(ControlProblem) -> String {
        do throws(ProfileIssues) {
            switch profile {
            case .object(let json):
                return try await play(ProfileLoader.load(text: json.text, file: "profile"), seed)
            case .file(let path): return try await play(ProfileLoader.load(regularFile: path), seed)
            }
        } catch {
            throw ControlProblem(400, "\(error)")
        }
    }

    private func play(_ profile: Profile, _ seed: UInt64?) async -> String {
        let label = DeviceLabels.next(profile.name, after: devices.map(\.label))
        var capabilities = RadioCapabilities(name: "fake")
        capabilities.address = DeviceAddress("D5:88:1A:B0:E5:92", kind: .random)
        let radio = FakeRadio(capabilities: capabilities)
        var device = EmulatedDevice(profile, seed: seed ?? 1, label: label)
        device.requestNumbers = requestNumbers
        let emulator = Emulator(
            [device], on: radio, clock: ContinuousClock(),
            wallTime: { WallTime(microseconds: 0) },
            observer: { [self] in take($0.named(label)) })
        let names = DeviceNames.Device(
            label: label, file: "dir/\(profile.name.lowercased())-file.yaml", isApp: profile.app != nil)
        played.withLock { $0.append((ControlledDevice(names: names, emulator: emulator), radio)) }
        if holdsStarting {
            await radio.holdStarting()
            Task { try? await emulator.start() }
        } else {
            try? await emulator.start()
        }
        return label
    }

    func remove(_ device: ControlledDevice) async throws(ControlProblem) {
        await device.emulator.removeLast(device.label)
        played.withLock { $0.removeAll { $0.device.emulator === device.emulator } }
    }

    func stop() async {
        for device in devices { await device.emulator.stop() }
    }
}

/// Sends requests to the API, and compares each body with the schema that the route declares.
struct APIRig {
    /// An answer.
    struct Answer {
        var status: Int
        var type: String
        var headers: [HTTPField]
        var text: String
        /// The body, or `null` if it is not JSON.
        var json: JSON
        var detail: String { json["detail"]?.stringValue ?? "" }
    }

    static let lock = """
        mynah: 1
        name: Lock
        security: {io: keyboardOnly}
        advertising: {serviceUUIDs: [180D]}
        services:
          - uuid: 180D
            characteristics:
              - {uuid: 2A37, properties: [read, notify], value: {hex: "0048"}}
              - {uuid: 2A38, properties: [read], value: {hex: "01"}}
              - {uuid: 2A39, properties: [read, write], value: {hex: "00"}, maxLength: 2}
        """
    static let app = """
        mynah: 1
        name: App
        app: {backgroundModes: [bluetooth-peripheral]}
        advertising: {localName: Fred, serviceUUIDs: [180F]}
        services:
          - {uuid: 180F, characteristics: [{uuid: 2A19, properties: [read, notify], value: {hex: 64}}]}
        """

    let run: FakeRun
    let peer = Peer(id: .init(7), address: DeviceAddress("AA:BB:CC:DD:EE:FF", kind: .random))
    private let api: ControlAPI

    init(
        _ profiles: [String] = [lock], directory: String? = nil, on run: FakeRun = FakeRun()
    ) async throws {
        self.run = run
        api = ControlAPI(run, run.journal, version: "1.2.3", profiles: ProfileDirectory(directory))
        for text in profiles { try await add(text) }
    }

    /// Plays a profile of YAML.
    func add(_ text: String) async throws {
        let file = try TemporaryDirectory()
        try file.write(text, to: "profile.yaml")
        _ = try await run.add(.file(file.path + "/profile.yaml"), seed: nil)
    }

    /// Sends a request, `METHOD /path?query`, and compares its answer with the route's schema.
    @discardableResult
    func send(
        _ line: String, _ body: String = "", isUnixSocket: Bool = true, accept: String = "application/json",
        at location: SourceLocation = #_sourceLocation
    ) async throws -> Answer {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        let target = words[1].split(separator: "?", maxSplits: 1).map(String.init)
        let path: [String] = target[0].split(separator: "/").map { String($0).replacing("%20", with: " ") }
        let query = (target.count > 1 ? target[1] : "").split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1).map(String.init)
            return HTTPQueryItem(parts[0], parts.count > 1 ? parts[1] : "")
        }
        let request = HTTPRequest(
            method: words[0], path: path, query: query, headers: [HTTPField("Accept", accept)],
            body: Array(body.utf8), isUnixSocket: isUnixSocket)
        let response = await api.answer(request)
        guard case .bytes(let bytes) = response.body else {
            throw ControlProblem(500, "the answer is a stream")
        }
        let answer = Answer(
            status: response.status, type: response.contentType, headers: response.headers,
            text: String(decoding: bytes, as: UTF8.self), json: (try? JSON(parsing: bytes)) ?? .null)
        check(answer, request, location)
        return answer
    }

    private func check(_ answer: Answer, _ request: HTTPRequest, _ location: SourceLocation) {
        let route = Route.all.first { $0.method == request.method && $0.parameters(of: request.path) != nil }
        if answer.status < 400, let body = route?.body {
            let sent = (try? JSON(parsing: request.body)) ?? .object([])
            #expect(SchemaCheck.faults(of: sent, in: body.schema) == [], sourceLocation: location)
        }
        let declared = route?.answers[answer.status]
        if answer.status < 400 { #expect(declared != nil, "\(answer.status)", sourceLocation: location) }
        let type = answer.status < 400 ? declared?.type ?? "" : "application/problem+json"
        // A report is declared in both of its formats.
        guard request.query("format") != "junit" else { return }
        #expect(answer.type.hasPrefix(type), sourceLocation: location)
        let value: JSON = type.hasSuffix("json") ? answer.json : .string(answer.text)
        #expect(
            SchemaCheck.faults(of: value, in: declared?.schema ?? .named("Problem")) == [],
            sourceLocation: location)
        if answer.status >= 400 {
            #expect(answer.json["status"] == .integer(answer.status), sourceLocation: location)
        }
    }

    // MARK: A phone

    func radio(_ label: String = "Lock") throws -> FakeRadio { try #require(run.radio(of: label)) }

    func key(_ uuid: BluetoothUUID, of label: String = "Lock") async throws -> AttributeKey {
        let all = await (try radio(label)).published.flatMap(\.services).flatMap(\.characteristics)
        return try #require(all.first { $0.uuid == uuid }).key
    }

    func connect() async throws { await (try radio()).simulate(.connected(peer)) }

    func write(_ value: [UInt8]) async throws {
        let part = WriteRequest.Part(attribute: try await key("2A39"), value: value)
        _ = try await radio().request(
            .write(WriteRequest(central: peer.id, parts: [part], wantsResponse: true)))
    }
}
