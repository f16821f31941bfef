import Mynah
import MynahCore
import MynahLifecycle
import MynahTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct PermissionTests {
    @Test func `without permission an app does nothing, and with it everything`() async throws {
        let rig = try await AppRig(publishes: false, authorization: .notDetermined)
        #expect(rig.code.words.contains("authorization notDetermined"))
        #expect(await rig.app.authorization == .notDetermined)
        let manager = try #require(rig.code.manager)
        #expect(await manager.state == .unauthorized)
        let added = await #expect(throws: RadioError.self) { try await manager.add(rig.service) }
        #expect(added?.code == .invalidState)
        let advertised = await #expect(throws: RadioError.self) {
            try await manager.startAdvertising(Advertisement())
        }
        #expect(advertised?.code == .invalidState)
        await rig.app.setAuthorization(.allowedAlways)
        #expect(await manager.authorization == .allowedAlways)
        #expect(await manager.state == .poweredOn)
        try await rig.publish()
        #expect(await rig.air != nil)
        #expect(await rig.app.state == .foreground)
    }

    @Test func `an answer that nobody asked for changes nothing`() async throws {
        let phone = Phone(radio: FakeRadio(), identity: DeviceIdentity(name: "iPhone"))
        var description = AppDescription(name: "test")
        description.authorization = .notDetermined
        let app = await phone.makeApp(
            description, delegate: TestApp(restoreIdentifier: nil), clock: ManualClock())
        await app.setAuthorization(.allowedAlways)
        #expect(await app.authorization == .notDetermined)
    }

    @Test func `of an app that loses its permission nothing is served and nothing kept`() async throws {
        let rig = try await AppRig(restoreIdentifier: "main")
        await rig.app.suspend()
        rig.code.forget()
        await rig.app.setAuthorization(.denied)
        #expect(rig.code.words == ["authorization denied", "terminated system"])
        #expect(await rig.app.state == .terminated)
        try await until("nothing is published") { await rig.radio.published.isEmpty }
        try await until("nothing is advertised") { await rig.air == nil }
        _ = try await rig.read()
        #expect(await rig.app.state == .terminated)
        rig.code.forget()
        await rig.app.enterForeground()
        #expect(rig.code.words == ["launched", "state unauthorized", "foreground"])
        await rig.app.setAuthorization(.allowedAlways)
        #expect(await rig.app.state == .terminated)
        rig.code.forget()
        await rig.app.enterForeground()
        #expect(rig.code.words == ["launched", "state poweredOn", "foreground"])
    }

    /// A run of an app whose permission is not determined at its first launch.
    private func run(
        in temporary: TemporaryDirectory, _ body: (AppRig) async throws -> Void
    ) async throws {
        let directory = try StateDirectory(path: temporary.path)
        let rig = try await AppRig(
            restoreIdentifier: "main", directory: directory, publishes: false, authorization: .notDetermined)
        try await body(rig)
        await rig.phone.stop()
    }

    @Test func `a permission that its user changed is that of the next run`() async throws {
        let temporary = try TemporaryDirectory()
        for _ in 0..<2 {
            // A question that was not answered is asked again, and nothing is kept.
            try await run(in: temporary) { rig in
                #expect(rig.code.words.contains("authorization notDetermined"))
                #expect(!temporary.files.contains("permission+test.json"))
            }
        }
        try await run(in: temporary) { rig in
            await rig.app.setAuthorization(.allowedAlways)
            try await rig.publish()
        }
        try await run(in: temporary) { rig in
            #expect(!rig.code.words.contains { $0.hasPrefix("authorization") })
            #expect(rig.code.restored.first?.services.map(\.uuid) == ["1810"])
            #expect(await rig.app.authorization == .allowedAlways)
            await rig.app.setAuthorization(.denied)
        }
        try await run(in: temporary) { rig in
            #expect(rig.code.words == ["launched", "foreground", "state unauthorized"])
            #expect(await rig.app.authorization == .denied)
        }
    }

    @Test(arguments: [
        ("", "it is not JSON"), ("{}", "it has no version"), (#"{"mynahState": 2}"#, "version 2"),
        (#"{"mynahState": 1, "app": "B", "authorization": "denied"}"#, "it belongs to another app"),
        (#"{"mynahState": 1, "app": "test"}"#, "the authorization is missing"),
        (#"{"mynahState": 1, "app": "test", "authorization": "no"}"#, "not one of notDetermined, restricted"),
    ])
    func `a damaged file is set aside, and the app begins as its description says`(
        text: String, reason: String
    ) async throws {
        let temporary = try TemporaryDirectory()
        try temporary.write(text, to: "permission+test.json")
        try await run(in: temporary) { rig in
            #expect(await rig.app.authorization == .notDetermined)
            #expect(temporary.files.contains("permission+test.json.unusable-1"))
            let warnings = rig.sink.phoneEvents.compactMap { event in
                if case .warning(let warning) = event { warning } else { nil }
            }
            #expect(warnings.map(\.code) == ["permissionUnusable"])
            #expect(warnings.first?.message.contains(reason) == true, "\(warnings)")
        }
    }
}
