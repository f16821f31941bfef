import MynahCore
import MynahTestSupport
import Testing

@testable import MynahBlueZ
@testable import MynahBlueZStandIn
@testable import MynahDBus

/// A bluetoothd that says anything at all, in any order.
@Suite(.timeLimit(.minutes(15))) struct HostileBusTests {
    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `after any signals and calls, the radio plays on when bluetoothd is itself again`(seed: UInt64)
        async throws
    {
        let rig = try await Rig()
        let definitions = Definitions()
        rig.sink.answer { event in
            if case .read = event { return .answer(.success([7])) }
            return .none
        }
        try await rig.radio.publish([definitions.service])
        try await rig.radio.advertise(.named("Mynah"))
        let owner = try #require(await rig.standIn.applicationOwner)
        var noise = Noise(seed: seed)
        for _ in 0..<150 { await rig.standIn.make(&noise, at: owner) }
        // The radio has handled all of it: a later question is answered after it.
        await rig.standIn.ping(owner)
        await rig.standIn.crash()
        try await rig.standIn.start()
        try await rig.standIn.wait("an application and an advertisement are registered") {
            $0.applicationCount() == 1 && $0.advertisementCount() == 1
        }
        let phone = await rig.standIn.central()
        try await phone.connect()
        #expect(try await phone.readLong("2a38") == Array(0..<40))
        #expect(try await phone.read("2a37") == [7])
        await rig.radio.stop()
        #expect(await rig.standIn.applicationCount() == 0)
        #expect(await rig.standIn.advertisementCount() == 0)
    }

    @Test func `a manager that goes and comes, and has kept everything, is no end of it`() async throws {
        let rig = try await Rig()
        try await rig.radio.publish([Definitions().service])
        try await rig.radio.advertise(.named("Mynah"))
        await rig.standIn.signal("InterfacesRemoved", .strings(["org.bluez.GattManager1"]))
        try await rig.sink.wait(for: "lost")
        await rig.standIn.signal(
            "InterfacesAdded",
            .dictionary(key: "s", value: "a{sv}", [.init("org.bluez.GattManager1", .options([]))]))
        try await rig.sink.wait(for: "recovered")
        try await rig.sink.wait(for: "advertising")
        #expect(rig.sink.words("advertising") == ["advertising on"])
        #expect(await rig.standIn.applicationCount() == 1)
        #expect(await rig.standIn.advertisements().count == 1)
        #expect(await rig.standIn.services().map(\.handle) == [0x0100])
        await rig.radio.stop()
        #expect(await rig.standIn.applicationCount() == 0)
        #expect(await rig.standIn.advertisementCount() == 0)
    }

    @Test(arguments: Objects.allCases)
    func `a bluetoothd whose objects make no sense has no adapter, and is told so`(objects: Objects)
        async throws
    {
        let bus = try PrivateBus()
        let daemon = try await DBusConnection.connect(to: .address(bus.address))
        let object = OddDaemon(objects.reply)
        try await GLibExecutor.shared.perform { () throws(DBusError) in try daemon.export(object, at: "/") }
        try await daemon.requestName(BlueZ.service)
        var options = BlueZRadio.Options()
        options.bus = .address(bus.address)
        options.version = .oldest
        let radio = BlueZRadio(options: options)
        let error = await radioError { () async throws(RadioError) in
            _ = try await radio.start(DeviceIdentity(name: "Mynah"), sink: TestSink())
        }
        #expect(error?.code == objects.code)
        await daemon.close()
    }
}

/// Answers to GetManagedObjects that bluetoothd would not give.
enum Objects: CaseIterable {
    case nothing, text, numbers, wrongInterfaces, wrongProperties, noProperties, unsetAdapter

    var reply: [DBusValue] {
        switch self {
        case .nothing: []
        case .text: ["hello"]
        case .numbers: [.dictionary(key: "u", value: "u", [.init(.uint32(1), .uint32(2))])]
        case .wrongInterfaces:
            [.dictionary(key: "o", value: "as", [.init(.objectPath("/org/bluez/hci0"), .strings(["a"]))])]
        case .wrongProperties:
            [adapter(["Address": .int32(1), "Powered": "yes", "Alias": .bytes([1]), "Modalias": false])]
        case .noProperties: [adapter([:])]
        case .unsetAdapter: [adapter(["Address": "no address", "Powered": true])]
        }
    }

    private func adapter(_ properties: KeyValuePairs<String, DBusValue>) -> DBusValue {
        let names = ["org.bluez.Adapter1", "org.bluez.GattManager1", "org.bluez.LEAdvertisingManager1"]
        let interfaces = DBusValue.dictionary(
            key: "s", value: "a{sv}",
            names.map { .init(.string($0), $0 == names[0] ? .options(properties) : .options([])) })
        return .dictionary(
            key: "o", value: "a{sa{sv}}", [.init(.objectPath("/org/bluez/hci0"), interfaces)])
    }

    var code: RadioError.Code {
        switch self {
        case .nothing: .protocolViolation
        case .text, .numbers, .wrongInterfaces: .noAdapter
        // They have an adapter whose properties cannot be set.
        case .wrongProperties, .noProperties, .unsetAdapter: .protocolViolation
        }
    }
}

/// Gives the same answer to every caller that asks for its objects.
private final class OddDaemon: DBusObject {
    let interfaces = [
        DBusInterface("org.freedesktop.DBus.ObjectManager", methods: [.init("GetManagedObjects")])
    ]
    private let reply: [DBusValue]

    init(_ reply: [DBusValue]) { self.reply = reply }

    func handle(_ call: MethodCall, _ method: DBusInterface.Method) {
        call.reply { body in
            for value in reply { body.append(value) }
        }
    }
}

/// Values and names from everywhere, the same for one seed.
struct Noise {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func pick<Element>(_ list: [Element]) -> Element {
        list[Int.random(in: list.indices, using: &random)]
    }

    mutating func value(_ depth: Int = 0) -> DBusValue {
        switch Int.random(in: 0..<(depth > 2 ? 9 : 14), using: &random) {
        case 0: .byte(.random(in: 0...255, using: &random))
        case 1: .bool(.random(using: &random))
        case 2: .uint16(.random(in: 0...65535, using: &random))
        case 3: .int32(.random(in: .min ... .max, using: &random))
        case 4: .uint64(.random(in: 0 ... .max, using: &random))
        case 5: .double(.nan)
        case 6: .string(pick(Self.words))
        case 7: .objectPath(path())
        case 8: .bytes(random.bytes(upTo: pick([0, 4, 600, 70_000])))
        case 9: .strings((0..<Int.random(in: 0...3, using: &random)).map { _ in pick(Self.words) })
        case 10:
            .options(
                (0..<Int.random(in: 0...4, using: &random)).map { _ in (pick(Self.words), value(depth + 1)) })
        case 11: .variant(value(depth + 1))
        case 12: .structure([value(depth + 1), value(depth + 1)])
        default: interfaces()
        }
    }

    /// `a{sa{sv}}` with names that matter.
    mutating func interfaces() -> DBusValue {
        .dictionary(
            key: "s", value: "a{sv}",
            (0..<Int.random(in: 0...3, using: &random)).map { _ in
                .init(.string(pick(Self.interfaces)), properties())
            })
    }

    mutating func properties() -> DBusValue {
        .options((0..<Int.random(in: 0...4, using: &random)).map { _ in (pick(Self.properties), value(2)) })
    }

    mutating func path() -> ObjectPath { pick(Self.paths) }

    mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    static let words =
        ["", "device", "offset", "mtu", "a", "LE", "org.bluez.Adapter1", "\u{1F680}", "/"] + properties
    static let properties = [
        "Address", "AddressType", "Name", "Alias", "Powered", "Pairable", "Connected", "Paired", "Bonded",
        "Trusted",
        "Modalias", "SupportedFeatures", "UUIDs",
    ]
    static let interfaces = [
        "org.bluez.Adapter1", "org.bluez.Device1", "org.bluez.GattManager1",
        "org.bluez.LEAdvertisingManager1",
        "org.bluez.AgentManager1", "org.example.Other",
    ]
    static let paths: [ObjectPath] = [
        "/", "/org/bluez", "/org/bluez/hci0", "/org/bluez/hci1", "/org/bluez/hci0/dev_F0_F1_F2_F3_F4_F5",
        "/org/bluez/hci0/dev_", "/org/bluez/hci0/a/b/c", "/org/bluez/hci1/dev_00_00_00_00_00_01",
    ]
    static let ours: [ObjectPath] = [
        "/org/mynah/agent", "/org/mynah/advertisement", "/org/mynah/application1",
        "/org/mynah/application1/service0", "/org/mynah/application1/service0/char0",
        "/org/mynah/application1/service0/char1", "/org/mynah/application1/service0/char2",
        "/org/mynah/application1/service0/char1/desc0",
    ]
    static let methods: [(String, [String])] = [
        (
            "org.bluez.GattCharacteristic1",
            ["ReadValue", "WriteValue", "StartNotify", "StopNotify", "Confirm", "AcquireNotify"]
        ),
        ("org.bluez.GattDescriptor1", ["ReadValue", "WriteValue"]),
        ("org.bluez.LEAdvertisement1", ["Release"]),
        (
            "org.bluez.Agent1",
            [
                "RequestPasskey", "DisplayPasskey", "RequestConfirmation", "RequestAuthorization",
                "AuthorizeService",
                "Cancel", "RequestPinCode", "DisplayPinCode", "Release",
            ]
        ),
        ("org.freedesktop.DBus.Properties", ["Get", "Set", "GetAll"]),
        ("org.freedesktop.DBus.ObjectManager", ["GetManagedObjects"]),
        ("org.freedesktop.DBus.Peer", ["Ping", "Other"]),
    ]
}

extension BlueZStandIn {
    var applicationOwner: String? { adapters["hci0"]?.applications.first?.owner }

    /// Tells of the adapter's object what is not so.
    func signal(_ member: String, _ interfaces: DBusValue) {
        try? connection?.emit("/", "org.freedesktop.DBus.ObjectManager", member) { body in
            body.append("/org/bluez/hci0" as ObjectPath)
            body.append(interfaces)
        }
    }

    /// One signal or one call that bluetoothd would not make.
    func make(_ noise: inout Noise, at owner: String) async {
        guard let connection else { return }
        let values = [noise.value(), noise.value(), noise.value()]
        switch noise.pick([0, 1, 2, 3, 3, 3]) {
        case 0:
            let (path, interfaces) = (noise.path(), noise.interfaces())
            let isOdd = noise.chance(4)
            try? connection.emit("/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded") { body in
                body.append(path)
                body.append(isOdd ? values[0] : interfaces)
            }
        case 1:
            let (path, names) = (noise.path(), [noise.pick(Noise.interfaces), noise.pick(Noise.interfaces)])
            try? connection.emit("/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved") { body in
                body.append(path)
                body.append(.strings(names))
            }
        case 2:
            let (interface, properties) = (noise.pick(Noise.interfaces), noise.properties())
            let isOdd = noise.chance(4)
            try? connection.emit(noise.path(), "org.freedesktop.DBus.Properties", "PropertiesChanged") {
                body in
                body.append(interface)
                body.append(isOdd ? values[0] : properties)
                body.append(.strings([]))
            }
        default:
            let (interface, members) = noise.pick(Noise.methods)
            let shape = noise.pick([0, 1, 2, 3, 4])
            let options = DBusValue.options([
                ("device", noise.chance(3) ? values[0] : .objectPath(noise.path())),
                ("offset", noise.chance(3) ? values[1] : .uint16(600)), ("mtu", .uint16(3)),
            ])
            let path = noise.path()
            _ = try? connection.sendWithoutReply(
                owner, noise.pick(Noise.ours), interface, noise.pick(members)
            ) {
                body in
                switch shape {
                case 0: body.append(options)
                case 1:
                    body.append(.bytes([1, 2, 3]))
                    body.append(options)
                case 2: body.append(path)
                case 3:
                    body.append(path)
                    body.append(UInt32.max)
                    body.append(UInt16.max)
                default: for value in values { body.append(value) }
                }
            }
        }
    }

    /// Returns when the application has answered.
    func ping(_ owner: String) async {
        _ = try? await connection?.call(owner, "/", "org.freedesktop.DBus.Peer", "Ping")
    }
}
