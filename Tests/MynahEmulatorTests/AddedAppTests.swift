import MynahCore
import MynahLifecycle
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import Mynah
@testable import MynahEmulator

/// Apps that join a phone while it plays, and leave it.
@Suite(.timeLimit(.minutes(15))) struct AddedAppTests {
    private let base = AppEmulationTests()

    private func device(_ name: String, _ service: String, state: Profile.App.StartState = .foreground) throws
        -> EmulatedDevice
    {
        var device = EmulatedDevice(
            try ProfileLoader.load(text: AppProfile.text(name, service), file: "test.yaml"), seed: 1)
        device.app?.startState = state
        return device
    }

    /// The answers to a read of each app's value, in the order of publication.
    private func values() async throws -> [PendingReply.Outcome?] {
        var outcomes: [PendingReply.Outcome?] = []
        for service in await base.radio.published.flatMap(\.services) {
            for characteristic in service.characteristics {
                outcomes.append(try await base.read(characteristic.key))
            }
        }
        return outcomes
    }

    private func state(_ emulator: Emulator, _ label: String) async -> AppState? {
        await emulator.snapshot(of: label)?.app
    }

    @Test func `an app that joins is published and in front, and what is left answers after a removal`()
        async throws
    {
        let emulator = try base.emulator()
        try await emulator.start()
        try await emulator.add(try device("Two", "1815"))
        #expect(await state(emulator, "Test") == .background)
        #expect(await state(emulator, "Two") == .foreground)
        #expect(try await values().last == .success(Array("Two".utf8)))
        try await emulator.remove("Test")
        #expect(await emulator.snapshot(of: "Test") == nil)
        try await until("its services are withdrawn") {
            await base.radio.published.flatMap(\.services).map(\.uuid) == ["1815"]
        }
        #expect(try await values() == [.success(Array("Two".utf8))])
        let name = try AttributeName(parsing: "2A39")
        _ = try await emulator.setValue(.bytes([9]), of: name, in: "Two")
        #expect(try await values() == [.success([9])])
        #expect(!base.log.names.contains(.error))
        await emulator.stop()
        #expect(await base.radio.published.isEmpty)
    }

    @Test func `apps join and leave in any order, and each keeps its own values`() async throws {
        let emulator = try base.emulator()
        try await emulator.start()
        try await emulator.add(try device("Two", "1815"))
        try await emulator.add(try device("Three", "1816"))
        try await emulator.remove("Two")
        try await emulator.add(try device("Four", "1817"))
        try await emulator.remove("Test")
        try await emulator.remove("Nobody")
        try await until("the services of both are withdrawn") {
            await base.radio.published.flatMap(\.services).map(\.uuid) == ["1816", "1817"]
        }
        #expect(try await values() == [.success(Array("Three".utf8)), .success(Array("Four".utf8))])
        let name = try AttributeName(parsing: "2A39")
        for (number, label) in ["Three", "Four"].enumerated() {
            _ = try await emulator.setValue(.bytes([UInt8(number)]), of: name, in: label)
        }
        #expect(try await values() == [.success([0]), .success([1])])
        await emulator.carryOut(.suspend, on: .named("Three"))
        #expect(await state(emulator, "Three") == .suspended)
        #expect(await state(emulator, "Four") == .foreground)
        try await emulator.reset()
        #expect(try await values() == [.success(Array("Three".utf8)), .success(Array("Four".utf8))])
        await emulator.stop()
    }

    @Test func `an app that is removed while its phone is reset is gone`() async throws {
        let emulator = try base.emulator()
        try await emulator.start()
        try await emulator.add(try device("Two", "1815"))
        async let reset: Void = emulator.reset()
        try await emulator.remove("Two")
        try await reset
        #expect(await state(emulator, "Two") == nil)
        #expect(await state(emulator, "Test") == .foreground)
        try await until("its services are withdrawn") {
            await !base.radio.published.flatMap(\.services).map(\.uuid).contains("1815")
        }
        await emulator.stop()
    }

    @Test func `the app of a removed label can join again`() async throws {
        let emulator = try base.emulator()
        try await emulator.start()
        try await emulator.add(try device("Two", "1815"))
        try await emulator.remove("Two")
        try await emulator.add(try device("Two", "1815"))
        #expect(await base.radio.published.flatMap(\.services).filter { $0.uuid == "1815" }.count == 1)
        #expect(try await values().last == .success(Array("Two".utf8)))
        await emulator.stop()
    }

    @Test(arguments: [
        (Profile.App.StartState.background, AppState.background), (.suspended, .suspended),
    ])
    func `an app that joins is left in the state that it starts in`(
        start: Profile.App.StartState, expected: AppState
    ) async throws {
        let emulator = try base.emulator()
        try await emulator.start()
        try await emulator.add(try device("Two", "1815", state: start))
        #expect(await state(emulator, "Two") == expected)
        await emulator.stop()
    }

    @Test func `an app whose publication fails has not joined`() async throws {
        let emulator = try base.emulator()
        try await emulator.start()
        await base.radio.fail(.publish, RadioError(.servicesRefused, "there is no room"))
        let device = try device("Two", "1815")
        await #expect(throws: RadioError.self) { try await emulator.add(device) }
        #expect(await emulator.snapshot(of: "Two") == nil)
        #expect(try await base.read(try await base.key("2A39")) == .success([0]))
        try await emulator.add(device)
        #expect(try await values().last == .success(Array("Two".utf8)))
        await emulator.stop()
    }

    @Test func `an app that the radio cannot play is refused, and has not joined`() async throws {
        let emulator = try base.emulator()
        try await emulator.start()
        let device = try device("Two", "1815")
        let asked = Lock<[String]>([])
        await #expect(throws: RadioError(.unsupported, "no")) {
            try await emulator.add(device) { capabilities throws(RadioError) in
                asked.withLock { $0.append(capabilities.name) }
                throw RadioError(.unsupported, "no")
            }
        }
        #expect(asked.withLock { $0 } == ["fake"])
        #expect(await emulator.labels == ["Test"])
        #expect(await base.radio.published.flatMap(\.services).allSatisfy { $0.uuid != "1815" })
        await emulator.stop()
    }

    @Test func `a phone forgets the apps that are removed`() async throws {
        let emulator = try base.emulator()
        try await emulator.start()
        for _ in 0..<3 {
            try await emulator.add(try device("Two", "1815"))
            #expect(await emulator.phone.appNames == ["Test", "Two"])
            try await emulator.remove("Two")
            #expect(await emulator.phone.appNames == ["Test"])
        }
        await base.radio.fail(.publish, RadioError(.servicesRefused, "there is no room"))
        let device = try device("Two", "1815")
        await #expect(throws: RadioError.self) { try await emulator.add(device) }
        #expect(await emulator.phone.appNames == ["Test"])
        await emulator.stop()
    }

    @Test func `no app leaves a phone that is starting`() async throws {
        let two = AppProfile.text("Two", "1815")
        let emulator = try base.emulator([AppEmulationTests.profile, two])
        await base.radio.holdStarting()
        async let start: Void = emulator.start()
        try await until("the radio starts") { await base.radio.heldCount == 1 }
        await #expect(throws: RadioError.self) { try await emulator.remove("Two") }
        await base.radio.release()
        try await start
        #expect(await emulator.labels == ["Test", "Two"])
        try await emulator.remove("Two")
        #expect(await emulator.labels == ["Test"])
        await emulator.stop()
    }

    @Test func `an app joins neither an accessory nor a phone that does not play`() async throws {
        let device = try device("Two", "1815")
        let phone = try base.emulator()
        await #expect(throws: RadioError.self) { try await phone.add(device) }
        let accessory = try EmulatorTests().emulator()
        try await accessory.start()
        await #expect(throws: RadioError.self) { try await accessory.add(device) }
        await accessory.stop()
    }
}

extension Phone {
    /// The names of the installed apps.
    fileprivate var appNames: [String] { memory.apps.map(\.description.name) }
}
