import Mynah
import MynahCore
import MynahEmulator
import MynahLifecycle
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

/// A test's requests to devices that apps play.
@Suite(.timeLimit(.minutes(15))) struct AppControlTests {
    let base = AppEmulationTests()
    var radio: FakeRadio { base.radio }

    func refusal(_ body: () async throws(ControlRefusal) -> Void) async -> ControlRefusal? {
        do throws(ControlRefusal) {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    func snapshot(_ emulator: Emulator, _ label: String = "Test") async throws -> DeviceSnapshot {
        try #require(await emulator.snapshot(of: label))
    }

    /// The local name on the air.
    func name(_ emulator: Emulator) async throws -> String? {
        let air = try await snapshot(emulator).advertising
        return AdvertisementData(air.data + air.scanResponse).localName
    }

    @Test func `an app's values can be set while it has a process, and sent while it runs`() async throws {
        let emulator = try base.emulator()
        try await emulator.start()
        let control = try AttributeName(parsing: "2A39")
        let level = try AttributeName(parsing: "2A19")
        await emulator.carryOut(.suspend)
        _ = try await emulator.setValue(.bytes([9]), of: control, in: "Test")
        #expect(try await base.read(try await base.key("2A39")) == .success([9]))
        await emulator.carryOut(.suspend)
        #expect(
            await refusal { () async throws(ControlRefusal) in
                _ = try await emulator.setValue(.bytes([1]), of: level, in: "Test", notify: true)
            } == .conflict("the app Test is not running: it is suspended"))
        await emulator.carryOut(.terminate)
        #expect(
            await refusal { () async throws(ControlRefusal) in
                _ = try await emulator.setValue(.bytes([1]), of: control, in: "Test")
            }
                == .conflict(
                    "the app Test is not running, it is terminated: its values exist only while it runs"))
        let terminated = try await snapshot(emulator)
        #expect(terminated.app == .terminated)
        // The system has the static value, and goes on advertising.
        #expect(terminated.attributes.map(\.value) == [nil, [1], nil, nil])
        #expect(terminated.advertising.isOn)
        #expect(
            terminated.json.text.contains(#""app":{"state":"terminated","authorization":"allowedAlways"}"#))
        await emulator.stop()
    }

    @Test func `a static value that was set outlives the app's process`() async throws {
        let emulator = try base.emulator()
        try await emulator.start()
        let name = try AttributeName(parsing: "2A38")
        _ = try await emulator.setValue(.bytes([2]), of: name, in: "Test")
        let key = try await base.key("2A38")
        await emulator.carryOut(.quit)
        try await until("the services are withdrawn") { await radio.published.isEmpty }
        await emulator.carryOut(.enterForeground)
        try await until("they are published again") { await !radio.published.isEmpty }
        #expect(await radio.values[key] == [2])
        #expect(try await emulator.value(of: name, in: "Test") == [2])
        try await emulator.reset(of: "Test")
        #expect(await radio.values[key] == [1])
        #expect(try await emulator.value(of: name, in: "Test") == [1])
        await emulator.stop()
    }

    @Test(arguments: [AppTransition.quit, .terminate, .suspend, .enterForeground, .enterBackground])
    func `a reset brings the app into the state that it starts in`(transition: AppTransition) async throws {
        let emulator = try base.emulator(state: .background)
        try await emulator.start()
        let start = try await snapshot(emulator)
        await emulator.carryOut(transition)
        _ = try? await emulator.setValue(.bytes([3]), of: try AttributeName(parsing: "2A39"), in: "Test")
        try await emulator.reset()
        let now = try await snapshot(emulator)
        #expect(now == start)
        #expect(await radio.advertisement != nil)
        #expect(!base.log.names.contains(.error))
        await emulator.stop()
    }

    @Test func `an app that has not run since its phone was restarted stays as it is`() async throws {
        let emulator = try base.emulator(isTerminated: true)
        try await emulator.start()
        let start = try await snapshot(emulator)
        #expect(start.app == .terminated)
        try await emulator.reset()
        #expect(try await snapshot(emulator) == start)
        await emulator.carryOut(.enterForeground)
        try await emulator.reset()
        #expect(try await snapshot(emulator).app == .terminated)
        await emulator.stop()
    }

    @Test func `values alone are reset only while the app has a process`() async throws {
        let emulator = try base.emulator()
        try await emulator.start()
        await emulator.carryOut(.terminate)
        #expect(
            await refusal { () async throws(ControlRefusal) in try await emulator.reset(.values) }
                == .conflict(
                    """
                    the app Test is not running, it is terminated: its values exist only while it runs; \
                    reset its state too
                    """))
        #expect(
            await refusal { () async throws(ControlRefusal) in try await emulator.reset(.advertising) }
                == .conflict(
                    "the app Test cannot advertise: it is terminated, not running"))
        try await emulator.reset([.values, .app])
        #expect(try await snapshot(emulator).app == .foreground)
        await emulator.stop()
    }

    @Test func `of the apps of one phone the same one is in front after a reset`() async throws {
        let texts = ["One", "Two"].map {
            """
            mynah: 1
            name: \($0)
            app: {backgroundModes: [bluetooth-peripheral]}
            advertising: {localName: \($0), serviceUUIDs: [180D]}

            """ + AppEmulationTests.services
        }
        let emulator = try base.emulator(texts)
        try await emulator.start()
        let start = [try await snapshot(emulator, "One"), try await snapshot(emulator, "Two")]
        #expect(start.map(\.app) == [.foreground, .background])
        await emulator.carryOut(.enterForeground, on: .named("Two"))
        await emulator.carryOut(.quit, on: .named("One"))
        try await emulator.reset()
        #expect([try await snapshot(emulator, "One"), try await snapshot(emulator, "Two")] == start)
        try await emulator.reset(of: "Two")
        #expect([try await snapshot(emulator, "One"), try await snapshot(emulator, "Two")] == start)
        await emulator.stop()
    }

    @Test func `events of an app reach its device after another app has left`() async throws {
        let texts = ["One", "Two", "Three"].map {
            """
            mynah: 1
            name: \($0)
            app: {backgroundModes: [bluetooth-peripheral]}
            advertising: {localName: \($0), serviceUUIDs: [180D]}

            """ + AppEmulationTests.services
        }
        let emulator = try base.emulator(texts)
        try await emulator.start()
        try await emulator.remove("One")
        for label in ["Two", "Three"] {
            await emulator.carryOut(.enterForeground, on: .named(label))
            #expect(try await snapshot(emulator, label).app == .foreground)
            let event = try #require(base.log.all.last { $0.name == .appForeground })
            #expect(event.string("device") == label)
            // Without a name it is for the app in front.
            await emulator.carryOut(.enterBackground, on: .lastInFront)
            #expect(try await snapshot(emulator, label).app == .background)
        }
        await emulator.stop()
    }

    @Test func `an app that does not run cannot change what it advertises`() async throws {
        let emulator = try base.emulator()
        try await emulator.start()
        _ = try await emulator.advertise(AdvertisingChange(localName: "Ned"), for: "Test")
        #expect(try await name(emulator) == "Ned")
        await emulator.carryOut(.suspend)
        #expect(
            await refusal { () async throws(ControlRefusal) in
                _ = try await emulator.advertise(AdvertisingChange(isOn: false), for: "Test")
            } == .conflict("the app Test cannot advertise: it is suspended, not running"))
        // Its user has the last word.
        await emulator.carryOut(.enterForeground)
        #expect(try await !emulator.advertise(AdvertisingChange(isOn: false), for: "Test").isOn)
        await emulator.carryOut(.startAdvertising)
        #expect(try await name(emulator) == "Ned")
        await emulator.stop()
    }
}
