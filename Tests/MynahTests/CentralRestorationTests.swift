import Glibc
import MynahCore
import MynahLifecycle
import MynahSupport
import MynahTestSupport
import Testing

@testable import Mynah

/// The state that outlives the process of a phone whose app is a central, in files alone.
@Suite(.timeLimit(.minutes(15))) struct CentralRestorationTests {
    static let file = "central+test+com.example.lock.json"
    static let known = "known-peripherals.json"
    let temporary: TemporaryDirectory
    let strap = DeviceAddress(value: 1, kind: .public)
    let door = DeviceAddress(value: 0xC000_0000_0002, kind: .random)

    init() throws {
        temporary = try TemporaryDirectory()
    }

    /// One process: a phone with one app on a radio without air.
    private struct Process {
        let radio = FakeCentralRadio()
        let code = CentralApp("com.example.lock")
        let sink = RecordingSink()
        let directory: StateDirectory
        let phone: Phone
        let app: App

        init(_ temporary: TemporaryDirectory, hasMode: Bool, isTerminated: Bool) async throws {
            directory = try StateDirectory(path: temporary.path)
            phone = Phone(
                radio: radio, identity: DeviceIdentity(name: "iPhone"), stateDirectory: directory, sink: sink)
            var rules = AppRules()
            if hasMode { rules.backgroundModes = [.bluetoothCentral] }
            let description = AppDescription(
                name: "test", rules: rules, centralRestoreIdentifiers: ["com.example.lock"])
            app = await phone.makeApp(
                description, delegate: code, clock: ManualClock(), isTerminated: isTerminated)
            if !isTerminated { await app.enterForeground() }
            try await phone.start()
            guard !isTerminated else { return }
            let code = code
            try await until("Bluetooth is on") {
                code.state.withLock { $0.words.contains("state poweredOn") }
            }
        }

        func manager() throws -> CentralManager { try #require(code.manager) }

        func wait(for address: DeviceAddress) async throws -> Peripheral {
            let manager = try manager()
            let peripheral = await manager.peripheral(at: address)
            var options = ConnectOptions()
            options.notifyOnDisconnection = true
            try await manager.connect(peripheral, options: options)
            let radio = radio
            try await until("the radio is asked to connect") { await radio.isAsked(for: address) }
            return peripheral
        }

        /// Connects a strap and subscribes to its heart rate.
        func subscribe(to address: DeviceAddress, isBonded: Bool = false) async throws -> Peripheral {
            let strap = try await wait(for: address)
            await radio.answer(address, link: 1, isBonded: isBonded)
            try await strap.discoverAll()
            try await strap.setNotifyValue(true, for: try #require(await strap.characteristic("2A37")))
            return strap
        }

        var warnings: [String] {
            sink.phoneEvents.compactMap { event in
                if case .warning(let warning) = event { warning.message } else { nil }
            }
        }

        var restored: [RestoredCentralState] { code.state.withLock { $0.restored } }
    }

    /// A process that ends as a killed one does: nothing is withdrawn, and only the files are left.
    private func run(
        hasMode: Bool = true, isTerminated: Bool = false, _ body: (Process) async throws -> Void
    ) async throws {
        let process = try await Process(temporary, hasMode: hasMode, isTerminated: isTerminated)
        try await body(process)
        // The lock goes with the process; here with the phone.
        await process.phone.stop()
    }

    /// A strap is subscribed to, a door is waited for, and a service is scanned for.
    private func work(in process: Process) async throws -> [PeripheralIdentifier] {
        let strap = try await process.subscribe(to: strap)
        let door = try await process.wait(for: door)
        try await process.manager().scanForPeripherals(
            withServices: ["180D"], options: ScanOptions(allowsDuplicates: true))
        return [strap.identifier, door.identifier]
    }

    @Test func `scans, requests, connections and subscriptions are restored in another process`()
        async throws
    {
        var identifiers: [PeripheralIdentifier] = []
        try await run { identifiers = try await work(in: $0) }
        try await run { process in
            #expect(
                process.code.takeWords() == ["launched", "willRestoreState", "foreground", "state poweredOn"])
            let restored = try #require(process.restored.first)
            #expect(restored.scanServices == ["180D"])
            #expect(restored.scanOptions == ScanOptions(allowsDuplicates: true))
            #expect(restored.peripherals.map(\.identifier) == identifiers)
            #expect(restored.peripherals.map(\.address) == [strap, door])
            let again = try #require(restored.peripherals.first)
            #expect(await again.state == .connecting)
            #expect(await again.services.map(\.uuid) == ["180D", "180F"])
            let rate = try #require(await again.characteristic("2A37"))
            #expect(rate.delivery == .notification && rate.value == nil)
            #expect(rate.descriptors?.map(\.uuid) == [GATT.clientConfiguration])
            #expect(await again.characteristic("2A38")?.descriptors == [])
            // The system goes on by itself.
            try await until("both are waited for") { await process.phone.wanted == [strap, door] }
            try await until("the scan goes on") { await process.radio.scanning?.allowsDuplicates == true }
            // The battery service has other handles now. A device without a bond is discovered anew.
            await process.radio.moveBattery(of: strap, isIndicated: false)
            await process.radio.answer(strap, link: 7)
            #expect(await again.state == .connected)
            #expect(await again.services == [])
            try await again.discoverAll()
            #expect(await process.radio.requests.first == "services all")
            #expect(await again.services.map { $0.attribute.handles.lowerBound } == [1, 8])
            #expect(await again.characteristic("2A37")?.delivery == nil)
            #expect(process.code.state.withLock { $0.words } == ["connected"])
        }
        // The restored state is preserved for the next process.
        try await run { process in
            #expect(process.restored.first?.peripherals.map(\.identifier) == identifiers)
        }
    }

    @Test(arguments: ["", "no table", "no bond", "other handles"])
    func `a bonded device keeps what was discovered, as far as its table in the file allows`(
        change: String
    ) async throws {
        try await run { _ = try await $0.subscribe(to: strap, isBonded: true) }
        let tables = "attribute-tables.json"
        if change == "no table" { #expect(unlink("\(temporary.path)/\(tables)") == 0) }
        if change == "other handles" {
            // The phone has learned of them after its app's state was kept.
            let text = try temporary.read(tables)
            let moved = [": ", ":"].reduce(text) {
                $0.replacing("\"handle\"\($1)4}", with: "\"handle\"\($1)5}")
            }
            try temporary.write(moved, to: tables)
            #expect(try temporary.read(tables) != text)
        }
        try await run { process in
            process.code.state.withLock { $0.words = [] }
            let again = try #require(process.restored.first?.peripherals.first)
            await process.radio.answer(strap, link: 7, isBonded: change != "no bond")
            guard change.isEmpty else {
                let left: [BluetoothUUID] = change == "other handles" ? ["180F"] : []
                #expect(await again.services.map(\.uuid) == left)
                return
            }
            #expect(await again.services.map(\.uuid) == ["180D", "180F"])
            #expect(await again.characteristic("2A37")?.delivery == .notification)
            try await until("the strap is subscribed to again") {
                await process.radio.requests == ["write 4 0100"]
            }
            await process.radio.simulate(.notified(.init(7), 3, [0, 72], .notification))
            try await until("the value came") {
                process.code.state.withLock { $0.words } == ["connected", "value 0048"]
            }
        }
    }

    @Test func `an app that was terminated before the phone was restarted is relaunched by its device`()
        async throws
    {
        try await run { _ = try await work(in: $0) }
        try await run(isTerminated: true) { process in
            try await until("both are waited for") { await process.phone.wanted == [strap, door] }
            try await until("the scan goes on, slower") {
                await process.radio.scanning?.allowsDuplicates == false
            }
            #expect(process.code.takeWords() == [])
            await process.radio.answer(door, link: 3)
            #expect(
                process.code.takeWords() == [
                    "launched in background", "willRestoreState", "state poweredOn", "woken by connected",
                    "connected",
                ])
            #expect(
                process.code.state.withLock { $0.options.last?.centralRestoreIdentifiers } == [
                    "com.example.lock"
                ])
            let states = try #require(process.restored.first?.peripherals)
            #expect(await states[0].state == .connecting)
            #expect(await states[1].state == .connected)
        }
    }

    @Test func `cancelled, stopped or lost requests are not restored`() async throws {
        try await run { process in
            _ = try await work(in: process)
            let manager = try process.manager()
            await manager.stopScan()
            let door = await manager.peripheral(at: door)
            await manager.cancelPeripheralConnection(door)
            await process.radio.lose(strap)
        }
        try await run { process in
            #expect(process.restored.isEmpty)
            #expect(process.code.takeWords() == ["launched", "foreground", "state poweredOn"])
            #expect(await process.radio.isQuiet)
        }
    }

    @Test func `a quit and a forgetting stop leave the known devices alone behind`() async throws {
        try await run { process in
            _ = try await work(in: process)
            await process.app.quit()
            // The state that the quit deletes is not read again.
            await process.app.enterForeground()
            #expect(process.restored.isEmpty)
        }
        #expect(temporary.files == [Self.known, "lock"])
        try await run { _ = try await work(in: $0) }
        #expect(temporary.files == [Self.file, Self.known, "lock"])
        try await run { await $0.phone.stop(forgetting: true) }
        #expect(temporary.files == [Self.known, "lock"])
    }

    @Test func `the user's quit of an app that was terminated deletes what was kept`() async throws {
        try await run { _ = try await work(in: $0) }
        try await run(isTerminated: true) { process in
            try await until("both are waited for") { await process.phone.wanted == [strap, door] }
            await process.app.quit()
            try await until("nothing is waited for") { await process.phone.wanted.isEmpty }
        }
        #expect(temporary.files == [Self.known, "lock"])
    }

    @Test func `without the background mode nothing is kept`() async throws {
        try await run(hasMode: false) { _ = try await work(in: $0) }
        #expect(temporary.files == [Self.known, "lock"])
        try await run { _ = try await work(in: $0) }
        try await run(hasMode: false) { process in
            #expect(process.restored.isEmpty)
            #expect(await process.radio.isQuiet)
        }
    }

    @Test func `a change is on its way to its file before it is reported`() async throws {
        try await run { process in
            let writer = process.directory.writer
            #expect(writer.latest == 0)
            await process.radio.hear(strap, "03030D18")
            // Nobody scans: the device is not known.
            #expect(writer.latest == 0)
            try await process.manager().scanForPeripherals(withServices: ["180D"])
            await writer.settle()
            #expect(try temporary.read(Self.file).contains("\"180D\""))
            let seen = writer.latest
            await process.radio.hear(strap, "03030D18")
            #expect(writer.latest > seen)
            _ = try await process.subscribe(to: strap)
            await writer.settle()
            #expect(try temporary.read(Self.file).contains("\"subscribed\": \"notification\""))
            let subscribed = writer.latest
            // Values and what was heard before change nothing that is kept.
            await process.radio.send(72, from: strap)
            await process.radio.hear(strap, "03030D18")
            #expect(writer.latest == subscribed)
            await process.radio.lose(strap)
            await writer.settle()
            #expect(try !temporary.read(Self.file).contains("subscribed"))
        }
    }

    @Test func `an identifier is the same in the next process, and retrieves its device`() async throws {
        var identifiers: [PeripheralIdentifier] = []
        try await run { process in
            identifiers = try await work(in: process)
            await process.radio.hear(strap, "0508537472617003030D18")
        }
        #expect(unlink(temporary.path + "/" + Self.file) == 0)
        try await run { process in
            #expect(process.restored.isEmpty)
            let found = try await process.manager().retrievePeripherals(withIdentifiers: identifiers)
            #expect(found.map(\.address) == [strap, door])
            let door = try await process.manager().peripheral(at: door)
            #expect(door.identifier == identifiers[1])
        }
        // Without the list the preserved state says who is who.
        try await run { identifiers = try await work(in: $0) }
        #expect(unlink(temporary.path + "/" + Self.known) == 0)
        try await run { process in
            #expect(process.restored.first?.peripherals.map(\.identifier) == identifiers)
            let door = try await process.manager().peripheral(at: door)
            #expect(door.identifier == identifiers[1])
        }
    }

    private static let head =
        #"{"mynahState": 1, "app": "test", "restoreIdentifier": "com.example.lock", "peripherals": "#

    private static func peripheral(_ rest: String) -> String {
        head + #"[{"identifier": "C1772850-7620-4BDD-9FFF-E2F3B9626902", "#
            + #""address": "00:00:00:00:00:01", "addressKind": "public", "# + rest + "}]}"
    }

    @Test(arguments: [
        "", "{", "[]", head + "[]}, ", head + "{}}",
        #"{"mynahState": 2, "app": "test", "restoreIdentifier": "com.example.lock", "peripherals": []}"#,
        #"{"mynahState": 1, "app": "other", "restoreIdentifier": "com.example.lock", "peripherals": []}"#,
        #"{"mynahState": 1, "app": "test", "restoreIdentifier": "other", "peripherals": []}"#,
        head + #"[], "scan": {}}"#,
        head + #"[], "scan": {"services": ["18"], "active": true, "allowDuplicates": true, "#
            + #""intervalMicroseconds": 60000, "windowMicroseconds": 30000}}"#,
        head + #"[], "scan": {"services": [], "active": true, "allowDuplicates": true, "#
            + #""intervalMicroseconds": 30000, "windowMicroseconds": 60000}}"#,
        head + #"[{"identifier": "1"}]}"#, peripheral(#""services": 1"#),
        peripheral(#""services": [{"uuid": "180D", "primary": true, "start": 6, "end": 1}]"#),
        peripheral(
            #""services": [{"uuid": "180D", "primary": true, "start": 1, "end": 6, "characteristics": ["#
                + #"{"uuid": "2A37", "properties": ["shout"], "declaration": 2, "handle": 3, "end": 4}]}]"#),
        peripheral(
            #""services": [{"uuid": "180D", "primary": true, "start": 1, "end": 6, "characteristics": ["#
                + #"{"uuid": "2A37", "properties": [], "declaration": 2, "handle": 70000, "end": 4}]}]"#),
    ])
    func `a file that cannot be used is set aside, said and never lost`(text: String) async throws {
        try temporary.write(text, to: Self.file)
        try await run { process in
            #expect(process.restored.isEmpty)
            #expect(process.warnings.count == 1)
            #expect(process.warnings.first?.contains(Self.file + ".unusable-1") == true)
            _ = try await work(in: process)
        }
        #expect(try temporary.read(Self.file + ".unusable-1") == text)
        #expect(try temporary.read(Self.file).contains("180D"))
    }

    @Test(arguments: [
        "", "[]", #"{"mynahState": 9, "peripherals": []}"#, #"{"mynahState": 1}"#,
        #"{"mynahState": 1, "peripherals": [{"identifier": "C1772850-7620-4BDD-9FFF-E2F3B9626902"}]}"#,
        #"{"mynahState": 1, "peripherals": [{"address": "00:00:00:00:00:01", "addressKind": "public"}]}"#,
    ])
    func `a list of known devices that cannot be used is set aside`(text: String) async throws {
        try temporary.write(text, to: Self.known)
        try await run { process in
            #expect(process.warnings.count == 1)
            #expect(process.warnings.first?.contains(Self.known + ".unusable-1") == true)
            _ = try await work(in: process)
        }
        #expect(try temporary.read(Self.known + ".unusable-1") == text)
        #expect(try temporary.read(Self.known).contains("00:00:00:00:00:01"))
    }
}
