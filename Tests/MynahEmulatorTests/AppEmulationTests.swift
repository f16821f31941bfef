import Mynah
import MynahCore
import MynahEmulator
import MynahLifecycle
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct AppEmulationTests {
    static let services = """
        services:
          - uuid: 180D
            characteristics:
              - {uuid: 2A37, properties: [read, notify], value: {generate: heart-rate}, every: 1 s}
              - {uuid: 2A38, properties: [read], value: {hex: 01}}
              - {uuid: 2A39, properties: [read, write], value: {hex: "00"}}
          - uuid: 1810
            characteristics:
              - {uuid: 2A19, properties: [read, notify], value: {generate: heart-rate}, every: 1 s}
        """
    static let profile = """
        mynah: 1
        name: Test
        app: {backgroundModes: [bluetooth-peripheral], restoreIdentifier: com.example.hrm}
        advertising: {localName: Fred, serviceUUIDs: [C007]}

        """ + services
    static let background = "14FF4C000100000000100000000000000000000000"

    let radio = FakeRadio()
    let clock = ManualClock()
    let log = EventLog()
    let peer = Peer(id: .init(7), address: DeviceAddress("AA:BB:CC:DD:EE:FF", kind: .random))

    func emulator(
        _ texts: [String] = [profile], state: Profile.App.StartState? = nil, isTerminated: Bool = false,
        directory: StateDirectory? = nil
    ) throws -> Emulator {
        let log = log
        let devices = try texts.map { text in
            var device = EmulatedDevice(try ProfileLoader.load(text: text, file: "test.yaml"), seed: 1)
            if let state { device.app?.startState = state }
            device.app?.isTerminated = isTerminated
            return device
        }
        return Emulator(
            devices, on: radio, clock: clock, stateDirectory: directory,
            wallTime: { WallTime(microseconds: 0) }, observer: { log.append($0) })
    }

    @Test func `a radio that cannot be turned off is a warning`() async throws {
        let emulator = try emulator()
        try await emulator.start()
        await emulator.carryOut(.setPower(false), on: .named("nobody"))
        #expect(!log.names.contains(.warning))
        await emulator.carryOut(.setPower(false))
        try await wait(for: .warning)
        await emulator.stop()
    }

    func key(_ uuid: BluetoothUUID) async throws -> AttributeKey {
        let all = await radio.published.flatMap(\.services).flatMap(\.characteristics)
        return try #require(all.first { $0.uuid == uuid }).key
    }

    func wait(for name: DeviceEvent.Name, count: Int = 1) async throws {
        try await until("the event \(name.rawValue) is reported \(count) times") {
            log.names.count(where: { $0 == name }) >= count
        }
    }

    func read(_ key: AttributeKey) async throws -> PendingReply.Outcome? {
        try await radio.request(.read(ReadRequest(central: peer.id, attribute: key)))
    }

    @Test func `an app that starts in the background goes on the air as one, and not before`() async throws {
        try await emulator(state: .background).start()
        #expect(
            log.names == [
                .appLaunched, .appForeground, .stateChanged, .appBackground, .advertisingStarted, .ready,
            ])
        let air = try #require(log.all.first { $0.name == .advertisingStarted })
        #expect(air.string("data") == "02011A")
        #expect(air.string("scanResponse") == Self.background)
        #expect(air["intervalMaximumMilliseconds"] == .number(187.5))
        // The radio knows the shortest interval alone; a new address does not change what an iPhone adds to
        // it.
        let interval = Duration.microseconds(181_250)
        var report = AdvertisingReport(isOn: true, data: [2, 1, 0x1A], interval: interval...interval)
        report.address = DeviceAddress("4A:00:00:00:00:01", kind: .random)
        await radio.simulate(.advertisingChanged(report))
        let change = try #require(log.all.last)
        #expect(change.name == .advertisingChanged && change.string("address") == "4A:00:00:00:00:01")
        #expect(change["intervalMaximumMilliseconds"] == .number(187.5))
    }

    @Test func `a foreground-only app that starts suspended is published and silent`() async throws {
        let text = "mynah: 1\nname: Test\napp: {}\nadvertising: {serviceUUIDs: [C007]}\n" + Self.services
        let emulator = try emulator([text], state: .suspended)
        try await emulator.start()
        #expect(
            log.names == [.appLaunched, .appForeground, .stateChanged, .appBackground, .appSuspended, .ready])
        #expect(await radio.advertisement == nil)
        #expect(try await read(try key("2A39")) == .failure(.unlikelyError))
        #expect(await radio.values[try key("2A38")] == [1])
        await emulator.carryOut(.enterForeground)
        try await wait(for: .advertisingStarted)
        #expect(try await read(try key("2A39")) == .success([0]))
    }

    @Test func `values with every stop while suspended, and are sent in the time of a wake`() async throws {
        let emulator = try emulator()
        try await emulator.start()
        let rate = try await key("2A37")
        await radio.simulate(.subscribed(rate, nil, nil))
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        try await wait(for: .notified)
        await emulator.carryOut(.suspend)
        clock.advance(by: .seconds(60))
        #expect(log.names.count { $0 == .notified } == 1)
        _ = try await read(rate)
        #expect(log.names.suffix(2) == [.appWoken, .read])
        // Values that were due meanwhile are not sent later; ten ticks later the wake is over.
        for tick in 1...9 {
            try await clock.waitForSleepers(2)
            clock.advance(by: .seconds(1))
            try await wait(for: .notified, count: 1 + tick)
        }
        try await clock.waitForSleepers(2)
        clock.advance(by: .seconds(1))
        try await wait(for: .appSuspended, count: 2)
        clock.advance(by: .seconds(60))
        #expect((10...11).contains(log.names.count { $0 == .notified }))
        #expect(!log.names.contains(.appExtraneous))
    }

    @Test func `a woken app that sends what nobody woke it for does something extraneous, told once`()
        async throws
    {
        let emulator = try emulator()
        try await emulator.start()
        let rate = try await key("2A37")
        let level = try await key("2A19")
        await radio.simulate(.subscribed(level, nil, nil))
        await emulator.carryOut(.suspend)
        _ = try await read(rate)
        for tick in 1...3 {
            try await clock.waitForSleepers(2)
            clock.advance(by: .seconds(1))
            try await wait(for: .notified, count: tick)
        }
        let extraneous = log.all.filter { $0.name == .appExtraneous }
        #expect(extraneous.map { $0.string("characteristic") } == ["2A19"])
    }

    @Test func `a read relaunches a terminated app: launched, restored, the state, woken, and the read`()
        async throws
    {
        let emulator = try emulator()
        try await emulator.start()
        let control = try await key("2A39")
        let write = WriteRequest(
            central: peer.id, parts: [.init(attribute: control, value: [5])], wantsResponse: true)
        #expect(try await radio.request(.write(write)) == .success([]))
        await emulator.carryOut(.terminate)
        let before = log.names.count
        // Its memory is gone with it.
        #expect(try await read(control) == .success([0]))
        #expect(
            Array(log.names.dropFirst(before)) == [
                .appLaunched, .appRestored, .stateChanged, .appWoken, .read,
            ])
        let launched = try #require(log.all.last { $0.name == .appLaunched })
        #expect(launched["restoreIdentifiers"] == .array([.string("com.example.hrm")]))
        #expect(launched["inBackground"] == .bool(true))
        #expect(await radio.published.count == 1)
    }

    @Test func `after a kill the next run restores all, with the state last`() async throws {
        let temporary = try TemporaryDirectory()
        do {
            let first = try emulator(directory: try StateDirectory(path: temporary.path))
            try await first.start()
            await radio.simulate(.connected(peer))
            await radio.simulate(.subscribed(try key("2A37"), peer.id, .notification))
            // Ends without withdrawing, as far as the directory can tell.
            await first.stop()
        }
        let second = AppEmulationTests()
        let emulator = try second.emulator(directory: try StateDirectory(path: temporary.path))
        try await emulator.start()
        #expect(
            second.log.names == [
                .appLaunched, .appRestored, .appForeground, .stateChanged, .advertisingStarted, .ready,
            ])
        let restored = try #require(second.log.all.first { $0.name == .appRestored })
        #expect(restored["services"] == .array([.string("180D"), .string("1810")]))
        #expect(
            restored["subscribers"]?.arrayValue?.first?["central"] == .string("AA:BB:CC:DD:EE:FF"))
        #expect(restored["subscribers"]?.arrayValue?.first?["live"] == .bool(false))
        #expect(await second.radio.published.count == 1)
        #expect(try await second.read(try second.key("2A39")) == .success([0]))
        await second.radio.simulate(.subscribed(try second.key("2A37"), nil, nil))
        try await second.clock.waitForSleepers(1)
        second.clock.advance(by: .seconds(1))
        try await second.wait(for: .notified)
        await emulator.stop(forgetting: true)
        #expect(temporary.files == ["lock"])
    }

    @Test func `another profile than the one that was kept is published anew, and says so`() async throws {
        let temporary = try TemporaryDirectory()
        do {
            let first = try emulator(directory: try StateDirectory(path: temporary.path))
            try await first.start()
            await first.stop()
        }
        let second = AppEmulationTests()
        let text = Self.profile.replacingAll("2A39", by: "2A3A").replacingAll("Fred", by: "Barney")
        let emulator = try second.emulator([text], directory: try StateDirectory(path: temporary.path))
        try await emulator.start()
        #expect(second.log.all.contains { $0.string("code") == "restoredServicesDiffer" })
        #expect(await second.radio.published.count == 1)
        #expect(try await second.read(try second.key("2A3A")) == .success([0]))
        #expect(await second.radio.advertisement?.exact?.data.bytes.suffix(6) == Array("Barney".utf8)[...])
    }

    @Test func `two apps of one phone say whose event it is, and share the air`() async throws {
        let emulator = try emulator([Self.profile, Self.other], state: .background)
        try await emulator.start()
        let launched = log.all.filter { $0.name == .appLaunched }
        #expect(launched.map { $0.string("device") } == ["Test", "Other"])
        #expect(log.names.count { $0 == .advertisingStarted } == 1)
        let air = try #require(log.all.first { $0.name == .advertisingStarted })
        #expect(air.string("scanResponse") == "14FF4C000100000000100000020000000000000000")
        #expect(log.names.count { $0 == .ready } == 1)
    }

    @Test func `a request that the phone answers for an app is an event of the app's device`() async throws {
        let text = Self.profile.replacingAll("Test", by: "Only").replacingAll("bluetooth-peripheral", by: "")
        let emulator = try emulator([Self.other, text])
        try await emulator.start()
        await radio.simulate(.connected(peer))
        await emulator.carryOut(.suspend, on: .named("Only"))
        #expect(try await read(try await key("2A39")) == .failure(.unlikelyError))
        let refused = try #require(log.all.last)
        #expect(refused.name == .requestRefused)
        #expect(
            refused.json.text.hasSuffix(
                #"""
                "device":"Only","central":"AA:BB:CC:DD:EE:FF","service":"180D","characteristic":"2A39",\#
                "by":"read","error":"0x0E","because":"suspended"}
                """#
            ))
        let long = RefusedRequest(
            central: peer.id, attribute: try await key("2A39"), access: .write,
            error: .invalidAttributeValueLength)
        await radio.simulate(.refused(long))
        #expect(log.all.last?.string("because") == "length")
        #expect(log.all.last?.string("error") == "0x0D")
    }

    @Test func `a static read of a terminated app is an event, and does not launch it`() async throws {
        let emulator = try emulator()
        try await emulator.start()
        await emulator.carryOut(.terminate)
        await radio.simulate(
            .answeredRead(ReadRequest(central: peer.id, attribute: try await key("2A38")), [1]))
        #expect(log.all.last?.name == .read)
        #expect(log.all.last?.string("characteristic") == "2A38")
        #expect(log.all.last?.string("value") == "01")
    }

    @Test func `a terminated app is served without it, and a read relaunches it`() async throws {
        let temporary = try TemporaryDirectory()
        let second = try await afterAnotherRun(in: temporary)
        let emulator = try second.emulator(
            isTerminated: true, directory: try StateDirectory(path: temporary.path))
        try await emulator.start()
        #expect(second.log.names == [.stateChanged, .advertisingStarted, .ready])
        let air = try #require(second.log.all.first { $0.name == .advertisingStarted })
        #expect(air.string("scanResponse") == Self.background)
        #expect(second.log.all.last?["services"] == .array([.string("180D"), .string("1810")]))
        let fixed = ReadRequest(central: peer.id, attribute: try await second.key("2A38"))
        await second.radio.simulate(.answeredRead(fixed, [1]))
        #expect(second.log.names.last == .read)
        #expect(try await second.read(try second.key("2A39")) == .success([0]))
        #expect(
            second.log.names.dropFirst(4) == [.appLaunched, .appRestored, .stateChanged, .appWoken, .read])
        #expect(
            second.log.all.first { $0.name == .appLaunched }?["restoreIdentifiers"]
                == .array([.string("com.example.hrm")]))
        await emulator.carryOut(.enterForeground)
        #expect(second.log.names.last == .appForeground || second.log.names.last == .advertisingChanged)
        #expect(await second.radio.published.count == 1)
    }

    @Test func `a terminated app that preserved nothing is silent until its user opens it`() async throws {
        let temporary = try TemporaryDirectory()
        let emulator = try emulator(
            [Self.profile, Self.other], isTerminated: true,
            directory: try StateDirectory(path: temporary.path))
        try await emulator.start()
        #expect(log.names == [.warning, .warning, .stateChanged, .ready])
        #expect(log.all.first?.string("code") == "nothingPreserved")
        #expect(log.all.last?["services"] == .array([]))
        #expect(await radio.published.isEmpty)
        await emulator.carryOut(.enterForeground)
        try await wait(for: .advertisingStarted)
        #expect(lives == ["Test launched", "Test foreground"])
    }

    static let other = """
        mynah: 1
        name: Other
        app: {backgroundModes: [bluetooth-peripheral]}
        advertising: {localName: Other, serviceUUIDs: [1001]}
        services: [{uuid: 181C, characteristics: []}]
        """

    /// The steps of apps' lives so far, each with its device.
    private var lives: [String] {
        log.all.filter { $0.name.rawValue.hasPrefix("app.") }.map {
            "\($0.string("device") ?? "") \($0.name.rawValue.dropFirst(4))"
        }
    }

    @Test(
        arguments: [
            (
                [.foreground, .foreground],
                [
                    "Test launched", "Test foreground", "Test background", "Other launched",
                    "Other foreground",
                    "Other background", "Test foreground",
                ]
            ),
            (
                [.background, .foreground],
                [
                    "Test launched", "Test foreground", "Test background", "Other launched",
                    "Other foreground",
                ]
            ),
            (
                [.suspended, .background],
                [
                    "Test launched", "Test foreground", "Test background", "Test suspended", "Other launched",
                    "Other foreground", "Other background",
                ]
            ),
        ] as [([Profile.App.StartState], [String])])
    func `apps open in order, and the first that starts in the foreground is there in the end`(
        states: [Profile.App.StartState], expected: [String]
    ) async throws {
        let texts = zip([Self.profile, Self.other], states).map { text, state in
            text.replacingAll("app: {", by: "app: {state: \(state.rawValue), ")
        }
        try await emulator(texts).start()
        #expect(lives == expected)
        let warnings = log.all.filter { $0.string("code") == "startsInBackground" }
        #expect(
            warnings.map { $0.string("device") } == (states == [.foreground, .foreground] ? ["Other"] : []))
        #expect(log.names.last == .ready)
        #expect(await radio.published.flatMap(\.services).count == 3)
    }

    @Test func `a step is for the app it names, and without a name for every app or the last in front`()
        async throws
    {
        let emulator = try emulator([Self.profile, Self.other])
        try await emulator.start()
        func expect(_ expected: [String], _ body: () async -> Void) async {
            let before = lives.count
            await body()
            #expect(Array(lives.dropFirst(before)) == expected)
        }
        await expect(["Test background", "Other foreground"]) {
            await emulator.carryOut(.enterForeground, on: .named("Other"))
        }
        await expect(["Test suspended"]) { await emulator.carryOut(.suspend, on: .named("Test")) }
        await expect(["Other background"]) { await emulator.carryOut(.enterBackground) }
        await expect(["Other foreground"]) { await emulator.carryOut(.enterForeground) }
        await expect(["Other quit"]) { await emulator.carryOut(.quit, on: .lastInFront) }
        await expect(["Other launched", "Other foreground"]) { await emulator.carryOut(.enterForeground) }
        await expect([]) { await emulator.carryOut(.quit, on: .named("Nobody")) }
        await expect(["Test terminated", "Other terminated"]) { await emulator.carryOut(.terminate) }
    }

    @Test func `the user stops and starts advertising on the app's own screen only`() async throws {
        let emulator = try emulator()
        try await emulator.start()
        await emulator.carryOut(.stopAdvertising)
        try await wait(for: .advertisingStopped)
        // Services that the radio has lost are published again, and are not advertised.
        await radio.simulate(.stateChanged(.resetting))
        await radio.simulate(.stateChanged(.poweredOn))
        try await until("a service is published") { await !(radio.published.isEmpty) }
        await emulator.carryOut(.enterBackground)
        await emulator.carryOut(.startAdvertising)
        #expect(log.all.last?.string("code") == "notOnScreen")
        #expect(log.names.count { $0 == .advertisingStarted } == 1)
        await emulator.carryOut(.enterForeground)
        await emulator.carryOut(.startAdvertising, on: .named("Test"))
        try await wait(for: .advertisingStarted, count: 2)
        // It remembers that when its memory is gone.
        for end in [AppTransition.crash, .quit] {
            await emulator.carryOut(.stopAdvertising)
            try await wait(for: .advertisingStopped, count: end == .crash ? 2 : 3)
            await emulator.carryOut(.transition(end))
            await emulator.carryOut(.enterForeground)
            try await until("a service is published") { await !(radio.published.isEmpty) }
            #expect(await radio.advertisement == nil)
            await emulator.carryOut(.startAdvertising)
            try await wait(for: .advertisingStarted, count: end == .crash ? 3 : 4)
        }
    }

    @Test func `a step that an app cannot take because it does not run is a warning`() async throws {
        let emulator = try emulator()
        try await emulator.start()
        await emulator.carryOut(.terminate)
        for transition in [AppTransition.enterBackground, .suspend, .terminate, .crash] {
            await emulator.carryOut(.transition(transition))
        }
        let warnings = log.all.filter { $0.string("code") == "notRunning" }
            .compactMap { $0.string("message") }
        #expect(
            warnings == [
                "Test does not run, so it cannot leave the screen",
                "Test does not run, so it cannot be suspended",
                "Test does not run, so it cannot be terminated", "Test does not run, so it cannot crash",
            ])
    }

    @Test func `a second app's preserved services are on the radio when ready is reported`() async throws {
        let temporary = try TemporaryDirectory()
        let second = AppEmulationTests()
        for tests in [self, second] {
            let emulator = try tests.emulator(
                [Self.other, Self.profile], directory: try StateDirectory(path: temporary.path))
            try await emulator.start()
            #expect(await tests.radio.published.flatMap(\.services).count == 3)
            #expect(tests.log.names.last == .ready)
            await emulator.stop()
        }
        #expect(second.log.names.count { $0 == .appRestored } == 1)
    }

    @Test func `planned actions happen at their times, in order`() async throws {
        let emulator = try emulator()
        try await emulator.start()
        await emulator.plan(.transition(.enterBackground), after: .seconds(10))
        await emulator.plan(.transition(.enterForeground), after: .seconds(12))
        await emulator.plan(.transition(.quit), after: .seconds(20))
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(10))
        try await wait(for: .appBackground)
        try await clock.waitForSleepers(2)
        clock.advance(by: .seconds(2))
        try await wait(for: .appForeground, count: 2)
        clock.advance(by: .seconds(8))
        try await wait(for: .appQuit)
        try await until("the device stops advertising") { await radio.advertisement == nil }
        #expect(!log.names.contains(.appSuspended))
    }

    @Test func `actions planned for one time happen in their order`() async throws {
        let emulator = try emulator()
        try await emulator.start()
        for transition in [.enterBackground, .enterForeground, .suspend, .enterForeground, .quit]
            as [AppTransition]
        {
            await emulator.plan(.transition(transition), after: .seconds(10))
        }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(10))
        try await wait(for: .appQuit)
        #expect(
            log.names.filter { $0.rawValue.hasPrefix("app.") } == [
                .appLaunched, .appForeground, .appBackground, .appForeground, .appBackground, .appSuspended,
                .appForeground, .appQuit,
            ])
    }

    @Test func `UUIDs other than the kept ones were said on the screen, and go out at once`()
        async throws
    {
        let temporary = try TemporaryDirectory()
        let second = try await afterAnotherRun(in: temporary)
        let text = Self.profile.replacingAll("C007", by: "1001")
        try await second.emulator(
            [text], state: .background, directory: try StateDirectory(path: temporary.path)
        ).start()
        let air = try #require(second.log.all.first { $0.name == .advertisingStarted })
        #expect(air.string("scanResponse") == "14FF4C000100000000000000020000000000000000")
    }

    @Test func `a profile without advertising does not advertise, with any preserved state`() async throws {
        let temporary = try TemporaryDirectory()
        let second = try await afterAnotherRun(in: temporary)
        let text = Self.profile.replacingAll(
            "advertising: {localName: Fred, serviceUUIDs: [C007]}", by: "")
        try await second.emulator([text], directory: try StateDirectory(path: temporary.path)).start()
        #expect(second.log.names.contains(.appRestored))
        #expect(await second.radio.published.count == 1)
        #expect(await second.radio.advertisement == nil)
    }

    /// The profile was played, and what it left is there to be restored.
    private func afterAnotherRun(in temporary: TemporaryDirectory) async throws -> AppEmulationTests {
        let first = try emulator(directory: try StateDirectory(path: temporary.path))
        try await first.start()
        await first.stop()
        return AppEmulationTests()
    }

    @Test func `an app publishes again what the radio has lost, unless it is suspended`() async throws {
        let emulator = try emulator()
        try await emulator.start()
        await radio.simulate(.stateChanged(.resetting))
        try await until("no service is published") { await radio.published.isEmpty }
        await radio.simulate(.stateChanged(.poweredOn))
        try await until("a service is published") { await !(radio.published.isEmpty) }
        try await wait(for: .advertisingStarted, count: 2)
        await emulator.carryOut(.suspend)
        await radio.simulate(.stateChanged(.resetting))
        try await until("no service is published") { await radio.published.isEmpty }
        await radio.simulate(.stateChanged(.poweredOn))
        #expect(await radio.published.isEmpty)
        await emulator.carryOut(.enterForeground)
        try await until("a service is published") { await !(radio.published.isEmpty) }
        try await wait(for: .advertisingStarted, count: 3)
    }
}

extension String {
    fileprivate func replacingAll(_ old: String, by new: String) -> String {
        split(separator: old, omittingEmptySubsequences: false).joined(separator: new)
    }
}
