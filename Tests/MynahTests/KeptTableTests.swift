import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

@testable import Mynah

/// The attribute tables of bonded devices, which a phone keeps for its apps.
@Suite(.timeLimit(.minutes(5))) struct KeptTableTests {
    /// An app that connects to a device again and again.
    private struct Rig {
        private let address = DeviceAddress(value: 1, kind: .public)
        let radio = FakeCentralRadio()
        let phone: Phone
        let manager: CentralManager
        let strap: Peripheral
        let sink = RecordingSink()
        private let code = CentralApp(nil)
        private let app: App

        init(
            isApp: Bool = true, directory: StateDirectory? = nil, isTerminated: Bool = false
        ) async throws {
            phone = Phone(
                radio: radio, identity: DeviceIdentity(name: "iPhone"), stateDirectory: directory, sink: sink)
            app = await phone.makeApp(
                AppDescription(name: "test"), delegate: code, clock: ManualClock(),
                isTerminated: isTerminated)
            await app.enterForeground()
            try await phone.start()
            let program = try await phone.makeCentralManager(sink: CentralApp(nil))
            try await program.start()
            let manager = isApp ? try #require(code.manager) : program
            self.manager = manager
            strap = await manager.peripheral(at: address)
            try await until("Bluetooth is on") { await manager.state == .poweredOn }
        }

        func connect(_ link: UInt32, isBonded: Bool) async throws {
            let (radio, strap, address) = (radio, strap, address)
            try await manager.connect(strap, options: ConnectOptions())
            try await until("the radio is asked to connect") { await radio.isAsked(for: address) }
            await radio.connect(Peer(id: .init(link), address: address, isPaired: isBonded), asked: address)
            try await until("it is connected") { await strap.isConnected }
        }

        func disconnect() async throws {
            let strap = strap
            await manager.cancelPeripheralConnection(strap)
            try await until("it is disconnected") { await !strap.isConnected }
        }

        /// Discovers everything, and returns what the device was asked for.
        func discover() async throws -> [String] {
            let before = await radio.requests.count
            let found = try await strap.discoverAll()
            #expect(found.map(\.uuid) == ["180D", "180F"])
            #expect(found.first?.characteristics.map(\.uuid) == ["2A37", "2A38"])
            return Array(await radio.requests.dropFirst(before))
        }

        func forget() async { _ = await PhoneControl.forgetPeripheral(at: address, on: phone) }

        func restartBluetooth() async throws {
            let manager = manager
            await radio.setPower(false)
            await radio.setPower(true)
            try await until("Bluetooth is on") { await manager.state == .poweredOn }
        }
    }

    private static let all = ["services all", "characteristics 180D", "characteristics 180F"]

    @Test func `an app's discovery of a bonded device asks the device once`() async throws {
        let rig = try await Rig()
        // It pairs on the first link.
        try await rig.connect(1, isBonded: false)
        #expect(try await rig.discover() == Self.all)
        await rig.radio.simulate(.paired(.init(1)))
        try await rig.disconnect()
        try await rig.connect(2, isBonded: true)
        #expect(try await rig.discover() == [])
        #expect(try await rig.strap.discoverServices(["180F"]).map(\.uuid) == ["180F"])
        #expect(await rig.radio.requests == Self.all)
        await rig.phone.stop()
    }

    @Test func `a device without a bond is asked on each link, and a program asks each time`() async throws {
        for isApp in [true, false] {
            let rig = try await Rig(isApp: isApp)
            for link in [1, 2] as [UInt32] {
                try await rig.connect(link, isBonded: !isApp)
                #expect(try await rig.discover() == Self.all)
                try await rig.disconnect()
            }
            await rig.phone.stop()
        }
    }

    @Test func `after Service Changed a bonded device is asked again`() async throws {
        let rig = try await Rig()
        try await rig.connect(1, isBonded: true)
        #expect(try await rig.discover() == Self.all)
        await rig.radio.simulate(.servicesChanged(.init(1), 7...10))
        #expect(try await rig.discover() == Self.all)
        try await rig.disconnect()
        try await rig.connect(2, isBonded: true)
        #expect(try await rig.discover() == [])
        await rig.phone.stop()
    }

    @Test func `an answer from before Service Changed is not kept`() async throws {
        let rig = try await Rig()
        let (radio, strap) = (rig.radio, rig.strap)
        try await rig.connect(1, isBonded: true)
        await radio.holdDiscovery()
        let asking = Task { try await strap.discoverServices() }
        try await until("the device is asked") { await radio.heldCount == 1 }
        await radio.simulate(.servicesChanged(.init(1), 1...10))
        await radio.releaseReads()
        _ = try await asking.value
        #expect(try await rig.discover() == Self.all)
        await rig.phone.stop()
    }

    @Test(arguments: ["forgotten", "paired anew", "Bluetooth was off"])
    func `a device is asked again after its bond or Bluetooth ended`(end: String) async throws {
        let rig = try await Rig()
        try await rig.connect(1, isBonded: true)
        #expect(try await rig.discover() == Self.all)
        switch end {
        case "forgotten":
            await rig.forget()
        case "paired anew":
            // The bond was deleted without the phone's saying so.
            try await rig.disconnect()
            try await rig.connect(2, isBonded: false)
        default: try await rig.restartBluetooth()
        }
        try await rig.disconnect()
        try await rig.connect(3, isBonded: true)
        #expect(try await rig.discover() == Self.all)
        await rig.phone.stop()
    }

    /// A run in which the device is connected with its bond; returns what the device was asked for.
    private func run(
        in temporary: TemporaryDirectory, isTerminated: Bool = false,
        _ body: (Rig) async throws -> Void = { _ in }
    ) async throws -> [String] {
        let directory = try StateDirectory(path: temporary.path)
        let rig = try await Rig(directory: directory, isTerminated: isTerminated)
        try await rig.connect(1, isBonded: true)
        let asked = try await rig.discover()
        try await body(rig)
        await rig.phone.stop()
        return asked
    }

    @Test(arguments: ["", "forgotten", "Bluetooth was off", "Service Changed", "restarted", "damaged"])
    func `the next run asks a bonded device nothing, unless the phone has asked anew`(
        end: String
    ) async throws {
        let temporary = try TemporaryDirectory()
        let first = try await run(in: temporary) { rig in
            switch end {
            case "forgotten": await rig.forget()
            case "Bluetooth was off": try await rig.restartBluetooth()
            case "Service Changed": await rig.radio.simulate(.servicesChanged(.init(1), 1...10))
            default: break
            }
        }
        #expect(first == Self.all)
        if end == "damaged" { try temporary.write(#"{"mynahState": 1}"#, to: "attribute-tables.json") }
        let second = try await run(in: temporary, isTerminated: end == "restarted") { rig in
            let warnings = rig.sink.phoneEvents.compactMap { event in
                if case .warning(let warning) = event { warning.code } else { nil }
            }
            #expect(warnings == (end == "damaged" ? ["attributeTablesUnusable"] : []))
        }
        #expect(second == (end.isEmpty ? [] : Self.all))
        // The table is in the file again.
        #expect(try await run(in: temporary) == [])
    }

    @Test func `the table of a device without a bond is not kept`() async throws {
        let temporary = try TemporaryDirectory()
        for _ in 0..<2 {
            let rig = try await Rig(directory: try StateDirectory(path: temporary.path))
            try await rig.connect(1, isBonded: false)
            #expect(try await rig.discover() == Self.all)
            await rig.phone.stop()
            #expect(!temporary.files.contains("attribute-tables.json"))
        }
    }

    @Test func `a run keeps the tables of the devices that were linked last`() async throws {
        let temporary = try TemporaryDirectory()
        let rig = try await Rig(directory: try StateDirectory(path: temporary.path))
        let (radio, manager) = (rig.radio, rig.manager)
        let addresses = (1...UInt64(KeptTables.limit + 1)).map { DeviceAddress(value: $0, kind: .public) }
        for address in addresses {
            let device = await manager.peripheral(at: address)
            try await manager.connect(device, options: ConnectOptions())
            await radio.answer(address, link: UInt32(address.value), isBonded: true)
            try await device.discoverServices()
        }
        await rig.phone.stop()
        let text = try temporary.read("attribute-tables.json")
        #expect(addresses.filter { !text.contains("\"\($0)\"") } == [addresses[0]])
    }

    @Test func `the table of a device whose address changes is in the file under the new one`() async throws {
        let temporary = try TemporaryDirectory()
        let directory = try StateDirectory(path: temporary.path)
        let rig = try await Rig(directory: directory)
        try await rig.connect(1, isBonded: true)
        #expect(try await rig.discover() == Self.all)
        let new = DeviceAddress(value: 0xC0_0000_0000_09, kind: .random)
        await rig.radio.simulate(.peerChanged(Peer(id: .init(1), address: new, isPaired: true)))
        // Nothing else saves it: a run that is killed has it.
        try await until("the file has the new address") {
            let text = (try? temporary.read("attribute-tables.json")) ?? ""
            return text.contains("\"\(new)\"") && !text.contains("00:00:00:00:00:01")
        }
        await rig.phone.stop()
    }

    @Test func `values end when Bluetooth is turned off`() async throws {
        let rig = try await Rig()
        try await rig.connect(1, isBonded: false)
        _ = try await rig.discover()
        let rate = try #require(await rig.strap.characteristic("2A37"))
        let values = try await rig.strap.values(of: rate)
        let radio = rig.radio
        await radio.simulate(.notified(.init(1), 3, [0, 72], .notification))
        await radio.setPower(false)
        var received: [[UInt8]] = []
        for await value in values { received.append(value) }
        #expect(received == [[0, 72]])
        await rig.phone.stop()
    }

    @Test func `a file has all that was asked for, and a wrong one says what is wrong`() throws {
        var number = 0
        func next() -> KeptTables.Table {
            number += 1
            return KeptTables.Table(number: number)
        }
        let service = RemoteService(uuid: "180D", handles: 1...9)
        let characteristic = RemoteCharacteristic(
            uuid: "2A37", properties: [.notify, .read], declaration: 2, handle: 3, end: 5)
        var table = next()
        table.note([service], to: .primary(nil))
        table.note([service], to: .primary("180D"))
        table.note([RemoteService(uuid: "180F", isPrimary: false, handles: 10...12)], to: .secondary)
        table.note([], to: .included(in: service))
        table.note([characteristic], of: service)
        table.note([RemoteDescriptor(uuid: "2902", handle: 4)], of: characteristic)
        let device = TableFile.Device(address: DeviceAddress(value: 1, kind: .random), table: table)
        let file = TableFile(devices: [device])
        number = 0
        #expect(try TableFile(json: file.json, next) == file)
        for (text, reason) in [
            (#"{"mynahState": 1}"#, "devices are missing"),
            (#"{"mynahState": 1, "devices": [{}]}"#, "a device has no address"),
            (
                #"{"mynahState": 1, "devices": [{"address": "00:00:00:00:00:01", "addressKind": "public"}]}"#,
                "discoveries are missing"
            ),
        ] {
            let json = try JSON(parsing: Array(text.utf8))
            let error = #expect(throws: PreservedStateProblem.self) { try TableFile(json: json, next) }
            #expect(error?.description == reason)
        }
    }

    @Test func `a table with too many attributes, or with none, is not kept`() {
        var table = KeptTables.Table(number: 1)
        table.note(
            (1...UInt16(KeptTables.Table.limit)).map { number in
                let handle = AttributeHandle(rawValue: number)
                return RemoteService(uuid: "180D", handles: handle...handle)
            }, to: .primary(nil))
        #expect(table.isKept)
        table.note([RemoteService(uuid: "180F", isPrimary: false, handles: 600...600)], to: .secondary)
        #expect(!table.isKept)
        #expect(!KeptTables.Table(number: 1).isKept)
    }
}
