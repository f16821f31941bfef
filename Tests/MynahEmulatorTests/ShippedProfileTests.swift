import MynahCore
import MynahEmulator
import MynahProfiles
import MynahTestSupport
import Testing

/// Each shipped profile, played from its first line to its last.
@Suite(.timeLimit(.minutes(15))) struct ShippedProfilePlayTests {
    /// Those that are no phone, whose radio this is not.
    static let names = ProfileTemplates.names.filter { !$0.hasPrefix("phone-") }

    let radio = FakeRadio()
    let clock = ManualClock()
    let log = EventLog()
    let peer = Peer(id: .init(7), address: DeviceAddress("AA:BB:CC:DD:EE:FF", kind: .random))

    private func play(_ name: String) async throws -> (Profile, Emulator) {
        let text = try #require(ProfileTemplates.text(named: name))
        let profile = try ProfileLoader.load(text: text, file: name)
        let log = log
        var device = EmulatedDevice(profile, seed: 1)
        // Off the screen an app would be suspended while a test looks at its values.
        device.app?.startState = .foreground
        let emulator = Emulator(
            [device], on: radio, clock: clock,
            wallTime: { WallTime(microseconds: 0) },
            observer: { log.append($0) })
        try await emulator.start()
        return (profile, emulator)
    }

    @Test(
        "it is published by the rules of every radio, advertised and ready", arguments: names
    )
    func isPublished(_ name: String) async throws {
        let (profile, emulator) = try await play(name)
        let services = await radio.published.flatMap(\.services)
        try DefinitionRules.check(services)
        #expect(services.map(\.uuid) == profile.services.map(\.uuid))
        #expect(await radio.identity == profile.device)
        let life: [DeviceEvent.Name] = profile.app == nil ? [] : [.appLaunched, .appForeground]
        #expect(log.names == life + [.stateChanged, .advertisingStarted, .ready])
        await emulator.stop()
        #expect(await !radio.isRunning)
    }

    @Test("each readable value is read, or refused as ordered", arguments: names)
    func isRead(_ name: String) async throws {
        let (profile, emulator) = try await play(name)
        await radio.simulate(.connected(peer))
        let published = await radio.published.flatMap(\.services).flatMap(\.characteristics)
        let declared = profile.services.flatMap(\.characteristics)
        var reads = 0
        for (characteristic, definition) in zip(declared, published)
        where characteristic.properties.contains(.read) {
            let request = ReadRequest(central: peer.id, attribute: definition.key)
            reads += 1
            // Static values are the radio's to answer.
            guard await radio.values[definition.key] == nil else { continue }
            let outcome = try #require(try await radio.request(.read(request)))
            switch (outcome, characteristic.readError) {
            case (.success(let value), nil): #expect(value.count <= characteristic.maximumLength)
            case (.failure(let error), let ordered?): #expect(error == ordered)
            default: Issue.record("\(definition.uuid) answered \(outcome)")
            }
        }
        #expect(reads > 0 || ["mcumgr", "nordic-dfu", "nordic-uart"].contains(name))
        await emulator.stop()
    }

    @Test("each value with every is sent to its subscriber", arguments: names)
    func isSent(_ name: String) async throws {
        let (profile, emulator) = try await play(name)
        await radio.simulate(.connected(peer))
        let published = await radio.published.flatMap(\.services).flatMap(\.characteristics)
        let declared = profile.services.flatMap(\.characteristics)
        for (characteristic, definition) in zip(declared, published) {
            // A glucose meter sends its records only when it is asked for them.
            guard let every = characteristic.every, characteristic.uuid != "2A18" else { continue }
            await radio.simulate(.subscribed(definition.key, peer.id, .notification))
            try await clock.waitForSleepers(1)
            let before = await radio.sent.count
            clock.advance(by: every)
            try await clock.waitForSleepers(1)
            #expect(await radio.sent.dropFirst(before).contains { $0.attribute == definition.key })
            await radio.simulate(.unsubscribed(definition.key, peer.id))
        }
        await emulator.stop()
    }
}
